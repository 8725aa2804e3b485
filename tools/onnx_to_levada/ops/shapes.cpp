// SPDX-License-Identifier: Apache-2.0
// ops/shapes.cpp: ops that give shapes and constants; all of them are folded.

#include <cmath>
#include <numbers>

#include "../output/lowering.hpp"
#include "folding.hpp"
#include "op_definition.hpp"

namespace levada::onnx {
namespace {

std::pair<std::int64_t, std::int64_t> part_of_shape(const op_call& call) {
  const std::int64_t rank = call.rank();
  const auto placed = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t begin = placed(call.integer("start", 0)), end = placed(call.integer("end", rank));
  return {begin, std::max(begin, end)};
}
std::vector<tensor_type> infer_shape(const op_call& call) {
  const auto [begin, end] = part_of_shape(call);
  return {{element::i64, {end - begin}}};
}
std::vector<constant> fold_shape(const op_call& call) {
  const auto [begin, end] = part_of_shape(call);
  const extents part(call.dims().begin() + begin, call.dims().begin() + end);
  return {constant::of(element::i64, {end - begin}, part)};
}
std::vector<tensor_type> infer_size(const op_call&) { return {{element::i64, {}}}; }
std::vector<constant> fold_size(const op_call& call) {
  return {constant::of(element::i64, {}, std::vector{elements_of(call.dims())})};
}

constant constant_of(const op_call& call) {
  if (const attribute* found = call.find("value"); found != nullptr && found->tensor) return *found->tensor;
  if (call.find("value_float") != nullptr)
    return constant::of(element::f32, {}, std::vector{call.number("value_float", 0)});
  if (call.find("value_int") != nullptr)
    return constant::of(element::i64, {}, std::vector{call.integer("value_int", 0)});
  if (const attribute* found = call.find("value_floats"))
    return constant::of(element::f32, {static_cast<std::int64_t>(found->numbers.size())}, found->numbers);
  if (const attribute* found = call.find("value_ints"))
    return constant::of(element::i64, {static_cast<std::int64_t>(found->integers.size())}, found->integers);
  call.fail("it has no value of numbers");
}
std::vector<tensor_type> infer_constant(const op_call& call) {
  const constant known = constant_of(call);
  return {{known.type(), known.dims()}};
}
std::vector<constant> fold_constant(const op_call& call) { return {constant_of(call)}; }

std::vector<tensor_type> infer_constant_of_shape(const op_call& call) {
  const attribute* value = call.find("value");
  const extents dims = call.integers_in(0, "the shape");
  for (const std::int64_t d : dims)
    call.require(d >= 0 && d < (std::int64_t{1} << 32), "an extent is negative or too large");
  return {{value != nullptr && value->tensor ? value->tensor->type() : element::f32, dims}};
}
std::vector<constant> fold_constant_of_shape(const op_call& call) {
  const attribute* value = call.find("value");
  const element type = call.out().type == element::undefined ? infer_constant_of_shape(call)[0].type : call.out().type;
  const extents dims = call.integers_in(0, "the shape");
  const auto count = static_cast<std::size_t>(elements_of(dims));
  call.require(count < (std::size_t{1} << 32), "it gives too many elements");
  return {by_number(type, [&]<class T>(T) {
    const T number = value != nullptr && value->tensor ? value->tensor->template scalar<T>() : T{};
    return constant::of(type, dims, std::vector<T>(count, number));
  })};
}

template <class T>
std::int64_t steps_of(const op_call& call) {
  const T begin = call.in(0).known->scalar<T>(), end = call.in(1).known->scalar<T>(),
          step = call.in(2).known->scalar<T>();
  call.require(step != 0, "its step is 0");
  const double count = std::ceil((static_cast<double>(end) - static_cast<double>(begin)) / static_cast<double>(step));
  call.require(count < 4e9, "it gives too many elements");
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(count));
}
std::vector<tensor_type> infer_range(const op_call& call) {
  for (std::size_t i = 0; i < 3; ++i) static_cast<void>(call.known(i, "its range"));
  return {{call.type(), {by_number(call.type(), [&]<class T>(T) { return steps_of<T>(call); })}}};
}
std::vector<constant> fold_range(const op_call& call) {
  return {by_number(call.type(), [&]<class T>(T) {
    const T begin = call.in(0).known->scalar<T>(), step = call.in(2).known->scalar<T>();
    std::vector<T> numbers;
    for (std::int64_t i = 0, count = steps_of<T>(call); i < count; ++i)
      numbers.push_back(begin + static_cast<T>(i) * step);
    return constant::of(call.type(), {static_cast<std::int64_t>(numbers.size())}, numbers);
  })};
}

std::vector<tensor_type> infer_eye_like(const op_call& call) {
  const auto type = static_cast<element>(call.integer("dtype", static_cast<std::int64_t>(call.type())));
  call.require(call.rank() == 2, "it is no matrix");
  return {{type, call.dims()}};
}
std::vector<constant> fold_eye_like(const op_call& call) {
  const std::int64_t k = call.integer("k", 0), columns = call.dims()[1];
  const element type = infer_eye_like(call)[0].type;
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(elements_of(call.dims())));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::int64_t>(i) % columns - static_cast<std::int64_t>(i) / columns == k;
  return {constant::of(type, call.dims(), numbers)};
}

std::vector<std::int64_t> places_of_nonzero(const op_call& call) {
  const std::vector<double> all = call.known(0, "which elements are not zero").as<double>();
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != 0) places.push_back(static_cast<std::int64_t>(i));
  return places;
}
std::vector<tensor_type> infer_non_zero(const op_call& call) {
  return {{element::i64, {call.rank(), static_cast<std::int64_t>(places_of_nonzero(call).size())}}};
}
std::vector<constant> fold_non_zero(const op_call& call) {
  const std::vector<std::int64_t> places = places_of_nonzero(call), strides = strides_of(call.dims());
  std::vector<std::int64_t> numbers;
  for (std::size_t axis = 0; axis < call.dims().size(); ++axis)
    for (const std::int64_t place : places) numbers.push_back(place / strides[axis] % call.dims()[axis]);
  return {constant::of(element::i64, {call.rank(), static_cast<std::int64_t>(places.size())}, numbers)};
}

std::vector<tensor_type> infer_one_hot(const op_call& call) {
  extents dims = call.dims(0);
  const std::int64_t depth = call.known(1, "the depth").scalar<std::int64_t>();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(call.axis(call.integer("axis", -1), call.rank() + 1)), depth);
  return {{call.type(2), dims}};
}
void lower_one_hot(lowering& to, const op_call& call) {
  const std::int64_t depth = call.known(1, "the depth").scalar<std::int64_t>();
  const std::vector<double> values = call.known(2, "the values").as<double>();
  const std::size_t axis = call.axis(call.integer("axis", -1), call.rank() + 1);
  const extents from = call.dims().empty() ? extents{1} : call.dims();
  const element type = call.type(2);
  to.give(call, 0,
          to.add("nn::one_hot<" + std::to_string(depth) + ", " + std::to_string(axis) + ">(" +
                     number_text(values.at(0), type) + ", " + number_text(values.at(1), type) + ")",
                 {to.in_shape(call, 0, from)}, type, call.out().dims));
}

/// HannWindow, HammingWindow, BlackmanWindow: sums of cosines.
std::vector<tensor_type> infer_signal_window(const op_call& call) {
  return {
      {static_cast<element>(call.integer("output_datatype", 1)), {call.known(0, "its size").scalar<std::int64_t>()}}};
}
std::vector<constant> fold_signal_window(const op_call& call) {
  const tensor_type type = infer_signal_window(call)[0];
  const std::string& op = call.called().op;
  const double a0 = op == "HannWindow"      ? 0.5
                    : op == "HammingWindow" ? 25.0 / 46
                                            : 0.42,
               a2 = op == "BlackmanWindow" ? 0.08 : 0, a1 = op == "BlackmanWindow" ? 0.5 : 1 - a0;
  const std::int64_t size = type.dims[0];
  call.require(size >= 0 && size < (std::int64_t{1} << 32), "its size is negative or too large");
  const auto period = static_cast<double>(call.integer("periodic", 1) != 0 ? size : size - 1);
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < size; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / period;
    numbers.push_back(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
  }
  return {constant::of(type.type, type.dims, numbers)};
}

constexpr op_definition shape_definitions[] = {
    {"Shape", infer_shape, fold_shape, nullptr, "", true},
    {"Size", infer_size, fold_size, nullptr, "", true},
    {"Constant", infer_constant, fold_constant},
    {"ConstantOfShape", infer_constant_of_shape, fold_constant_of_shape},
    {"Range", infer_range, fold_range},
    {"EyeLike", infer_eye_like, fold_eye_like, nullptr, "", true},
    {"NonZero", infer_non_zero, fold_non_zero},
    {"HannWindow", infer_signal_window, fold_signal_window},
    {"HammingWindow", infer_signal_window, fold_signal_window},
    {"BlackmanWindow", infer_signal_window, fold_signal_window},
    {"OneHot", infer_one_hot, nullptr, lower_one_hot},
};

}  // namespace

std::span<const op_definition> shape_ops() { return shape_definitions; }

}  // namespace levada::onnx
