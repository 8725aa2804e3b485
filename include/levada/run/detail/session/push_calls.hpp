// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/push_calls.hpp: the ways to give an item to a handle of a session.

#include <concepts>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/session/push_result.hpp>

namespace levada::detail {

/// Neither an item nor something that becomes one.
template <class Given, class Item>
concept no_item_of =
    !std::same_as<Given, Item> && !std::convertible_to<const Given&, Item> && !std::convertible_to<Given&&, Item>;

/// Items are moved or copied in, as into a session. `Owner` has `push_given(item, captured)` and `try_push_given`,
/// which get them as they were given.
template <class Owner, class Item>
class push_calls {
 public:
  /// Gives an item, and says whether it was taken; where not, it is as it was.
  push_result push(Item&& given, std::chrono::steady_clock::time_point captured = {}) {
    return owner().push_given(std::move(given), captured);
  }
  push_result push(const Item& given, std::chrono::steady_clock::time_point captured = {})
    requires std::copy_constructible<Item>
  {
    return owner().push_given(given, captured);
  }
  /// The same, without waiting.
  [[nodiscard]] push_result try_push(Item&& given, std::chrono::steady_clock::time_point captured = {}) {
    return owner().try_push_given(std::move(given), captured);
  }
  [[nodiscard]] push_result try_push(const Item& given, std::chrono::steady_clock::time_point captured = {})
    requires std::copy_constructible<Item>
  {
    return owner().try_push_given(given, captured);
  }

  template <no_item_of<Item> Given>
  mistake_found<pipeline_takes_another_item<wants_item<Item>, gives<Given>>> push(
      const Given& given, std::chrono::steady_clock::time_point captured = {});
  mistake_found<item_cannot_be_copied_move_it_in<Item>> push(const Item& given,
                                                             std::chrono::steady_clock::time_point captured = {})
    requires(!std::copy_constructible<Item>);
  /// Deduced and never defined: what it gives is asked for a bool.
  template <no_item_of<Item> Given, class Mistake = pipeline_takes_another_item<wants_item<Item>, gives<Given>>>
  auto try_push(const Given& given, std::chrono::steady_clock::time_point captured = {});
  template <class Mistake = item_cannot_be_copied_move_it_in<Item>>
  auto try_push(const Item& given, std::chrono::steady_clock::time_point captured = {})
    requires(!std::copy_constructible<Item>);

 private:
  Owner& owner() { return static_cast<Owner&>(*this); }
};

}  // namespace levada::detail
