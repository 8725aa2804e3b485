// SPDX-License-Identifier: Apache-2.0
// ops/reductions.cpp: ops along axes: reductions, softmax, argmax, top_k, cumulative sums.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../output/lowering.hpp"
#include "folding.hpp"
#include "op_definition.hpp"

namespace levada::onnx {
namespace {

// --- Reduce... ------------------------------------------------------------------------------------------------------

std::vector<std::size_t> reduced_axes(const op_call& call) {
  std::vector<std::int64_t> given = call.integers_of("axes", 1);
  if (given.empty() && call.integer("noop_with_empty_axes", 0) != 0) return {};
  if (given.empty()) {
    given.resize(call.dims().size());
    std::iota(given.begin(), given.end(), 0);
  }
  return call.axes(given, call.rank());
}
std::vector<tensor_type> infer_reduce(const op_call& call) {
  const std::vector<std::size_t> axes = reduced_axes(call);
  const bool keep = call.integer("keepdims", 1) != 0;
  extents dims;
  for (std::size_t axis = 0; axis < call.dims().size(); ++axis) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), axis);
    if (!reduced || keep) dims.push_back(reduced ? 1 : call.dims()[axis]);
  }
  return {{call.type(), dims}};
}

template <class T>
T joined(std::string_view op, const std::vector<T>& all) {
  if (op == "ReduceMax") return *std::max_element(all.begin(), all.end());
  if (op == "ReduceMin") return *std::min_element(all.begin(), all.end());
  T result = op == "ReduceProd" ? T{1} : T{0};
  for (const T x : all) {
    if (op == "ReduceProd")
      result *= x;
    else if (op == "ReduceSumSquare" || op == "ReduceL2")
      result += x * x;
    else if (op == "ReduceL1")
      result += x < 0 ? -x : x;
    else
      result += x;
  }
  if (op == "ReduceMean") return result / static_cast<T>(all.size());
  if (op == "ReduceL2") return static_cast<T>(std::sqrt(static_cast<double>(result)));
  return result;
}
std::vector<constant> fold_reduce(const op_call& call) {
  const std::vector<std::size_t> axes = reduced_axes(call);
  const extents& from = call.dims();
  extents kept = from;
  for (const std::size_t axis : axes) kept[axis] = 1;
  const std::vector<std::int64_t> place = broadcast_offsets(kept, from);
  return {by_number(call.type(), [&]<class T>(T) {
    const std::vector<T> all = call.in(0).known->as<T>();
    std::vector<std::vector<T>> groups(static_cast<std::size_t>(elements_of(kept)));
    for (std::size_t i = 0; i < all.size(); ++i) groups[static_cast<std::size_t>(place[i])].push_back(all[i]);
    std::vector<T> made;
    for (const std::vector<T>& group : groups) {
      call.require(!group.empty(), "it reduces nothing");
      made.push_back(joined(call.called().op, group));
    }
    return constant::of(call.type(), call.out().dims, made);
  })};
}

struct reduction_form {
  std::string_view name, levada;
  bool is_of_integers;  ///< too
};
constexpr reduction_form reduction_forms[] = {
    {"ReduceSum", "nn::reduce_sum", true},         {"ReduceMean", "nn::reduce_mean", false},
    {"ReduceMax", "nn::reduce_max", true},         {"ReduceMin", "nn::reduce_min", true},
    {"ReduceProd", "nn::reduce_prod", true},       {"ReduceL1", "nn::reduce_l1", true},
    {"ReduceL2", "nn::reduce_l2", false},          {"ReduceSumSquare", "nn::reduce_sum_square", true},
    {"ReduceLogSum", "nn::reduce_log_sum", false}, {"ReduceLogSumExp", "nn::reduce_log_sum_exp", false},
};
const reduction_form& reduction_of(const op_call& call) {
  for (const reduction_form& form : reduction_forms)
    if (form.name == call.called().op) return form;
  call.fail("it is no reduction");
}

void lower_reduce(lowering& to, const op_call& call) {
  const std::vector<std::size_t> axes = reduced_axes(call);
  if (axes.empty()) return to.give(call, 0, to.in(call, 0));
  const reduction_form& form = reduction_of(call);
  const element type = call.type();
  if (!is_floating(type) && (!form.is_of_integers || type == element::boolean))
    call.fail("levada has no " + std::string(form.levada) + " of " + std::string(names_of(type)->onnx));
  // Without the leading axis of extent 1, unless that is all that is reduced.
  const extents& d = call.dims();
  const std::size_t left_out = d.size() - stored_dims(d).size();
  extents numbers;
  for (const std::size_t axis : axes)
    if (axis >= left_out) numbers.push_back(static_cast<std::int64_t>(axis - left_out));
  extents from = stored_dims(d);
  if (numbers.empty()) {
    from = d;
    numbers = {0};
  }
  extents dims = from;
  for (const std::int64_t axis : numbers) dims[static_cast<std::size_t>(axis)] = 1;
  to.give(call, 0,
          to.add(std::string(form.levada) + "<" + list_of(numbers) + ">", {to.in_shape(call, 0, from)}, type, dims));
}

// --- along one axis, which levada has last ---------------------------------------------------------------------------

/// Brings `axis` to the end, calls `op`, and puts it back. `op` gets a value [..., N] and makes one [..., M].
template <class F>
int along_last(lowering& to, const op_call& call, std::size_t axis, F op) {
  const extents& d = call.dims();
  const std::int64_t outer = elements_between(d, 0, axis), inner = elements_between(d, axis + 1, d.size());
  if (inner == 1) return op(to.in_shape(call, 0, outer == 1 ? extents{d[axis]} : extents{outer, d[axis]}));
  const int turned = to.add("nn::transpose<0, 2, 1>", {to.in_shape(call, 0, {outer, d[axis], inner})}, call.type(),
                            {outer, inner, d[axis]});
  const int made = op(turned);
  const extents dims = to[made].dims;
  if (dims.back() == 1) return to.shaped(made, {outer, 1, inner});
  return to.add("nn::transpose<0, 2, 1>", {made}, to[made].type, {outer, dims.back(), inner});
}

std::vector<tensor_type> infer_softmax(const op_call& call) { return {{call.type(), call.dims()}}; }
void lower_softmax(lowering& to, const op_call& call) {
  const std::string op = call.called().op == "Softmax" ? "nn::softmax" : "nn::log_softmax";
  const extents& d = call.dims();
  if (d.empty()) call.fail("a scalar has no axis");
  if (call.opset() < 13) {  // over all axes from that one on
    const std::size_t axis = call.axis(call.integer("axis", 1), call.rank());
    const std::int64_t outer = elements_between(d, 0, axis), inner = elements_between(d, axis, d.size());
    extents from = outer == 1 ? extents{inner} : extents{outer, inner};
    if (axis + 1 == d.size()) from = stored_dims(d);
    return to.give(call, 0, to.add(op, {to.in_shape(call, 0, from)}, call.type(), from));
  }
  const std::size_t axis = call.axis(call.integer("axis", -1), call.rank());
  if (axis + 1 == d.size()) return to.give_op(call, op, {to.in(call, 0)});
  to.give(call, 0, along_last(to, call, axis, [&](int from) {
            const extents dims = to[from].dims;
            return to.add(op, {from}, call.type(), dims);
          }));
}
void lower_hardmax(lowering& to, const op_call& call) {
  const extents& d = call.dims();
  if (call.opset() < 13) {  // over all axes from that one on
    const std::size_t axis = call.axis(call.integer("axis", 1), call.rank());
    const extents from{elements_between(d, 0, axis), elements_between(d, axis, d.size())};
    return to.give(call, 0, to.add("nn::hardmax_along<1>", {to.in_shape(call, 0, from)}, call.type(), from));
  }
  const std::size_t axis = call.axis(call.integer("axis", -1), call.rank());
  to.give(call, 0,
          to.add("nn::hardmax_along<" + std::to_string(axis) + ">", {to.in_shape(call, 0, d)}, call.type(), d));
}

std::vector<tensor_type> infer_arg(const op_call& call) {
  extents dims = call.dims();
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  if (call.integer("keepdims", 1) != 0)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return {{element::i64, dims}};
}
void lower_arg(lowering& to, const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  const bool last = call.integer("select_last_index", 0) != 0;
  const extents& d = call.dims();
  if (call.called().op == "ArgMax" && axis + 1 == d.size() && !last) {
    const int from = to.in_shape(call, 0, stored_dims(d));
    extents dims = to[from].dims;
    dims.back() = 1;
    return to.give(call, 0, to.add("nn::argmax", {from}, element::i64, dims));
  }
  extents dims = d;
  dims[axis] = 1;
  to.give(
      call, 0,
      to.add(std::string(call.called().op == "ArgMax" ? "nn::argmax_along<" : "nn::argmin_along<") +
                 std::to_string(axis) + ", lv::reduced_axes::keep, lv::among_equals::" + (last ? "last>" : "first>"),
             {to.in_shape(call, 0, d)}, element::i64, dims));
}

std::int64_t count_of(const op_call& call) {
  return call.opset() < 10 ? call.integer("k", 0) : call.known(1, "k").scalar<std::int64_t>();
}
std::vector<tensor_type> infer_top_k(const op_call& call) {
  extents dims = call.dims();
  const std::size_t axis = call.axis(call.integer("axis", -1), call.rank());
  call.require(count_of(call) > 0 && count_of(call) <= dims[axis], "k is beyond its axis");
  dims[axis] = count_of(call);
  return {{call.type(), dims}, {element::i64, dims}};
}
void lower_top_k(lowering& to, const op_call& call) {
  if (call.integer("sorted", 1) == 0 && call.integer("largest", 1) == 0)
    call.fail("the smallest unsorted are not supported");
  const bool largest = call.integer("largest", 1) != 0;
  const std::size_t axis = call.axis(call.integer("axis", -1), call.rank());
  for (const std::size_t output : {std::size_t{0}, std::size_t{1}}) {
    if (!call.gives(output)) continue;
    to.give(call, output, along_last(to, call, axis, [&](int from) {
              extents dims = to[from].dims;
              const element type = output == 0 ? call.type() : element::i64;
              if (!largest) from = to.add("nn::neg", {from}, call.type(), dims);
              dims.back() = count_of(call);
              int made =
                  to.add("nn::top_k<" + std::to_string(count_of(call)) + "> | nn::part<" + std::to_string(output) + ">",
                         {from}, type, dims);
              if (!largest && output == 0) made = to.add("nn::neg", {made}, type, dims);
              return made;
            }));
  }
}

std::vector<tensor_type> infer_cum_sum(const op_call& call) { return {{call.type(), call.dims()}}; }
void lower_cum_sum(lowering& to, const op_call& call) {
  const std::size_t axis = call.axis(call.known(1, "its axis").scalar<std::int64_t>(), call.rank());
  const extents& d = call.dims();
  const auto option = [&](const char* name) { return call.integer(name, 0) != 0 ? ", true" : ", false"; };
  const std::string options = std::string(option("exclusive")) + option("reverse");
  to.give(call, 0,
          to.add("nn::cum_sum<" + std::to_string(axis) + options + ">", {to.in_shape(call, 0, d)}, call.type(), d));
}

std::vector<op_definition> reduction_definitions() {
  std::vector<op_definition> ops;
  for (const reduction_form& form : reduction_forms) {
    const bool folds = !form.name.starts_with("ReduceLog");
    ops.push_back({form.name, infer_reduce, folds ? fold_reduce : nullptr, lower_reduce});
  }
  ops.insert(ops.end(), {
                            {"Softmax", infer_softmax, nullptr, lower_softmax},
                            {"LogSoftmax", infer_softmax, nullptr, lower_softmax},
                            {"Hardmax", infer_softmax, nullptr, lower_hardmax},
                            {"ArgMax", infer_arg, nullptr, lower_arg},
                            {"ArgMin", infer_arg, nullptr, lower_arg},
                            {"TopK", infer_top_k, nullptr, lower_top_k},
                            {"CumSum", infer_cum_sum, nullptr, lower_cum_sum},
                        });
  return ops;
}

}  // namespace

std::span<const op_definition> reduction_ops() {
  static const std::vector<op_definition> ops = reduction_definitions();
  return ops;
}

}  // namespace levada::onnx
