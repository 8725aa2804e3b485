// SPDX-License-Identifier: Apache-2.0
// A camera's ring of four buffers: each loan is given back exactly once, however its item ends.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/levada.hpp>

namespace run_foreign_buffers {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
using view = lv::image_view<lv::pixel::nv12, 4, 8>;
using frame = lv::image_buffer<lv::pixel::nv12, 4, 8>;
using picture = lv::tensor<std::uint8_t, 4, 8, 3>;

/// Four buffers of padded planes. A picture is one grey level all over: the number of its loan, from 16 on, below 216.
class ring {
 public:
  static constexpr std::size_t buffers = 4, y_pitch = 13, uv_pitch = 11;

  ring() = default;
  ring(const ring&) = delete;
  ~ring() {
    CHECK(free() == buffers);
    CHECK(broken_.load() == 0);
    CHECK(returned() == lent());
  }

  /// The next picture in a free buffer, or nothing.
  std::optional<frame> try_lend() {
    for (buffer& b : buffers_) {
      bool lent = false;
      if (!b.lent.compare_exchange_strong(lent, true)) continue;
      b.bytes.fill(0xee);  // padding that would show
      const std::size_t number = lent_.fetch_add(1);
      for (std::size_t y = 0; y < 4; ++y)
        for (std::size_t x = 0; x < 8; ++x) b.bytes[y * y_pitch + x] = level(number);
      for (std::size_t y = 0; y < 2; ++y)
        for (std::size_t x = 0; x < 8; ++x) b.bytes[4 * y_pitch + y * uv_pitch + x] = 128;
      return frame(view({b.bytes.data(), y_pitch}, {b.bytes.data() + 4 * y_pitch, uv_pitch}), &ring::take_back, this);
    }
    return std::nullopt;
  }

  /// Waits for a free buffer.
  frame lend() {
    for (;;) {
      const std::size_t seen = returned_.load();
      if (std::optional<frame> lent = try_lend()) return std::move(*lent);
      returned_.wait(seen);
    }
  }

  static std::uint8_t level(std::size_t number) { return static_cast<std::uint8_t>(16 + number % 200); }

  std::size_t lent() const { return lent_.load(); }
  std::size_t returned() const { return returned_.load(); }
  std::size_t free() const {
    std::size_t count = 0;
    for (const buffer& b : buffers_) count += b.lent.load() ? 0u : 1u;
    return count;
  }

 private:
  struct buffer {
    std::array<std::uint8_t, 4 * y_pitch + 2 * uv_pitch> bytes{};
    std::atomic<bool> lent{false};
  };

  static void take_back(void* self, const view& of) noexcept {
    ring& mine = *static_cast<ring*>(self);
    bool found = false;
    for (buffer& b : mine.buffers_)
      if (b.bytes.data() == of.plane(0).data) found = b.lent.exchange(false);
    if (!found) mine.broken_.fetch_add(1);
    mine.returned_.fetch_add(1);
    mine.returned_.notify_all();
  }

  std::array<buffer, buffers> buffers_;
  std::atomic<std::size_t> lent_{0}, returned_{0}, broken_{0};
};

/// The grey level that `to_rgb` makes of a picture.
int grey_of(std::uint8_t level) {
  return lv::rgb_of(lv::ycbcr_factors(lv::ycbcr_matrix::bt601, lv::ycbcr_range::limited), level, 128, 128)[0];
}

std::optional<frame> not_every_fifth(frame&& f) {
  if (f->row(0, 0)[0] % 5 == 0) return std::nullopt;
  return std::move(f);
}
frame fails_every_seventh(frame&& f) {
  if (f->row(0, 0)[0] % 7 == 0) throw std::runtime_error("torn picture");
  return std::move(f);
}
int level_of(const picture& p) {
  for (const std::uint8_t v : p)
    if (v != p[0]) throw std::logic_error("padding was read");
  return p[0];
}

/// Filters, fails, converts.
const auto watched = lv::input<frame> | lv::stage<"not every fifth">(&not_every_fifth) |
                     lv::stage<"fails">(&fails_every_seventh) | lv::image::to_rgb<> | lv::stage<"level">(&level_of);

/// What becomes of the picture of a level in `watched`.
enum class fate { delivered, filtered, failed };
fate fate_of(std::uint8_t level) {
  return level % 5 == 0 ? fate::filtered : level % 7 == 0 ? fate::failed : fate::delivered;
}

/// Checks results one after the other: those of the loans 0, 1, 2, ... without the filtered ones.
class expected_results {
 public:
  template <class Result>
  void check(const Result& r) {
    while (fate_of(ring::level(next_)) == fate::filtered) ++next_;
    const std::uint8_t level = ring::level(next_++);
    REQUIRE(r.has_value() == (fate_of(level) == fate::delivered));
    if (r.has_value()) CHECK(*r == grey_of(level));
  }

 private:
  std::size_t next_ = 0;
};

void check_account(const lv::item_counts& c) {
  CHECK(c.pushed == c.delivered + c.failed + c.filtered + c.dropped + c.cancelled + c.in_flight);
}

/// The frames of a ring as an input range of items that can only be moved from.
class camera {
 public:
  camera(ring& from, std::size_t count) : from_(&from), left_(count) {}

  struct iterator {
    using value_type = frame;
    using difference_type = std::ptrdiff_t;
    camera* of;
    frame operator*() const { return of->from_->lend(); }
    iterator& operator++() {
      --of->left_;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return of->left_ == 0; }
  };
  iterator begin() { return {this}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  ring* from_;
  std::size_t left_;
};

/// Blocks whoever comes until it is opened.
struct gate {
  std::atomic<bool> open{false};
  std::atomic<int> inside{0};

  void pass() {
    inside.fetch_add(1);
    inside.notify_all();
    open.wait(false);
  }
  void wait_for_somebody() { inside.wait(0); }
  void let_all_pass() {
    open.store(true);
    open.notify_all();
  }
};

TEST_CASE("inline calls give each buffer back, whether the picture is delivered, filtered or failed") {
  ring from;
  const auto app = lv::deploy<box>(watched);
  for (std::size_t i = 0; i < 200; ++i) {
    const std::uint8_t level = ring::level(i);
    frame f = from.lend();
    if (fate_of(level) == fate::failed) {
      CHECK_THROWS_AS(static_cast<void>(app(std::move(f))), std::runtime_error);
    } else {
      const std::optional<int> result = app(std::move(f));
      CHECK(result.has_value() == (fate_of(level) == fate::delivered));
      if (result) CHECK(*result == grey_of(level));
    }
    CHECK(from.free() == ring::buffers);
  }
}

TEST_CASE("a ring of four feeds a session from another thread") {
  ring from;
  const auto app = lv::deploy<box>(watched);
  auto session = app.open();
  std::thread pusher([&] {
    for (int i = 0; i < 2000; ++i) session.push(from.lend());
    session.close();
  });
  expected_results expected;
  while (auto r = session.pop()) expected.check(*r);
  pusher.join();
  CHECK(from.returned() == 2000);
  CHECK(session.counts().pushed == 2000);
  CHECK(session.counts().in_flight == 0);
  check_account(session.counts());
}

TEST_CASE("a ring of four feeds a stream") {
  ring from;
  const auto app = lv::deploy<box>(watched);
  camera frames(from, 2000);
  expected_results expected;
  auto results = app.stream(frames);
  for (auto& r : results) expected.check(r);
  CHECK(from.returned() == 2000);
  check_account(results.counts());
}

TEST_CASE("a stream moves its buffers out of a range of movable ones") {
  ring from;
  const auto app = lv::deploy<box>(lv::input<frame> | lv::image::to_rgb<> | lv::stage<"level">(&level_of));
  std::vector<frame> frames;
  for (std::size_t i = 0; i < ring::buffers; ++i) frames.push_back(from.lend());
  auto moved = std::ranges::subrange(std::move_iterator(frames.begin()), std::move_iterator(frames.end()));
  std::size_t i = 0;
  for (auto& r : app.stream(moved)) CHECK(r.value() == grey_of(ring::level(i++)));
  CHECK(i == ring::buffers);
  CHECK(from.free() == ring::buffers);
}

TEST_CASE("a buffer is back before the stage behind its last use begins") {
  ring from;
  auto app =
      lv::deploy<box>(lv::input<frame> | lv::image::to_rgb<> | lv::stage<"later">(lv::serial([&](const picture& p) {
                        static_cast<void>(level_of(p));
                        return from.free();
                      })));
  // An inline call that consumes nothing leaves its item where the caller has it.
  CHECK(app(from.lend()) == ring::buffers - 1);
  CHECK(from.free() == ring::buffers);
  auto session = app.open();
  for (int i = 0; i < 100; ++i) {
    session.push(from.lend());
    CHECK(session.pop()->value() == ring::buffers);
  }
}

TEST_CASE("a buffer that try_push refuses stays with the caller") {
  ring from;
  gate g;
  const auto app = lv::deploy<box, lv::slots<1>>(
      lv::input<frame> |
      lv::stage<"wait">(lv::parallel([&g](const frame& f) { return g.pass(), int{f->row(0, 0)[0]}; })));
  auto session = app.open();
  frame first = from.lend(), second = from.lend();
  CHECK(session.try_push(std::move(first)));
  CHECK(!first);
  CHECK(!session.try_push(std::move(second)));
  CHECK(second);
  g.let_all_pass();
  CHECK(session.pop()->value() == ring::level(0));
  second.give_back();
  CHECK(from.free() == ring::buffers);
}

TEST_CASE("cancel in mid-flight gives back what is worked on, what waits, and what is pushed too late") {
  ring from;
  gate g;
  const auto app = lv::deploy<box>(lv::input<frame> | lv::stage<"wait">(lv::parallel([&g](frame&& f) {
                                     g.pass();
                                     return std::move(f);
                                   })) |
                                   lv::split_here | lv::image::to_rgb<> | lv::stage<"level">(&level_of));
  for (int round = 0; round < 50; ++round) {
    auto session = app.open();
    g.open = false;
    g.inside = 0;
    for (std::size_t i = 0; i < ring::buffers; ++i) CHECK(session.try_push(from.lend()));
    g.wait_for_somebody();
    session.cancel();
    g.let_all_pass();
    session.drain();
    std::size_t popped = 0;
    while (session.pop()) ++popped;
    CHECK(from.free() == ring::buffers);
    const lv::item_counts c = session.counts();
    CHECK(c.pushed == ring::buffers);
    CHECK(c.delivered == popped);
    CHECK(c.in_flight == 0);
    check_account(c);

    frame late = from.lend();
    CHECK_THROWS_AS(session.push(std::move(late)), lv::cancelled);
    CHECK(!session.try_push(std::move(late)));
    CHECK(late);
  }
}

TEST_CASE("a session that ends with pictures in flight or unpopped gives them back") {
  ring from;
  const auto converting = lv::deploy<box>(watched);
  for (int round = 0; round < 100; ++round) {
    auto session = converting.open();
    for (std::size_t i = 0; i < ring::buffers; ++i) session.push(from.lend());
  }
  CHECK(from.free() == ring::buffers);

  // Results that are buffers themselves, and wait to be popped.
  const auto passing = lv::deploy<box>(lv::input<frame> | lv::stage<"fails">(&fails_every_seventh));
  for (int round = 0; round < 100; ++round) {
    auto session = passing.open();
    for (std::size_t i = 0; i < ring::buffers; ++i) session.push(from.lend());
    if (round % 2 == 0) session.drain();
  }
  CHECK(from.free() == ring::buffers);
}

TEST_CASE("a popped buffer is the popper's to give back") {
  ring from;
  const auto app = lv::deploy<box>(lv::input<frame> | lv::stage<"fails">(&fails_every_seventh));
  auto session = app.open();
  for (std::size_t i = 0; i < 40; ++i) {
    session.push(from.lend());
    auto r = session.pop();
    const bool delivered = ring::level(i) % 7 != 0;
    REQUIRE(r->has_value() == delivered);
    CHECK(from.free() == (delivered ? ring::buffers - 1 : ring::buffers));
  }
}

TEST_CASE("a stream that is left or stopped gives back what it holds") {
  ring from;
  const auto app = lv::deploy<box>(watched);
  for (std::size_t left_after = 1; left_after < 30; ++left_after) {
    camera frames(from, 1000);
    std::size_t seen = 0;
    for (auto& r : app.stream(frames)) {
      static_cast<void>(r);
      if (++seen == left_after) break;
    }
    CHECK(from.free() == ring::buffers);

    std::stop_source stop;
    camera more(from, 1000);
    seen = 0;
    for (auto& r : app.stream(more, stop.get_token())) {
      static_cast<void>(r);
      if (++seen == left_after) stop.request_stop();
    }
    CHECK(from.free() == ring::buffers);
  }
}

TEST_CASE("two sessions share a ring, one is cancelled, the other goes on") {
  ring from;
  const auto app = lv::deploy<box>(watched);
  auto kept = app.open(), given_up = app.open();
  std::thread pusher([&] {
    for (int i = 0; i < 500; ++i) {
      kept.push(from.lend());
      static_cast<void>(given_up.try_push(from.lend()));
      if (i == 250) given_up.cancel();
    }
    kept.close();
  });
  std::thread popper([&] {
    while (given_up.pop()) {
    }
  });
  while (kept.pop()) {
  }
  pusher.join();
  popper.join();
  CHECK(from.free() == ring::buffers);
  CHECK(kept.counts().pushed == 500);
  CHECK(kept.counts().cancelled == 0);
  check_account(kept.counts());
  check_account(given_up.counts());
}

}  // namespace run_foreign_buffers
