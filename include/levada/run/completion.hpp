// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/completion.hpp: who is told what becomes of one item, in the sessions of run/completed_session.hpp.

#include <exception>

#include <levada/core/error.hpp>
#include <levada/graph/missing.hpp>

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

/// What waits for one item.
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

/// What an item that gave no result is completed with.
inline std::exception_ptr why_missing(missing as) {
  if (as == missing::cancelled)
    return std::make_exception_ptr(cancelled("levada: the item was given up, its session is closed or cancelled"));
  return std::make_exception_ptr(no_result(as));
}

}  // namespace detail
}  // namespace levada
