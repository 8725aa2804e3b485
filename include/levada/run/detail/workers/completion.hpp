// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/completion.hpp: the listener to the outcome of one item, in the sessions of
// run/detail/session/result_dispatcher.hpp.

#include <exception>

#include <levada/core/error.hpp>
#include <levada/graph/detail/missing.hpp>

namespace levada {

/// The item has no result, and nothing went wrong: it was filtered, or dropped by the session's policy.
class no_result : public error {
 public:
  explicit no_result(missing reason)
      : error(reason == missing::filtered ? "levada: the item was filtered" : "levada: the item was dropped"),
        why(reason) {}
  missing why;
};

namespace detail {

/// A waiter for the outcome of one item.
class completion {
 public:
  /// `value` is the item's result, to be moved from during the call; or null, and `why` says why there is none.
  virtual void take(void* value, const std::exception_ptr& why) noexcept = 0;
  /// The item's slot is free: the last call.
  virtual void done() noexcept = 0;

  completion* next = nullptr;  ///< in a list of some

 protected:
  ~completion() = default;
};

/// What items that gave no result are completed with: made once, since where one is missing there may be no memory left
/// to say so.
struct missing_reasons {
  std::exception_ptr filtered = std::make_exception_ptr(no_result(missing::filtered));
  std::exception_ptr dropped = std::make_exception_ptr(no_result(missing::dropped));
  std::exception_ptr cancelled =
      std::make_exception_ptr(levada::cancelled("levada: the item was given up, its session is closed or cancelled"));
};
/// The first call may throw. To the end of the process: a thread may have one of them still.
inline const missing_reasons& make_missing_reasons() {
  static const missing_reasons& reasons = *new missing_reasons;
  return reasons;
}
/// Behind the first.
inline const std::exception_ptr& why_missing(missing as) noexcept {
  const missing_reasons& all = make_missing_reasons();
  return as == missing::cancelled ? all.cancelled : as == missing::filtered ? all.filtered : all.dropped;
}

}  // namespace detail
}  // namespace levada
