// SPDX-License-Identifier: Apache-2.0
// The type of a pipeline: what `|` makes is one list of stages, however it was put together.

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <levada/levada.hpp>
#include <levada/run/simulated.hpp>

namespace lv = levada;

namespace {

using box = lv::target<lv::cpu<2>, lv::simulated<0>>;

constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });
constexpr auto add = lv::stage<"add">([](const int& x) { return x + 1; });
constexpr auto half = lv::stage<"half">([](const int& x) { return x / 2; });
using twice_stage = std::remove_const_t<decltype(twice)>;
using add_stage = std::remove_const_t<decltype(add)>;
using half_stage = std::remove_const_t<decltype(half)>;

template <class Found, class... Stages>
concept is_pipeline_of = std::same_as<std::remove_cvref_t<Found>, lv::pipeline<Stages...>>;

/// A class that stores a pipeline of stages that it does not know.
template <class... Stages>
class stored {
 public:
  explicit stored(lv::pipeline<Stages...> line) : line_(std::move(line)) {}
  int operator()(int x) const { return lv::deploy<lv::target<lv::cpu<1>>>(lv::input<int> | line_)(x); }

 private:
  lv::pipeline<Stages...> line_;
};

template <class... Stages>
constexpr std::size_t stages_of(const lv::pipeline<Stages...>&) {
  return sizeof...(Stages);
}

}  // namespace

TEST_CASE("a pipeline is the list of its stages, whichever were put together first") {
  const lv::pipeline one_by_one = lv::input<int> | twice | add | half;
  const lv::pipeline from_behind = lv::input<int> | (twice | (add | half));
  const lv::pipeline by_halves = (lv::input<int> | twice) | (add | half);
  static_assert(is_pipeline_of<decltype(one_by_one), lv::input_part<int>, twice_stage, add_stage, half_stage>);
  static_assert(std::same_as<decltype(one_by_one), decltype(from_behind)>);
  static_assert(std::same_as<decltype(one_by_one), decltype(by_halves)>);
  CHECK(lv::deploy<box>(one_by_one)(5) == 5);
  CHECK(lv::deploy<box>(from_behind)(5) == 5);
}

TEST_CASE("pipelines stand in pipelines as their stages do") {
  const lv::pipeline back = add | half;
  const lv::pipeline front = lv::input<int> | twice;
  const lv::pipeline whole = front | back;
  static_assert(is_pipeline_of<decltype(back), add_stage, half_stage>);
  static_assert(is_pipeline_of<decltype(whole), lv::input_part<int>, twice_stage, add_stage, half_stage>);
  CHECK(lv::deploy<box>(whole | add)(5) == 6);
  CHECK(lv::deploy<box>(front | lv::fork(back, half) |
                        lv::join<"sum">([](const int& a, const int& b) { return a + b; }))(5) == 10);
}

TEST_CASE("a pipeline of one stage, of a copy, and of what cannot be copied") {
  const lv::pipeline one = twice;
  static_assert(is_pipeline_of<decltype(one), twice_stage>);
  const lv::pipeline copy = one;
  static_assert(is_pipeline_of<decltype(copy), twice_stage>);
  lv::pipeline moved =
      lv::input<int> | lv::stage<"own">([p = std::make_unique<int>(7)](const int& x) { return x + *p; });
  static_assert(!std::copy_constructible<decltype(moved)> && std::move_constructible<decltype(moved)>);
  CHECK(lv::deploy<box>(std::move(moved))(1) == 8);
}

TEST_CASE("pins and marks ride on their stages") {
  const lv::pipeline pinned = lv::input<int> | lv::on<lv::simulated<0>>(twice | add) | lv::split_here | half;
  static_assert(is_pipeline_of<decltype(pinned), lv::input_part<int>, lv::pinned_part<lv::simulated<0>, twice_stage>,
                               lv::pinned_part<lv::simulated<0>, add_stage>, lv::split_here_part, half_stage>);
  const lv::pipeline both = twice | add;
  const lv::pipeline later = lv::input<int> | lv::on<lv::simulated<0>>(both) | lv::split_here | half;
  static_assert(std::same_as<decltype(pinned), decltype(later)>);
  const auto app = lv::deploy<box>(later);
  static_assert(decltype(app)::plan.segments == 2);
  CHECK(app(5) == 5);
}

TEST_CASE("a class stores one, and a function takes one") {
  const lv::pipeline line = twice | add | half;
  CHECK(stored(line)(5) == 5);
  static_assert(stages_of(lv::pipeline(twice | add)) == 2);
}

TEST_CASE("a pipeline takes no more room than its stages") {
  const lv::pipeline without_state = lv::input<int> | twice | add | half | twice | add;
  static_assert(std::is_empty_v<decltype(without_state)>);
  const lv::pipeline with_a_number = lv::input<int> | twice | lv::stage<"n">([n = 5](const int& x) { return x + n; });
  static_assert(sizeof(with_a_number) == sizeof(int));
}
