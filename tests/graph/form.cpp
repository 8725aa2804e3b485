// SPDX-License-Identifier: Apache-2.0
// Which form a callable has for which item: function pointers, functors, lambdas plain and generic.

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops.hpp"

namespace lv = levada;
using lv::form, lv::stage;
using std::is_same_v;

namespace {

struct move_only {
  explicit move_only(int v = 0) : value(v) {}
  move_only(move_only&&) = default;
  move_only& operator=(move_only&&) = default;
  int value;
};
struct immovable {
  immovable() = default;
  immovable(immovable&&) = delete;
};
struct small {
  int x;
};
using image = lv::tensor<float, 16, 32>;  // 2 KiB: not passed by value
using vector = lv::tensor<float, 8>;

/// The form in which a stage takes an `In`, or the mistake.
template <class In, class Stage>
constexpr auto in(Stage) {
  return lv::stage_form<Stage, "before", In>{};
}
template <form How, class Out>
constexpr bool is(lv::call_form<How, Out>) {
  return true;
}
template <form How, class Out, class Other>
constexpr bool is(Other) {
  return false;
}
template <class Mistake, class Found>
constexpr bool refused(Found) {
  return is_same_v<Mistake, Found>;
}

// ---- Out f(const In&) ----
static_assert(is<form::map, float>(in<image>(stage<"s">([](const image& i) { return i[0]; }))));
static_assert(is<form::map, image>(in<image>(stage<"s">([](const image& i) noexcept { return i; }))));
static_assert(is<form::map, float>(in<image>(stage<"s">([n = 0](const image& i) mutable {
  return i[0] + float(++n);
}))));
static_assert(is<form::map, int>(in<small>(stage<"s">([](small s) { return s.x; }))), "small items by value");
static_assert(is<form::map, image>(in<image>(stage<"s">([](const image& i) -> const image& { return i; }))),
              "a reference is returned as an item");
static_assert(is<form::map, float>(in<image>(stage<"s">([](const auto& i) { return i[0]; }))));
static_assert(is<form::map, int>(in<int>(stage<"s">([](auto v) { return v + 1; }))));
static_assert(is<form::map, int>(in<int>(stage<"s">([](auto&& v) { return v + 1; }))));
static_assert(is<form::map, float>(in<image>(stage<"s">([](const lv::any_tensor auto& i) { return i[0]; }))));
static_assert(is<form::map, float>(in<std::vector<float>>(stage<"s">([]<class T>(const std::vector<T>& v) {
                return v[0];
              }))),
              "a template whose argument is not the item itself");
static_assert(is<form::map, std::size_t>(
    in<vector>(stage<"s">([]<class T, std::size_t... D>(const lv::tensor<T, D...>& t) { return t.size(); }))));
static_assert(is<form::map, int>(in<int>(stage<"s">([](auto v, int more = 1) { return v + more; }))));

float function(const image& i) { return i[0]; }
float noexcept_function(const image& i) noexcept { return i[0]; }
static_assert(is<form::map, float>(in<image>(stage<"s">(function))) &&
              is<form::map, float>(in<image>(stage<"s">(&function))));
static_assert(is<form::map, float>(in<image>(stage<"s">(noexcept_function))));

struct functor {
  float operator()(const image& i) const { return i[0]; }
};
struct overloaded {
  int operator()(const vector&) const { return 1; }
  float operator()(const image&) const { return 1; }
};
struct qualified {
  float operator()(const image& i) const& noexcept { return i[0]; }
};
struct only_once {
  float operator()(const image& i) && { return i[0]; }
};
static_assert(is<form::map, float>(in<image>(stage<"s">(functor{}))));
static_assert(is<form::map, float>(in<image>(stage<"s">(overloaded{}))) &&
              is<form::map, int>(in<vector>(stage<"s">(overloaded{}))));
static_assert(is<form::map, float>(in<image>(stage<"s">(qualified{}))));
using erased = decltype(stage<"s">(std::function<float(const image&)>()));
static_assert(std::is_same_v<lv::stage_form<erased, "before", image>, lv::call_form<form::map, float>>);
static_assert(
    refused<lv::stage_cannot_take_what_the_one_before_gives<"before", lv::gives<image>, "s", lv::wants<only_once>>>(
        in<image>(stage<"s">(only_once{}))),
    "a stage is called again and again, never as an rvalue");

// ---- Out f(In&&), and items that only move ----
static_assert(is<form::consume, int>(in<move_only>(stage<"s">([](move_only&& m) { return m.value; }))));
static_assert(is<form::consume, int>(in<move_only>(stage<"s">([](move_only m) { return m.value; }))));
static_assert(is<form::map, int>(in<move_only>(stage<"s">([](const move_only& m) { return m.value; }))));
static_assert(is<form::consume, int>(in<move_only>(stage<"s">([](auto m) { return m.value; }))));
static_assert(is<form::consume, int>(in<move_only>(stage<"s">([](auto&& m) { return m.value; }))));
static_assert(is<form::consume, std::unique_ptr<int>>(in<std::unique_ptr<int>>(stage<"s">([](std::unique_ptr<int> p) {
  return p;
}))));
static_assert(is<form::consume, image>(in<image>(stage<"s">([](image&& i) { return i; }))));
static_assert(is<form::consume, std::size_t>(in<std::string>(stage<"s">([](std::string s) { return s.size(); }))),
              "by value it is moved in where a copy would cost");

// ---- views and conversions ----
static_assert(is<form::map, float>(in<image>(stage<"s">([](lv::tensor_view<const float, 16, 32> v) {
  return v(0, 0);
}))));
static_assert(is<form::map, float>(in<image>(stage<"s">([](const lv::tensor_view<const float, 16, 32>& v) {
  return v(0, 0);
}))));
static_assert(is<form::map, std::size_t>(in<std::string>(stage<"s">([](std::string_view s) { return s.size(); }))),
              "a view by value leaves the item as it is");
template <class Given, class Taken>
constexpr bool conversion_refused =
    refused<lv::stage_cannot_take_what_the_one_before_gives<"before", lv::gives<Given>, "s", lv::wants<Taken>>>(
        in<Given>(stage<"s">([](Taken) { return 1; })));
static_assert(conversion_refused<double, float> && conversion_refused<float, double>,
              "no number becomes another by itself");
static_assert(conversion_refused<int, float> && conversion_refused<float, int> && conversion_refused<bool, int>);
static_assert(conversion_refused<float, const double&> && conversion_refused<float, double&&>);
static_assert(!conversion_refused<float, float>);
static_assert(conversion_refused<image, const vector&> && conversion_refused<vector, lv::tensor_view<const float, 9>>);
static_assert(conversion_refused<vector, lv::tensor_view<float, 8>>,
              "a view that writes, of an item that is not to change");
static_assert(refused<lv::stage_cannot_take_what_the_one_before_gives<"before", lv::gives<std::string>, "s",
                                                                      lv::wants<std::string_view&>>>(
    in<std::string>(stage<"s">([](std::string_view&) {}))));

// ---- large items by value ----
static_assert(refused<lv::stage_takes_a_large_item_by_value_write_const_reference<"s", const image&>>(
    in<image>(stage<"s">([](image i) { return i[0]; }))));
static_assert(refused<lv::stage_takes_a_large_item_by_value_write_const_reference<"s", const image&>>(
    in<image>(stage<"s">([](auto i) { return i[0]; }))));
static_assert(is<form::map, float>(in<lv::tensor<float, 256>>(stage<"s">([](lv::tensor<float, 256> i) {
                return i[0];
              }))),
              "1 KiB is not large");

// ---- void f(T&) ----
static_assert(is<form::in_place, image>(in<image>(stage<"s">([](image& i) { i[0] = 1; }))));
static_assert(is<form::in_place, image>(in<image>(stage<"s">([n = 0.f](image& i) mutable { i[0] = ++n; }))));
static_assert(is<form::in_place, image>(in<image>(lv::in_place<"s">([](auto& i) { i[0] = 1; }))));
static_assert(is<form::in_place, move_only>(in<move_only>(lv::in_place<"s">([](auto& m) { ++m.value; }))));
static_assert(refused<lv::generic_stage_returns_nothing_write_in_place_or_sink<"s">>(in<image>(stage<"s">([](auto& i) {
  i[0] = 1;
}))));
static_assert(
    refused<lv::generic_stage_returns_nothing_write_in_place_or_sink<"s">>(in<image>(stage<"s">([](const auto&) {}))));
static_assert(refused<lv::stage_changes_its_input_and_returns_another_item<"s", image>>(
    in<image>(stage<"s">([](image& i) { return i[0]; }))));
static_assert(refused<lv::in_place_stage_cannot_be_called_with_a_reference_to_the_item<"s", image>>(
    in<image>(lv::in_place<"s">([](vector&) {}))));

// ---- void f(const In&, Out&) ----
static_assert(is<form::destination, vector>(in<image>(stage<"s", vector>([](const image& i, vector& o) {
  o[0] = i[0];
}))));
static_assert(is<form::destination, vector>(in<image>(stage<"s", vector>([](const auto& i, auto& o) {
  o[0] = i[0];
}))));
static_assert(refused<lv::destination_stage_cannot_be_called_with_input_and_output<"s", image, vector>>(
    in<image>(stage<"s", vector>([](const image&) {}))));
static_assert(refused<lv::output_of_a_destination_stage_has_no_default_constructor<"s", std::reference_wrapper<int>>>(
    in<image>(stage<"s", std::reference_wrapper<int>>([](const image&, std::reference_wrapper<int>&) {}))));

// ---- filters ----
static_assert(is<form::filter, int>(in<int>(stage<"s">([](int v) -> std::optional<int> { return v; }))));
static_assert(is<form::filter, int>(in<int>(stage<"s">([](const auto& v) { return std::optional(v); }))));
static_assert(is<form::consume_filter, move_only>(in<move_only>(stage<"s">([](move_only&& m) {
  return std::optional<move_only>(std::move(m));
}))));

// ---- sinks ----
static_assert(is<form::sink, void>(in<image>(stage<"s">([](const image&) {}))));
static_assert(is<form::sink, void>(in<int>(stage<"s">([](int) {}))));
static_assert(is<form::sink, void>(in<image>(lv::sink<"s">([](const auto&) {}))));
static_assert(refused<lv::sink_cannot_be_called_with_the_item<"s", image>>(in<image>(lv::sink<"s">([](const vector&) {
}))));
static_assert(
    refused<lv::sink_cannot_be_called_with_the_item<"s", move_only>>(in<move_only>(lv::sink<"s">([](move_only) {}))));
static_assert(
    refused<lv::sink_cannot_be_called_with_the_item<"s", move_only>>(in<move_only>(stage<"s">([](move_only&&) {}))));

// ---- ops ----
static_assert(is<form::op, image>(in<image>(lv::test::same_stage<"s">)));
static_assert(is<form::op, lv::tensor<float, 10>>(in<vector>(lv::test::dense_stage<"s", 10>)));
static_assert(refused<lv::stage_cannot_take_what_the_one_before_gives<
                  "before", lv::gives<image>, "s", lv::wants<lv::expects<"a float tensor of rank 1">>>>(
    in<image>(lv::test::dense_stage<"s", 10>)));
static_assert(refused<lv::stage_cannot_take_what_the_one_before_gives<"before", lv::gives<int>, "s",
                                                                      lv::wants<lv::expects<"a tensor">>>>(
    in<int>(lv::test::same_stage<"s">)));

// ---- side data and the envelope behind the item ----
struct scale {
  float x = 1, y = 1;
};
static_assert(is<form::map, int>(in<image>(stage<"s">([](const image&, scale&) { return 1; }))));
static_assert(is<form::map, int>(in<image>(stage<"s">([](const image&, const scale&, const lv::item_envelope&) {
  return 1;
}))));
static_assert(is<form::in_place, image>(in<image>(stage<"s">([](image&, scale&) {}))));
static_assert(is<form::sink, void>(in<image>(stage<"s">([](const image&, const scale&) {}))));
static_assert(is<form::filter, int>(in<image>(stage<"s">([](const image&, scale&) { return std::optional(1); }))));
static_assert(is<form::destination, vector>(in<image>(stage<"s", vector>([](const image&, vector&, const scale&) {}))));
template <class Parameter>
constexpr bool side_refused =
    refused<lv::stage_takes_beside_its_item_what_is_no_reference_to_plain_data<"s", Parameter>>(
        in<image>(stage<"s">([](const image&, Parameter) { return 1; })));
static_assert(side_refused<int> && side_refused<scale&&> && side_refused<const std::string&> && side_refused<int*&> &&
              side_refused<lv::item_envelope&>);

// ---- what cannot be called with one item ----
constexpr auto no_argument = [] { return 1; };
static_assert(refused<lv::stage_cannot_take_what_the_one_before_gives<
                  "before", lv::gives<image>, "s", lv::wants<std::remove_const_t<decltype(no_argument)>>>>(
    in<image>(stage<"s">(no_argument))));

// ---- concurrency: state or captures make a stage serial; nothing else proves anything ----
template <class Stage>
constexpr bool is_serial(Stage) {
  return Stage::how == lv::concurrency::serial;
}
int outside = 0;
static_assert(!is_serial(stage<"s">([](int v) { return v; })) && !is_serial(stage<"s">(function)));
static_assert(is_serial(stage<"s">([n = 0](int v) mutable { return v + n; })));
static_assert(is_serial(stage<"s">([n = 0](int v) { return v + n; })), "a const call operator is no proof");
static_assert(is_serial(stage<"s">([&o = outside](int v) { return v + o; })));
static_assert(!is_serial(stage<"s">(lv::parallel([n = 0](int v) { return v + n; }))));
static_assert(is_serial(stage<"s">(lv::serial([](int v) { return v; }))));
static_assert(is_serial(lv::sink<"s">(lv::serial([](int) {}))) && !is_serial(lv::sink<"s">([](int) {})));
static_assert(erased::how == lv::concurrency::serial);

}  // namespace

TEST_CASE("a stage keeps its callable as it was given") {
  auto counting = stage<"count">([n = 0](int) mutable { return ++n; });
  CHECK(counting.callable(0) == 1);
  CHECK(counting.callable(0) == 2);
  CHECK((stage<"f">(function).callable == &function));
  CHECK(lv::stage<"own">([p = std::make_unique<int>(3)](int) { return *p; }).callable(0) == 3);
  CHECK(std::is_empty_v<decltype(stage<"s">([](int v) { return v; }))>);
}
