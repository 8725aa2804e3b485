// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/downsample.hpp: the first of every N items, and every item N times.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <levada/core/detail/exchange.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/graph/detail/buffer_capacity.hpp>
#include <levada/graph/detail/rate.hpp>

namespace levada {
namespace detail {

template <std::size_t N>
struct downsample_rate {
  static constexpr fixed_string name = "downsample";
  template <class In>
  using output = In;
  template <class In>
  static constexpr rate_ratio ratio{N, 1};
  template <class In>
  static constexpr rate_rule rule{rate_rule::firsts, N};
  template <class In>
  class state : public position_in_items {
   public:
    explicit state(const downsample_rate&) {}
    rate_step step(In& item, std::uint32_t parts, void* out) {
      const bool gives = at_ == 0;
      at_ = (at_ + 1) % N;
      if (gives) ::new (out) In(std::move(item));
      return {true, gives, parts};
    }
    rate_step end(void*) {
      at_ = 0;
      return {};
    }
  };
};

template <std::size_t N>
struct repeat_rate {
  static constexpr fixed_string name = "repeat";
  template <class In>
    requires std::copy_constructible<In>
  using output = In;
  template <class In>
  static constexpr rate_ratio ratio{1, N};
  template <class In>
  class state : public position_in_items {
   public:
    explicit state(const repeat_rate&) {}
    rate_step step(In& item, std::uint32_t parts, void* out) {
      const std::size_t at = detail::exchange_value(at_, 0);  // where the copy throws, the next item begins
      const bool last = at + 1 == N;
      if (last)
        ::new (out) In(std::move(item));
      else
        ::new (out) In(std::as_const(item));
      if (!last) at_ = at + 1;
      return {last, true, parts};
    }
  };
};

}  // namespace detail

/// The first of every N items.
template <std::size_t N>
inline constexpr rate_part<detail::counting_rate<detail::downsample_rate<N>, "downsample", N>> downsample{};

/// Every item N times.
template <std::size_t N>
inline constexpr rate_part<detail::counting_rate<detail::repeat_rate<N>, "repeat", N>> repeat{};

}  // namespace levada
