// SPDX-License-Identifier: Apache-2.0
// A ring of buffers between a thread that fills them and stages that read them: who gets a buffer back may write to it.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>

#include <levada/core/detail/foreign.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

namespace lv = levada;

namespace {

/// Values and a count, unprotected: only the loan itself keeps writer and readers apart.
struct buffer {
  std::array<long, 64> values{};
  std::atomic<bool> lent{false};
};
using loan = lv::foreign<buffer*>;

struct ring {
  std::array<buffer, 4> buffers{};
  std::atomic<long> returned{0};

  loan lend(long value) {
    for (;;) {
      const long seen = returned.load();
      for (buffer& b : buffers)
        if (!b.lent.exchange(true)) {
          b.values.fill(value);
          return loan(
              &b,
              [](void* self, buffer* const& back) noexcept {
                back->values.fill(-1);
                back->lent.store(false);
                static_cast<ring*>(self)->returned.fetch_add(1);
                static_cast<ring*>(self)->returned.notify_all();
              },
              this);
        }
      returned.wait(seen);
    }
  }
};

long sum_of(const loan& l) {
  long sum = 0;
  for (const long v : l.view()->values) sum += v;
  return sum;
}

}  // namespace

TEST_CASE("no race between who fills lent buffers, the stages that read them, and a session cancelled meanwhile") {
  ring from;
  const auto app = lv::deploy<lv::target<lv::cpu<4>>, lv::run_by<lv::thread_executor>>(
      lv::input<loan> | lv::stage<"keep most">([](loan&& l) -> std::optional<loan> {
        if (l.view()->values[0] % 5 == 0) return std::nullopt;
        return std::move(l);
      }) |
      lv::split_here | lv::stage<"sum">(&sum_of));
  constexpr long items = 5000;
  auto session = app.open(), other = app.open();
  std::thread filler([&] {
    for (long i = 0; i < items; ++i) {
      session.push(from.lend(i));
      static_cast<void>(other.try_push(from.lend(i)));
      if (i == items / 2) other.cancel();
    }
    session.close();
  });
  std::thread others([&] {
    while (other.pop()) {
    }
  });
  long expected = 0, popped = 0;
  while (auto r = session.pop()) {
    while (expected % 5 == 0) ++expected;
    CHECK(r->value() == 64 * expected++);
    ++popped;
  }
  filler.join();
  others.join();
  CHECK(popped == items - items / 5);
  CHECK(from.returned.load() == 2 * items);
}
