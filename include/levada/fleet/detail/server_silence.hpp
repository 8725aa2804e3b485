// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/server_silence.hpp: a server whose disk is full answers nothing, and says nothing, until there is room
// and it was started again: that its answers are missing is said once.

#include <chrono>
#include <string>
#include <utility>

#include <levada/core/detail/log.hpp>
#include <levada/fleet/detail/nats.hpp>

namespace levada::detail {

/// Of one lock.
class server_silence {
 public:
  /// A server has answered to what was published.
  void end() {
    since_ = clock::now();
    is_said_ = false;
  }
  /// Every tenth of a second or so. `is_waiting`: something is published and has no answer.
  void look(const nats_connection& by, bool is_waiting) noexcept {
    if (!is_waiting || !by.is_connected()) since_ = clock::now();
    if (clock::now() - since_ < longest || std::exchange(is_said_, true) || !is_logged()) return;
    log(log_level::warning, by.who() + ": no server has stored its items for " + std::to_string(longest.count()) +
                                " s: a disk is full, or too few servers are there");
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds longest{8};  ///< of three servers, one of which was killed, some take six

  clock::time_point since_ = clock::now();
  bool is_said_ = false;
};

}  // namespace levada::detail
