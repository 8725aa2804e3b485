// SPDX-License-Identifier: Apache-2.0
// Every form of stage through every way of running: inline, stream, push and pop.

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

#include "items.hpp"

namespace run_forms {

namespace lv = levada;
using namespace levada::test;

using box = lv::target<lv::cpu<3>>;

/// Runs the items `make(0)` to `make(count - 1)` in the three ways; `text(result)` of each has to be `expected(i)`,
/// where nothing means filtered.
template <class App, class Make, class Text, class Expected>
void three_ways(const App& app, int count, Make make, Text text, Expected expected) {
  const nothing_leaks guard;
  std::vector<std::string> wanted;
  for (int i = 0; i < count; ++i) {
    const std::optional<std::string> e = expected(i);
    if (e) wanted.push_back(*e);
    auto result = app(make(i));
    if constexpr (levada::detail::is_optional<decltype(result)>)
      CHECK((result ? std::optional(text(*result)) : std::nullopt) == e);
    else
      CHECK(std::optional(text(result)) == e);
  }
  std::vector<std::string> streamed;
  {
    std::vector<decltype(make(0))> items;
    for (int i = 0; i < count; ++i) items.push_back(make(i));
    if constexpr (std::is_copy_constructible_v<decltype(make(0))>) {
      for (auto& r : app.stream(items)) streamed.push_back(text(r.value()));
    } else {
      std::vector<decltype(make(0))> moved = std::move(items);
      auto movable = std::ranges::subrange(std::move_iterator(moved.begin()), std::move_iterator(moved.end()));
      for (auto& r : app.stream(movable)) streamed.push_back(text(r.value()));
    }
  }
  CHECK(streamed == wanted);
  std::vector<std::string> popped;
  auto session = app.open();
  std::thread pusher([&] {
    for (int i = 0; i < count; ++i) session.push(make(i));
    session.close();
  });
  while (auto r = session.pop()) popped.push_back(text(r->value()));
  pusher.join();
  CHECK(popped == wanted);
}

int number(int i) { return i; }
std::string text_of_number(const int& v) { return std::to_string(v); }
int twice(const int& v) { return 2 * v; }

TEST_CASE("a map, as a lambda, a function and a generic lambda") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"lambda">([](const int& v) { return v + 1; }) |
                                   lv::stage<"function">(&twice) |
                                   lv::stage<"generic">([](const auto& v) { return std::to_string(v); }));
  three_ways(
      app, 300, number, [](const std::string& s) { return s; }, [](int i) { return std::to_string(2 * (i + 1)); });
}

TEST_CASE("consuming stages carry items that can only be moved") {
  using box_of_int = std::unique_ptr<int>;
  const auto app = lv::deploy<box>(lv::input<box_of_int> | lv::stage<"add">([](box_of_int&& p) {
                                     ++*p;
                                     return std::move(p);
                                   }) |
                                   lv::stage<"keep">([](box_of_int&& p) -> std::optional<box_of_int> {
                                     if (*p % 3 == 0) return std::nullopt;
                                     return std::move(p);
                                   }) |
                                   lv::stage<"by_value">([](box_of_int p) { return p; }) |
                                   lv::stage<"change">([](box_of_int& p) { *p *= 10; }));
  three_ways(
      app, 300, [](int i) { return std::make_unique<int>(i); }, [](const box_of_int& p) { return std::to_string(*p); },
      [](int i) { return (i + 1) % 3 == 0 ? std::nullopt : std::optional(std::to_string(10 * (i + 1))); });
}

TEST_CASE("in place, destination and generic in place") {
  const auto app = lv::deploy<box>(
      lv::input<tracked<0>> | lv::stage<"first">([](tracked<0>& t) { ++t.value; }) |
      lv::stage<"to", tracked<1>>([](const tracked<0>& in, tracked<1>& out) { out.value = in.checked() * 2; }) |
      lv::in_place<"generic">([](auto& t) { t.value += 3; }) |
      lv::stage<"back", tracked<2>>([](const auto& in, auto& out) { out.value = in.checked(); }));
  three_ways(
      app, 300, [](int i) { return tracked<0>(i); }, [](const auto& t) { return std::to_string(t.checked()); },
      [](int i) { return std::to_string(2 * (i + 1) + 3); });
}

TEST_CASE("a destination stage that throws destroys what it was writing to") {
  const nothing_leaks guard;
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"to", tracked<1>>([](const int& in, tracked<1>& out) {
                                     out.value = in;
                                     if (in % 2 != 0) throw std::runtime_error("odd");
                                   }));
  int failed = 0;
  for (auto& r : app.stream(std::vector<int>{1, 2, 3, 4, 5})) failed += !r;
  CHECK(failed == 3);
  CHECK_THROWS_WITH(app(1), "odd");
  CHECK(app(2).value == 2);
}

TEST_CASE("filters: several of them, with values behind them that must not be made for the filtered") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"even">([](const int& v) -> std::optional<tracked<0>> {
                                     if (v % 2 != 0) return std::nullopt;
                                     return tracked<0>(v);
                                   }) |
                                   lv::stage<"map">([](const tracked<0>& t) { return tracked<1>(t.checked()); }) |
                                   lv::stage<"third">([](const tracked<1>& t) -> std::optional<int> {
                                     if (t.checked() % 3 != 0) return std::nullopt;
                                     return t.value;
                                   }));
  three_ways(app, 300, number, text_of_number,
             [](int i) { return i % 6 == 0 ? std::optional(std::to_string(i)) : std::nullopt; });
}

TEST_CASE("a sink: results without a value, failures at their place") {
  std::vector<int> seen;
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"note">([&seen](const int& v) {
                                     if (v % 10 == 4) throw std::runtime_error(std::to_string(v));
                                     seen.push_back(v);
                                   }));
  app(1);
  CHECK_THROWS_WITH(app(4), "4");
  CHECK(seen == std::vector<int>{1});
  seen.clear();
  auto results = app.stream(std::vector<int>{1, 2, 4, 5, 14, 6});
  std::vector<std::string> errors;
  for (auto& r : results) {
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(r)>, lv::result<void>>);
    try {
      r.value();
    } catch (const std::runtime_error& e) {
      errors.push_back(e.what());
    }
  }
  CHECK(errors == std::vector<std::string>{"4", "14"});
  CHECK(seen == std::vector<int>{1, 2, 5, 6});
  CHECK(results.counts().delivered == 4);
  CHECK(results.counts().failed == 2);
}

TEST_CASE("nested pipelines run as the line they stand for") {
  const auto inner = lv::input<int> | lv::stage<"a">([](const int& v) { return v + 1; }) |
                     lv::stage<"b">([](const int& v) { return v * 3; });
  const auto outer = inner | (lv::stage<"c">([](const int& v) { return v - 1; }) |
                              lv::stage<"d">([](const int& v) { return std::to_string(v); }));
  const auto app = lv::deploy<box>(outer);
  static_assert(decltype(app)::plan.segments == 1);
  three_ways(
      app, 100, number, [](const std::string& s) { return s; }, [](int i) { return std::to_string(3 * (i + 1) - 1); });
}

TEST_CASE("a stage with captures is serial and in order; parallel(f) and serial(f) override") {
  std::vector<int> order, serial_order;
  std::atomic<int> inside{0}, most{0};
  std::atomic<int> parallel_calls{0};
  static std::atomic<int> captureless_inside{0}, captureless_most{0};
  const auto enter = [](std::atomic<int>& now, std::atomic<int>& peak) {
    const int n = ++now;
    for (int p = peak; n > p && !peak.compare_exchange_weak(p, n);) {
    }
    for (int i = 0; i < 200; ++i) levada::detail::spin_pause();
    --now;
  };
  const auto app = lv::deploy<lv::target<lv::cpu<8>>>(
      lv::input<int> | lv::stage<"parallel">(lv::parallel([&parallel_calls](const int& v) {
        ++parallel_calls;
        return v;
      })) |
      lv::stage<"captures">([&](const int& v) {
        order.push_back(v);
        enter(inside, most);
        return v;
      }) |
      lv::stage<"serial">(lv::serial([](const int& v) {
        if (++captureless_inside > captureless_most) captureless_most = captureless_inside.load();
        --captureless_inside;
        return v;
      })));
  std::vector<int> items;
  for (int i = 0; i < 3'000; ++i) items.push_back(i);
  int n = 0;
  for (auto& r : app.stream(items)) CHECK(r.value() == n++);
  CHECK(order == items);
  CHECK(most == 1);
  CHECK(captureless_most == 1);
  CHECK(parallel_calls == 3'000);
}

TEST_CASE("a parallel stage really runs on several threads") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"who">([](const int&) {
                                                        std::this_thread::sleep_for(std::chrono::microseconds(200));
                                                        return std::this_thread::get_id();
                                                      }));
  std::set<std::thread::id> threads;
  for (auto& r : app.stream(std::vector<int>(500, 1))) threads.insert(r.value());
  CHECK(threads.size() >= 1);
  if (std::thread::hardware_concurrency() > 1) CHECK(threads.size() == 2);
}

}  // namespace run_forms
