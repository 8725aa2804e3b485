// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/failure_calls.hpp: a function that hears of each item that fails.

#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/mistake.hpp>

namespace levada::detail {

/// Called as `f(sequence, why)`, and throws nothing.
template <class F>
concept hears_of_failures = std::is_nothrow_invocable_v<F&, std::uint64_t, const std::exception_ptr&>;

/// `Owner` has `listen(f)`.
template <class Owner>
class failure_calls {
 public:
  /// `f(sequence, exception)` is called for each item that fails, on the thread where it failed and before its result
  /// can be popped; at once for two items that fail in a parallel stage, or in two pipelines of a hot swap. To be said
  /// before the first push; throws levada::error behind it.
  template <hears_of_failures F>
  void on_error(F f) {
    static_cast<Owner&>(*this).listen(std::move(f));
  }
  template <class F, class Mistake = on_error_takes_a_noexcept_function_of_a_sequence_number_and_an_exception<F>>
    requires(!hears_of_failures<F>)
  auto on_error(F f);
};

}  // namespace levada::detail
