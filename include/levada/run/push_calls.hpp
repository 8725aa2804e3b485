// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/push_calls.hpp: the ways to give an item to what has a session behind it.

#include <chrono>
#include <concepts>
#include <utility>

namespace levada::detail {

/// Items are moved or copied in, as into a session. `Owner` has `push_given(item, captured)` and `try_push_given`, which get them
/// as they were given.
template <class Owner, class Item>
class push_calls {
 public:
  /// Gives an item, and says whether it was taken.
  bool push(Item&& given, std::chrono::steady_clock::time_point captured = {}) {
    return owner().push_given(std::move(given), captured);
  }
  bool push(const Item& given, std::chrono::steady_clock::time_point captured = {})
    requires std::copy_constructible<Item>
  {
    return owner().push_given(given, captured);
  }
  /// The same, without waiting.
  bool try_push(Item&& given, std::chrono::steady_clock::time_point captured = {}) {
    return owner().try_push_given(std::move(given), captured);
  }
  bool try_push(const Item& given, std::chrono::steady_clock::time_point captured = {})
    requires std::copy_constructible<Item>
  {
    return owner().try_push_given(given, captured);
  }

 private:
  Owner& owner() { return static_cast<Owner&>(*this); }
};

}  // namespace levada::detail
