// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/stop_watch.hpp: a call when a stop is requested, of one token after the other.

#include <new>
#include <stop_token>
#include <utility>

namespace levada::detail {

/// `std::optional` of a callback would do the same, and costs every program some 80 instantiations.
template <class Callback>
class stop_watch {
  using registration = std::stop_callback<Callback>;

 public:
  stop_watch() {}
  stop_watch(const stop_watch&) = delete;
  stop_watch& operator=(const stop_watch&) = delete;
  ~stop_watch() { end(); }

  /// None has begun.
  void begin(std::stop_token token, Callback callback) {
    ::new (static_cast<void*>(&registration_)) registration(std::move(token), std::move(callback));
    has_begun_ = true;
  }
  /// Returns when no call is under way.
  void end() {
    if (has_begun_) registration_.~registration();
    has_begun_ = false;
  }

 private:
  union {
    registration registration_;
  };
  bool has_begun_ = false;
};

}  // namespace levada::detail
