// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/wide_items.hpp: items that are aligned more strictly than plain `operator new` and a coroutine's frame are.

#include <cstdint>
#include <memory>
#include <utility>

#include <levada/core/tensor.hpp>

#include "items.hpp"

namespace levada::test {

using wide_tensor = tensor<float, 64>;
static_assert(alignof(wide_tensor) > __STDCPP_DEFAULT_NEW_ALIGNMENT__);

/// Whether it lies as its type wants it to, asked so that no compiler answers it from the type.
template <class T>
bool lies_aligned(const T& t) {
  const volatile std::uintptr_t at = reinterpret_cast<std::uintptr_t>(std::addressof(t));
  return at % alignof(T) == 0;
}

/// A move-only item that notices where it should not lie, too.
struct alignas(256) wide {
  explicit wide(int v) : held(v) { notice(); }
  wide(wide&& other) noexcept : held(std::move(other.held)) { notice(); }
  wide& operator=(wide&&) = delete;
  int value() const {
    notice();
    return held.checked();
  }

  tracked<0> held;

 private:
  void notice() const {
    if (!lies_aligned(*this)) life::broken.fetch_add(1);
  }
};

}  // namespace levada::test
