// SPDX-License-Identifier: Apache-2.0
// A pipeline in an event loop: one thread owns epoll. A timer says when the next measurement is there, the session's
// descriptor when a result waits; the loop sleeps in between, and no stage runs on it.

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <system_error>

#include <levada/levada.hpp>
#include <levada/run/event_session.hpp>

namespace lv = levada;

namespace {

int checked(int descriptor_or_status) {
  if (descriptor_or_status < 0) throw std::system_error(errno, std::generic_category());
  return descriptor_or_status;
}

/// A descriptor of ours, closed at the end.
struct owned_file {
  explicit owned_file(int opened) : descriptor(checked(opened)) {}
  ~owned_file() { ::close(descriptor); }
  owned_file(const owned_file&) = delete;
  const int descriptor;
};

void watch(const owned_file& loop, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  checked(::epoll_ctl(loop.descriptor, EPOLL_CTL_ADD, descriptor, &event));
}

/// A running mean of what reaches it. A measurement that was lost makes the next ones count for more.
struct smoothed {
  double mean = 0, weight = 0.1;
  double operator()(const double& v) {
    mean += weight * (v - mean);
    weight = 0.1;
    return mean;
  }
  void missed(lv::missing) noexcept { weight = 0.2; }
};

}  // namespace

int main() {
  constexpr int measurements = 200;
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"measure">([](const int& t) {
                                                  if (t % 50 == 17) throw std::runtime_error("no signal");
                                                  return std::sin(0.05 * t);
                                                }) |
                                                lv::stage<"smooth">(smoothed{}));
  lv::event_session session(app.open<lv::dedicated>());

  const owned_file loop(::epoll_create1(EPOLL_CLOEXEC));
  const owned_file timer(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  const itimerspec every_millisecond{{0, 1'000'000}, {0, 1'000'000}};
  checked(::timerfd_settime(timer.descriptor, 0, &every_millisecond, nullptr));
  watch(loop, timer.descriptor);
  watch(loop, session.descriptor());

  int pushed = 0, values = 0, failures = 0, wake_ups = 0;
  double last = 0;
  while (!session.is_over()) {
    epoll_event ready[2];
    const int count = ::epoll_wait(loop.descriptor, ready, 2, -1);
    if (count < 0 && errno == EINTR) continue;
    checked(count);
    ++wake_ups;
    for (int i = 0; i < count; ++i) {
      if (ready[i].data.fd == timer.descriptor) {
        std::uint64_t ticks = 0;
        if (::read(timer.descriptor, &ticks, sizeof ticks) != sizeof ticks) continue;
        // As many as are due and fit in; the rest comes with the next tick.
        for (; ticks != 0 && pushed < measurements && session.try_push(pushed); --ticks) ++pushed;
        if (pushed == measurements) {
          session.close();
          checked(::epoll_ctl(loop.descriptor, EPOLL_CTL_DEL, timer.descriptor, nullptr));
        }
      } else {
        while (auto r = session.try_pop()) {
          if (*r) {
            last = **r;
            ++values;
          } else {
            try {
              r->value();
            } catch (const std::exception& e) {
              ++failures;
              std::printf("a measurement failed: %s\n", e.what());
            }
          }
        }
      }
    }
  }
  std::printf("%d values and %d failures in %d wake-ups of the loop; the last mean is %.3f\n", values, failures,
              wake_ups, last);
  return values == measurements - 4 && failures == 4 ? 0 : 1;
}
