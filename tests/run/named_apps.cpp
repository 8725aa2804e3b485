// SPDX-License-Identifier: Apache-2.0
// An app that is deployed from a callable is named after it: its type, and symbols with it, spell out no stage.

#include <doctest/doctest.h>

#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include <levada/graph/detail/batch.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

namespace run_named_apps {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;

template <class T>
constexpr std::string_view name_of() {
  return __PRETTY_FUNCTION__;
}
/// Each letter of a stage's name is six or more in a symbol that spells it.
template <class App>
constexpr bool spells_stages(const App&) {
  return name_of<App>().find("fixed_string") != std::string_view::npos;
}

constexpr auto make = [](int by) {
  return lv::input<int> | lv::stage<"times">(lv::parallel([by](const int& i) { return i * by; })) |
         lv::stage<"plus one">([](const int& i) { return i + 1; });
};

TEST_CASE("a callable that makes a pipeline is deployed as what it makes, under its own name") {
  const auto spelt = lv::deploy<box>(make(3));
  const auto named = lv::deploy<box>([&] { return make(3); });
  static_assert(spells_stages(spelt) && !spells_stages(named));
  static_assert(decltype(named)::plan.units == decltype(spelt)::plan.units);
  CHECK(named(4) == spelt(4));
  int sum = 0;
  for (auto&& r : named.stream(std::vector<int>{1, 2, 3})) sum += r.value();
  CHECK(sum == 21);
  const lv::any_pipeline<int(int)> erased = named;
  CHECK(erased(5) == 16);
}

TEST_CASE("so is one that changes its rate, and one that can only be moved") {
  const auto rated = lv::deploy<box>([] {
    return lv::input<int> | lv::batch<2> | lv::stage<"add">([](const auto& both) { return both[0] + both[1]; });
  });
  static_assert(!spells_stages(rated) && decltype(rated)::types::changes_rate);
  std::vector<int> sums;
  for (auto&& r : rated.stream(std::vector<int>{1, 2, 3, 4})) sums.push_back(r.value());
  CHECK(sums == std::vector<int>{3, 7});

  const auto owning = lv::deploy<box>([held = std::make_unique<int>(7)]() mutable {
    return lv::input<int> | lv::stage<"owner">([held = std::move(held)](const int& i) { return i + *held; });
  });
  CHECK(owning(1) == 8);
}

TEST_CASE("two callables make two apps, and one callable the same") {
  const auto first = [] { return make(2); };
  const auto second = [] { return make(2); };
  auto app = lv::deploy<box>(first);
  static_assert(std::is_same_v<decltype(app), decltype(lv::deploy<box>(first))>);
  static_assert(!std::is_same_v<decltype(app), decltype(lv::deploy<box>(second))>);
  app = lv::deploy<box>(first);
  CHECK(app(2) == 5);
}

constexpr auto mistaken = [] {
  return lv::input<int> | lv::stage<"text">([](const std::string_view& text) { return text.size(); });
};
constexpr auto no_pipeline = [] { return 3; };
static_assert(std::is_same_v<lv::detail::deploy_call_mistake<decltype((mistaken)), box>,
                             lv::detail::deploy_call_mistake<decltype(mistaken()), box>>,
              "the mistake is that of the pipeline");
static_assert(lv::detail::deploy_call_mistake<decltype((mistaken)), box>::is_mistake);
static_assert(lv::detail::deploy_call_mistake<decltype((no_pipeline)), box>::is_mistake);

}  // namespace run_named_apps
