// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/batch.hpp: N items as one, and the items of a batch one by one.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <levada/core/detail/batch_tensor.hpp>
#include <levada/core/detail/exchange.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/buffer_capacity.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/graph/detail/rate.hpp>
#include <levada/graph/detail/said_once.hpp>

namespace levada {
namespace detail {

template <auto... Options>
consteval partial partial_in() {
  partial at_end = partial::pad;
  (
      [&](auto option) {
        if constexpr (std::same_as<decltype(option), partial>) at_end = option;
      }(Options),
      ...);
  return at_end;
}
template <auto... Options>
consteval duration timeout_in() {
  duration after{};
  (
      [&](auto option) {
        if constexpr (std::same_as<decltype(option), timeout_option>) after = option.after;
      }(Options),
      ...);
  return after;
}

template <class... Options>
consteval auto wrong_batch_option() {
  constexpr bool wrong[] = {!(std::same_as<Options, partial> || std::same_as<Options, timeout_option>)..., false};
  if constexpr (constexpr std::size_t at = first_true(wrong); at < sizeof...(Options))
    return rate_has_no_such_option<"batch", type_at<type_list<Options...>, at>>{};
  else
    return repeated_option([]<class Option, class>() { return rate_takes_each_option_once<"batch", Option>{}; },
                           type_list<Options...>{});
}

template <class Batch>
struct item_of_batch {};
template <class T, std::size_t N>
struct item_of_batch<std::array<T, N>> : type_tag<T> {
  static constexpr std::size_t size = N;
};
template <class T, std::size_t N, std::size_t... Dims>
struct item_of_batch<tensor<T, N, Dims...>> : type_tag<tensor<T, Dims...>> {
  static constexpr std::size_t size = N;
};
template <class Item, std::size_t N>
struct item_of_batch<batch_tensor<Item, N>> : type_tag<Item> {
  static constexpr std::size_t size = N;
};

/// The `i`-th item in a batch: it lies there as it would by itself, apart from the padding of a tensor's end.
template <class Item>
inline constexpr std::size_t bytes_in_batch = sizeof(Item);
template <class T, std::size_t... Dims>
inline constexpr std::size_t bytes_in_batch<tensor<T, Dims...>> = sizeof(T) * tensor<T, Dims...>::elements;

template <class Item>
void put_into_batch(void* batch, std::size_t i, Item& item) {
  void* const at = static_cast<std::byte*>(batch) + i * bytes_in_batch<Item>;
  if constexpr (any_tensor<Item>)
    std::memcpy(at, item.data(), bytes_in_batch<Item>);
  else
    ::new (at) Item(std::move(item));
}

template <std::size_t N, partial AtEnd, duration Timeout>
struct batch_rate {
  static constexpr fixed_string name = "batch";
  static constexpr duration timeout = Timeout;
  template <class In>
    requires(AtEnd == partial::drop || any_tensor<In> || std::is_default_constructible_v<In>)
  using output = typename batch_of<In, N>::type;
  template <class In>
  static constexpr rate_ratio ratio{N, 1};
  template <class In>
  static constexpr rate_rule rule{rate_rule::groups, N, 1, 1, AtEnd == partial::pad};

  template <class In>
  class state {
   public:
    explicit state(const batch_rate&) {}
    rate_step step(In& item, std::uint32_t, void* out) {
      put_into_batch(out, count_, item);
      if (++count_ < N) return {true, false};
      count_ = 0;
      return {true, true};
    }
    rate_step end(void* out) {
      if (count_ == 0) return {};
      const std::size_t count = detail::exchange_value(count_, 0);
      if constexpr (AtEnd == partial::pad) {
        std::size_t there = count;
        try {
          for (; there < N; ++there) {
            In none{};
            put_into_batch(out, there, none);
          }
        } catch (...) {
          destroy(out, there);
          throw;
        }
        return {false, true, static_cast<std::uint32_t>(count)};
      } else {
        destroy(out, count);
        return {};
      }
    }
    /// Items that it has and that were not given.
    std::size_t waiting() const { return count_; }
    void abandon(void* out) { destroy(out, detail::exchange_value(count_, 0)); }

   private:
    static void destroy(void* out, std::size_t count) {
      if constexpr (!std::is_trivially_destructible_v<In>) std::destroy_n(static_cast<In*>(out), count);
    }
    std::size_t count_ = 0;
  };
};

struct unbatch_rate {
  static constexpr fixed_string name = "unbatch";
  template <class In>
  using output = typename item_of_batch<In>::type;
  template <class In>
  static constexpr rate_ratio ratio{1, item_of_batch<In>::size};

  template <class In>
  class state : public position_in_items {
   public:
    explicit state(const unbatch_rate&) {}
    rate_step step(In& batch, std::uint32_t parts, void* out) {
      using item = output<In>;
      const std::size_t count = parts != 0 ? parts : item_of_batch<In>::size;
      const std::size_t at = detail::exchange_value(at_, 0);  // where the move throws, the next batch begins
      if constexpr (any_tensor<item>)
        std::memcpy((::new (out) item)->data(), batch.data() + at * item::elements, bytes_in_batch<item>);
      else
        ::new (out) item(std::move(batch[at]));
      if (at + 1 == count) return {true, true};
      at_ = at + 1;
      return {false, true};
    }
  };
};

}  // namespace detail

/// N items as one, with a new first axis: `tensor<T, Dims...>` becomes `tensor<T, N, Dims...>`, a `batch_tensor`, of
/// which ops compute each item; any other `T` becomes an `array<T, N>`.
/// `batch<8, partial::drop>`; `batch<8, timeout<20_ms>>` for live sources.
template <std::size_t N, auto... Options>
inline constexpr rate_part<detail::counting_rate<
    detail::batch_rate<N, detail::partial_in<Options...>(), detail::timeout_in<Options...>()>, "batch", N>>
    batch{};
template <std::size_t N, auto... Options>
  requires(decltype(detail::wrong_batch_option<std::remove_const_t<decltype(Options)>...>())::is_mistake)
inline constexpr rate_part<
    detail::wrong_rate<"batch", decltype(detail::wrong_batch_option<std::remove_const_t<decltype(Options)>...>())>>
    batch<N, Options...>{};

/// The items of a batch one by one, those that pad it left out.
inline constexpr rate_part<detail::unbatch_rate> unbatch{};

}  // namespace levada
