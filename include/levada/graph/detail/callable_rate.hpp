// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/callable_rate.hpp: a callable that makes N items of M: `rate<"name", M, N, Out>(f)`.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/rate.hpp>

namespace levada {
namespace detail {

struct unknown_item;  // what flows behind a mistake, with which no callable is tried

template <fixed_string Name, std::size_t M, std::size_t N, class Out, class F>
struct callable_rate {
  static constexpr fixed_string name = Name;
  template <class In>
    requires(!std::same_as<In, unknown_item> && std::is_default_constructible_v<In> && std::is_move_assignable_v<In> &&
             std::is_invocable_v<F&, std::span<const In, M>, std::span<Out, N>>)
  using output = Out;
  template <class In>
  static constexpr rate_ratio ratio{M, N};

  F callable;

  template <class In>
  class state {
   public:
    explicit state(const callable_rate& of) : callable_(of.callable), room_(std::make_shared<rooms>()) {}
    state(const state& other) : callable_(other.callable_), room_(std::make_shared<rooms>()) {}

    rate_step step(In& item, std::uint32_t, void* out) {
      if (given_ == N) {
        room_->taken[count_] = std::move(item);
        if (++count_ < M) return {true, false};
        count_ = 0;
        callable_(std::span<const In, M>(room_->taken), std::span<Out, N>(room_->given));
        given_ = 0;
      }
      ::new (out) Out(std::move(room_->given[given_++]));
      return {given_ == N, true};
    }
    rate_step end(void*) {
      count_ = 0;
      given_ = N;
      return {};
    }
    std::size_t waiting() const { return count_; }
    void abandon(void*) { end(nullptr); }

   private:
    struct rooms {
      rooms() noexcept(false) {}  // defaulted, it would be taken for one that throws nothing
      std::array<In, M> taken{};
      std::array<Out, N> given{};
    };
    F callable_;
    std::shared_ptr<rooms> room_;  // large items have no place on the stack on which a state is made
    std::size_t count_ = 0, given_ = N;
  };
};

}  // namespace detail

/// `void f(std::span<const In, M>, std::span<Out, N>)`: N items of M. Fewer than M at the end are dropped and counted.
/// Each session has a copy of `f`.
template <fixed_string Name, std::size_t M, std::size_t N, class Out, class F>
constexpr auto rate(F f) {
  if constexpr (M == 0 || N == 0)
    return rate_part<detail::wrong_rate<Name, rate_takes_and_gives_one_item_or_more<Name, M, N>>>{};
  else if constexpr (!std::is_default_constructible_v<Out>)
    return rate_part<detail::wrong_rate<Name, what_a_rate_gives_has_no_default_constructor<Name, Out>>>{};
  else if constexpr (!std::is_copy_constructible_v<F>)
    return rate_part<detail::wrong_rate<Name, callable_of_a_rate_cannot_be_copied<Name, F>>>{};
  else
    return rate_part<detail::callable_rate<Name, M, N, Out, F>>{{std::move(f)}};
}

}  // namespace levada
