// SPDX-License-Identifier: Apache-2.0
// Items as senders, with receivers written by hand.

#include <atomic>
#include <chrono>
#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/run/async_session.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

#include "completing.hpp"
#include "failing.hpp"
#include "wide_items.hpp"

namespace run_sender {

namespace lv = levada;
using namespace lv::literals;

using box = lv::target<lv::cpu<2>>;

/// In place of a library.
struct execution {
  struct sender_concept {};
  struct operation_state_concept {};
  template <class... Value>
  struct completions {};
};

/// What became of an item; read when `is_done`.
struct outcome {
  std::atomic<bool> is_done{false};
  std::string what;

  void set(std::string text) {
    what = std::move(text);
    is_done = true;
    is_done.notify_all();
  }
  const std::string& wait() {
    is_done.wait(false);
    return what;
  }
};

/// Writes it down, and then gives up what keeps the operation.
struct receiver {
  outcome* to;
  std::shared_ptr<void>* keeps = nullptr;

  void set_value() && noexcept { end("nothing"); }
  void set_value(int&& value) && noexcept { end(std::to_string(value)); }
  void set_value(lv::test::wide&& value) && noexcept {
    const lv::test::wide taken = std::move(value);
    end(std::to_string(taken.value()));
  }
  void set_error(std::exception_ptr why) && noexcept {
    try {
      std::rethrow_exception(why);
    } catch (const std::exception& e) {
      end(e.what());
    }
  }
  void set_stopped() && noexcept { end("stopped"); }

 private:
  void end(std::string text) {
    outcome& told = *to;
    if (keeps != nullptr) keeps->reset();
    told.set(std::move(text));
  }
};

template <class Sender>
using operation = decltype(std::declval<Sender>().connect(receiver{}));

const auto work = lv::input<int> | lv::stage<"odd">([](const int& v) -> std::optional<int> {
                    if (v % 5 == 4) return std::nullopt;
                    return v + 1;
                  }) |
                  lv::stage<"not 3">([](const int& v) {
                    if (v == 3) throw std::runtime_error("it is 3");
                    return v;
                  });

TEST_CASE("a sender completes with the result, the error of its stage, no_result, or as stopped") {
  const auto app = lv::deploy<box, lv::slots<4>>(work);
  lv::async_session session(app.open(), execution{});
  using sender = decltype(session)::pushed;
  static_assert(std::same_as<sender::sender_concept, execution::sender_concept>);
  static_assert(std::same_as<sender::completion_signatures, execution::completions<int&&>>);
  static_assert(std::same_as<operation<sender>::operation_state_concept, execution::operation_state_concept>);

  constexpr int count = 100;  // more than fit in: some wait for room
  std::vector<outcome> outcomes(count);
  std::vector<std::unique_ptr<operation<sender>>> operations;
  for (int i = 0; i < count; ++i) {
    auto sent = session.push_async(i);
    operations.emplace_back(
        new operation<sender>(std::move(sent).connect(receiver{&outcomes[static_cast<std::size_t>(i)]})));
  }
  for (auto& o : operations) o->start();
  for (int i = 0; i < count; ++i)
    CHECK(outcomes[static_cast<std::size_t>(i)].wait() == (i % 5 == 4 ? "levada: the item was filtered"
                                                           : i == 2   ? "it is 3"
                                                                      : std::to_string(i + 1)));
  session.close();
  outcome late;
  auto refused = session.push_async(0).connect(receiver{&late});
  refused.start();
  CHECK(late.wait() == "stopped");
}

TEST_CASE("a receiver may end its operation; items without a result complete without a value") {
  std::atomic<int> sum{0};
  const auto app = lv::deploy<box>(lv::input<int> | lv::sink<"sum">([&sum](const int& v) { sum += v; }));
  constexpr int count = 50;
  std::vector<outcome> outcomes(count);
  lv::async_session session(app.open(), execution{});
  using sender = decltype(session)::pushed;
  static_assert(std::same_as<sender::completion_signatures, execution::completions<>>);
  for (int i = 0; i < count; ++i) {
    outcome& o = outcomes[static_cast<std::size_t>(i)];
    const sender sent = session.push_async(i);
    const auto unused = sent.connect(receiver{&o, nullptr});  // a sender that is kept connects again
    std::shared_ptr<void> keeps;
    auto* const kept = new operation<const sender&>(sent.connect(receiver{&o, &keeps}));
    keeps = std::shared_ptr<operation<const sender&>>(kept);
    const std::weak_ptr<void> there = keeps;
    kept->start();
    CHECK(o.wait() == "nothing");
    CHECK(there.expired());
  }
  CHECK(sum == count * (count - 1) / 2);
}

TEST_CASE(
    "a sender whose item throws on its way into the pipeline completes with the error, the others with their results") {
  using lv::test::fragile;
  const lv::test::nothing_leaks guard;
  std::atomic<bool> open{false};
  const auto app =
      lv::deploy<box, lv::slots<4>>(lv::input<fragile> | lv::stage<"value">(lv::serial([&](const fragile& f) {
                                      while (!open) std::this_thread::yield();
                                      return f.value();
                                    })));
  lv::async_session session(app.open<lv::dedicated>(), execution{});
  using sender = decltype(session)::pushed;
  constexpr int count = 70;
  std::vector<outcome> outcomes(count);
  std::vector<std::unique_ptr<operation<sender>>> operations;
  for (int i = 0; i < count; ++i)
    operations.emplace_back(new operation<sender>(
        session.push_async(fragile(i)).connect(receiver{&outcomes[static_cast<std::size_t>(i)]})));
  fragile::breaks = true;
  for (auto& o : operations) o->start();
  open = true;
  for (int i = 0; i < count; ++i)
    CHECK(outcomes[static_cast<std::size_t>(i)].wait() == (lv::test::fails(i) ? "item " : "") + std::to_string(i));
  fragile::breaks = false;
}

TEST_CASE("a sender and its operation lie in a coroutine's frame, whatever the alignment of item and value") {
  using lv::test::detached, lv::test::wide;
  const lv::test::nothing_leaks guard;
  const auto app = lv::deploy<box, lv::slots<4>>(lv::input<wide> | lv::stage<"same">([](wide&& w) {
                                                   if (lv::test::fails(w.value())) throw lv::test::unlucky(w.value());
                                                   return std::move(w);
                                                 }));
  lv::async_session session(app.open(), execution{});
  using sender = decltype(session)::pushed;
  static_assert(alignof(sender) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  static_assert(alignof(operation<sender>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  static_assert(std::same_as<sender::completion_signatures, execution::completions<wide&&>>);

  constexpr int count = 100;
  std::vector<outcome> outcomes(count);
  std::vector<wide> given;
  given.reserve(count);
  for (int i = 0; i < count; ++i) given.emplace_back(i);
  std::vector<std::coroutine_handle<>> held(count);
  struct suspended {
    std::coroutine_handle<>* as;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept { *as = h; }
    void await_resume() noexcept {}
  };
  const auto each = [&](std::size_t i) -> detached {
    auto sent = session.push_async(std::move(given[i]));
    co_await suspended{&held[i]};
    auto sending = std::move(sent).connect(receiver{&outcomes[i]});
    sending.start();
    co_await suspended{&held[i]};
  };
  for (std::size_t i = 0; i < count; ++i) each(i);
  for (const std::coroutine_handle<> h : held) h.resume();
  for (int i = 0; i < count; ++i)
    CHECK(outcomes[static_cast<std::size_t>(i)].wait() == (lv::test::fails(i) ? "item " : "") + std::to_string(i));
  for (const std::coroutine_handle<> h : std::vector(held)) h.resume();
}

TEST_CASE("a sender's item is as old as it says") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"same">([](const int& v) { return v; }));
  lv::async_session session(app.open<lv::deadline<60_s>>(), execution{});
  outcome late, in_time;
  auto first = session.push_async(1, std::chrono::steady_clock::now() - std::chrono::hours(1)).connect(receiver{&late});
  auto second = session.push_async(2).connect(receiver{&in_time});
  first.start();
  second.start();
  CHECK(late.wait() == "levada: the item was dropped");
  CHECK(in_time.wait() == "2");
}

}  // namespace run_sender
