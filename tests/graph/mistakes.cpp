// SPDX-License-Identifier: Apache-2.0
// The first mistake of a pipeline, as the type whose name is the sentence. (Their printed text is tested per compiler.)

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>

#include "ops.hpp"

namespace lv = levada;
using lv::input, lv::stage, lv::sink, lv::source, lv::split_after, lv::split_here;
using lv::test::same_stage, lv::test::dense_stage;

namespace {

using vector = lv::tensor<float, 8>;
struct immovable {
  immovable() = default;
  immovable(immovable&&) = delete;
};

constexpr auto length = stage<"length">([](const vector& v) { return v[0]; });
constexpr auto twice = stage<"twice">([](float v) { return 2 * v; });
constexpr auto text = stage<"text">([](float v) { return std::to_string(v); });
constexpr auto print = sink<"print">([](const auto&) {});
constexpr auto camera = source<"camera">([] { return std::optional<vector>(); });

template <class Mistake, class Pipeline>
constexpr bool says(Pipeline) {
  return std::is_same_v<lv::pipeline_mistake<Pipeline>, Mistake> && !lv::correct<lv::pipeline_mistake<Pipeline>>;
}
template <class Pipeline>
constexpr bool fine(Pipeline) {
  return lv::correct<lv::pipeline_mistake<Pipeline>>;
}

// ---- what is none ----
static_assert(fine(input<vector> | length | twice | text | print));
static_assert(fine(camera | length) && fine(camera | print));
static_assert(fine(input<vector> | length | split_here | twice) &&
              fine(input<vector> | length | twice | split_after<0>));
static_assert(fine(input<vector> | (input<vector> | length | twice)), "a nested pipeline that declares what it gets");

// ---- the line ----
static_assert(says<lv::pipeline_has_no_stage>(input<vector>));
static_assert(says<lv::pipeline_has_no_stage>(camera), "a source alone has nothing to feed");
static_assert(says<lv::pipeline_starts_without_input_or_source<"length">>(length));
static_assert(says<lv::pipeline_starts_without_input_or_source<"length">>(length | twice));
static_assert(says<lv::pipeline_starts_without_input_or_source<"same">>(same_stage<"same"> | length));
static_assert(says<lv::pipeline_starts_without_input_or_source<"length">>(length | input<float> | twice));
static_assert(
    says<lv::stage_cannot_take_what_the_one_before_gives<"input", lv::gives<int>, "length", lv::wants<const vector&>>>(
        input<int> | length));
static_assert(
    says<lv::stage_cannot_take_what_the_one_before_gives<"camera", lv::gives<vector>, "twice", lv::wants<float>>>(
        camera | twice));
static_assert(
    says<lv::stage_cannot_take_what_the_one_before_gives<"text", lv::gives<std::string>, "twice", lv::wants<float>>>(
        input<vector> | length | text | twice));
static_assert(says<lv::stage_cannot_take_what_the_one_before_gives<"length", lv::gives<float>, "same",
                                                                   lv::wants<lv::expects<"a tensor">>>>(
    input<vector> | length | split_here | same_stage<"same">));
static_assert(
    says<lv::nested_pipeline_declares_another_input_than_it_gets<"length", lv::gives<float>, lv::wants<double>>>(
        input<vector> | length | (input<double> | text)));
static_assert(says<lv::source_is_not_the_first_stage<"length", "camera">>(input<vector> | length | camera));
static_assert(says<lv::source_is_not_the_first_stage<"input", "camera">>(input<vector> | camera));
static_assert(says<lv::nothing_can_follow_a_sink<"print", "twice">>(input<vector> | print | twice));
static_assert(says<lv::nothing_can_follow_a_sink<"print", "twice">>(input<vector> | print | (input<float> | twice)));
static_assert(says<lv::nothing_can_follow_a_sink<"print", "print">>(input<vector> | print | print));

// ---- one callable ----
static_assert(says<lv::source_does_not_return_an_optional_item<"s">>(source<"s">([] { return 1; }) | twice));
static_assert(says<lv::source_does_not_return_an_optional_item<"s">>(source<"s">([](int) { return std::optional(1); }) |
                                                                     twice));
static_assert(says<lv::source_does_not_return_an_optional_item<"s">>(source<"s">([] {}) | twice));
static_assert(says<lv::item_cannot_be_moved<"make", immovable>>(input<int> |
                                                                stage<"make">([](int) { return immovable(); }) |
                                                                stage<"use">([](const immovable&) { return 1; })));
static_assert(says<lv::item_cannot_be_moved<"input", immovable>>(input<immovable> |
                                                                 stage<"use">([](const immovable&) { return 1; })));
static_assert(says<lv::generic_stage_returns_nothing_write_in_place_or_sink<"g">>(input<vector> |
                                                                                  stage<"g">([](auto&) {}) | length));

// ---- only the first is said ----
static_assert(says<lv::stage_cannot_take_what_the_one_before_gives<"length", lv::gives<float>, "same",
                                                                   lv::wants<lv::expects<"a tensor">>>>(
    input<vector> | length | same_stage<"same"> | length | print | twice | split_after<99>));

// ---- splits ----
static_assert(says<lv::split_after_names_no_stage<1, 2>>(input<vector> | length | twice | split_after<1>),
              "behind the last stage there is nothing to split off");
static_assert(says<lv::split_after_names_no_stage<7, 3>>(input<vector> | length | twice | text | split_after<0, 7>));
static_assert(says<lv::split_here_has_no_stage_on_one_side>(input<vector> | split_here | length));
static_assert(says<lv::split_here_has_no_stage_on_one_side>(input<vector> | length | split_here));
static_assert(fine(camera | split_here | length), "a source is a stage");

}  // namespace

TEST_CASE("a pipeline with a mistake is no input to describe") {
  const auto described = [](auto pipeline) { return requires { lv::describe<decltype(pipeline)>(); }; };
  CHECK(described(input<vector> | length));
  CHECK(!described(input<int> | length));
  CHECK(!described(length));
}
