// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/counters.hpp: a pipeline whose part on a fleet counts by key, processes that work on it, and what is wrong with
// what comes of it.

#include <doctest/doctest.h>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <levada/fleet/deploy.hpp>
#include <levada/fleet/detail/by_key.hpp>
#include <levada/fleet/work.hpp>
#include <levada/levada.hpp>

#include "fleet/nats_server.hpp"
#include "fleet/worker_processes.hpp"

namespace levada::test {

struct frame {
  int camera = 0;
  int number = 0;
};
struct counted {
  int camera = 0, number = 0;
  std::int64_t count = 0, sum = 0;  ///< of the camera's, this one among them
};

/// Each camera has its own, which is written as text.
struct counter {
  static constexpr std::size_t most_state_bytes = 64;
  std::int64_t count = 0, sum = 0;

  counted operator()(const frame& f) {
    if (f.number < 0) ::kill(::getpid(), SIGKILL);
    if (f.number % 100 == 99) throw std::runtime_error("no " + std::to_string(f.number));
    if (f.number % 10 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    return {f.camera, f.number, ++count, sum += f.number};
  }
  void save(wire_writer& to) const {
    to.write(count);
    to.write(sum);
  }
  void load(wire_reader& from) {
    count = from.read<std::int64_t>();
    sum = from.read<std::int64_t>();
  }
};

using counter_box = target<cpu<2>, fleet<"counters", cpu<2>>>;
using counter_version = version<"1">;
inline constexpr int cameras = 40;

inline auto counters() {
  return input<frame> | on<fleet<"counters">, by<&frame::camera>, partitions<8, 100>>(stage<"count">(counter{}));
}
inline fleet_worker work_on_counters(const std::string& url) {
  return work<counter_box, "counters", counter_version>(counters(), jetstream{{url}});
}
inline const worker_program counting{"LEVADA_TEST_COUNTER_FOR", [](const std::string& url) {
                                       const fleet_worker works = work_on_counters(url);
                                       for (;;) ::pause();
                                     }};

inline frame frame_of(int i) { return {static_cast<int>((static_cast<unsigned>(i) * 2654435761u >> 7) % cameras), i}; }

/// Compares what comes with what one thread gives.
class expected_counts {
 public:
  /// For items in their order.
  template <class Popped>
  void add(const Popped& r) {
    const frame f = frame_of(came_++);
    auto& [count, sum] = states_[f.camera];
    if (f.number % 100 == 99) {
      wrong_ += r.has_value() ? 1 : 0;
      return;
    }
    ++count;
    sum += f.number;
    const bool is_right =
        r.has_value() && r->camera == f.camera && r->number == f.number && r->count == count && r->sum == sum;
    if (!is_right && wrong_++ == 0)
      MESSAGE("the first that is wrong: item " << f.number << " of camera " << f.camera << ", count "
                                               << (r.has_value() ? r->count : -1) << " and not " << count);
  }
  int came() const { return came_; }
  int wrong() const { return wrong_; }

 private:
  int came_ = 0, wrong_ = 0;
  std::unordered_map<int, std::pair<std::int64_t, std::int64_t>> states_;
};

/// Brings frames through, calls `meanwhile(came)` behind each. Seconds of the longest wait.
template <class Session, class Meanwhile>
double bring_frames(Session& session, expected_counts& came, int count, Meanwhile meanwhile) {
  const int first = came.came();
  std::thread pusher([&] {
    for (int i = 0; i < count; ++i) session.push(frame_of(first + i));
  });
  std::chrono::duration<double> longest{0};
  auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    const auto r = session.pop();
    REQUIRE(r);
    came.add(*r);
    const auto now = std::chrono::steady_clock::now();
    if (i > 0) longest = std::max<std::chrono::duration<double>>(longest, now - before);
    before = now;
    meanwhile(i);
  }
  pusher.join();
  return longest.count();
}

}  // namespace levada::test
