// SPDX-License-Identifier: Apache-2.0
// ops/products.cpp: products of matrices.

#include <algorithm>
#include <map>

#include "../output/lowering.hpp"
#include "folding.hpp"
#include "op_definition.hpp"
#include "quantization.hpp"

namespace levada::onnx {
namespace {

std::vector<tensor_type> infer_matmul(const op_call& call) {
  extents a = call.dims(0), b = call.dims(1);
  call.require(!a.empty() && !b.empty(), "a scalar has no matrix product");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  call.require(a.back() == b[b.size() - 2], "its matrices do not fit together");
  extents dims = broadcast_of(call, extents(a.begin(), a.end() - 2), extents(b.begin(), b.end() - 2));
  if (!row) dims.push_back(a[a.size() - 2]);
  if (!column) dims.push_back(b.back());
  return {{call.type(), dims}};
}
std::vector<constant> fold_matmul(const op_call& call) {
  extents a = call.dims(0), b = call.dims(1);
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const extents batch = broadcast_of(call, extents(a.begin(), a.end() - 2), extents(b.begin(), b.end() - 2));
  const auto left = broadcast_offsets(extents(a.begin(), a.end() - 2), batch),
             right = broadcast_offsets(extents(b.begin(), b.end() - 2), batch);
  const auto rows = static_cast<std::size_t>(a[a.size() - 2]), inner = static_cast<std::size_t>(a.back()),
             columns = static_cast<std::size_t>(b.back());
  return {by_number(call.type(), [&]<class T>(T) {
    const std::vector<T> x = call.in(0).known->as<T>(), y = call.in(1).known->as<T>();
    std::vector<T> made;
    for (std::size_t i = 0; i < left.size(); ++i)
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) {
          // Integers wrap around.
          std::conditional_t<std::is_integral_v<T>, std::uint64_t, T> sum{};
          for (std::size_t k = 0; k < inner; ++k)
            sum += static_cast<decltype(sum)>(x[(static_cast<std::size_t>(left[i]) * rows + r) * inner + k]) *
                   static_cast<decltype(sum)>(y[(static_cast<std::size_t>(right[i]) * inner + k) * columns + c]);
          made.push_back(static_cast<T>(sum));
        }
    return constant::of(call.type(), call.out().dims, made);
  })};
}

constant transposed(const constant& matrix) {
  const std::int64_t rows = matrix.dims()[0], columns = matrix.dims()[1];
  std::vector<std::int64_t> offsets;
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r) offsets.push_back(r * columns + c);
  return picked(matrix, {columns, rows}, offsets);
}

/// x [..., N] by a constant [N, Outputs]: a dense layer, whose weight is [Outputs, N].
int dense(lowering& to, const op_call& call, int from, const constant& weight, const constant* bias) {
  const std::string name = to.fresh_name();
  to.weight(name, "weight", weight);
  if (bias != nullptr) to.weight(name, "bias", *bias);
  extents dims = to[from].dims;
  if (to[from].axes != picture::none) {  // levada wants to be told that its rows are features
    dims = {dims[0] * dims[1], dims[2]};
    from = to.shaped(from, dims);
  }
  dims.back() = weight.dims()[0];
  return to.add(name,
                "nn::dense<\"" + name + "\", " + std::to_string(weight.dims()[0]) +
                    (bias == nullptr ? ", lv::no_bias" : "") + ">(w)",
                {from}, call.type(), dims);
}

void lower_matmul(lowering& to, const op_call& call) {
  const extents &a = call.dims(0), &b = call.dims(1);
  if (!is_floating(call.type()) && size_of(call.type()) < 4)
    call.fail("it multiplies integers of less than 32 bits, which do not hold its sums: cast them");
  if (call.is_known(1) && b.size() == 2 && is_floating(call.type())) {
    // A third input is the bias that `fold_affine` has found behind it.
    const constant* bias = call.has(2) ? &call.known(2, "its bias") : nullptr;
    return to.give(call, 0, dense(to, call, to.in(call, 0), transposed(*call.in(1).known), bias));
  }
  // A row or a column of rank 1 is a matrix of one.
  extents left = a, right = b;
  if (left.size() == 1) left.insert(left.begin(), 1);
  if (right.size() == 1) right.push_back(1);
  left = as_matrices(left), right = as_matrices(right);
  extents dims = broadcast_of(call, extents(left.begin(), left.end() - 2), extents(right.begin(), right.end() - 2));
  dims.push_back(left[left.size() - 2]);
  dims.push_back(right.back());
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (call.is_known(i) && !call.is_known(1 - i) && is_floating(call.type())) {
      const extents& parameter = i == 0 ? left : right;
      const std::string name = to.fresh_name();
      to.weight(name, "value", call.in(i).known->shaped(parameter));
      const int other = to.in_shape(call, 1 - i, i == 0 ? right : left);
      return to.give(call, 0,
                     to.add(name,
                            std::string(i == 0 ? "nn::parameter_matmul<\"" : "nn::matmul_parameter<\"") + name +
                                "\", " + list_of(parameter) + ">(w)",
                            {other}, call.type(), dims));
    }
  to.give(call, 0, to.add("nn::matmul", {to.in_shape(call, 0, left), to.in_shape(call, 1, right)}, call.type(), dims));
}

// --- Gemm -----------------------------------------------------------------------------------------------------------

std::vector<tensor_type> infer_gemm(const op_call& call) {
  const bool turn_a = call.integer("transA", 0) != 0, turn_b = call.integer("transB", 0) != 0;
  const extents &a = call.dims(0), &b = call.dims(1);
  call.require(a.size() == 2 && b.size() == 2, "its inputs are no matrices");
  call.require(a[turn_a ? 0 : 1] == b[turn_b ? 1 : 0], "its matrices do not fit together");
  return {{call.type(), {a[turn_a ? 1 : 0], b[turn_b ? 0 : 1]}}};
}
constant scaled(const constant& known, double factor) {
  if (factor == 1) return known;
  return mapped(known, known.type(), [&](auto x) { return rounded(known.type(), static_cast<double>(x) * factor); });
}
void lower_gemm(lowering& to, const op_call& call) {
  const double alpha = call.number("alpha", 1), beta = call.number("beta", 1);
  const bool turn_a = call.integer("transA", 0) != 0, turn_b = call.integer("transB", 0) != 0;
  const element type = call.type();
  const extents& out = call.out().dims;
  if (!is_floating(type)) call.fail("it is of integers");
  int left = to.in_shape(call, 0, call.dims(0));
  if (turn_a) left = to.add("nn::transpose<1, 0>", {left}, type, {call.dims(0)[1], call.dims(0)[0]});
  int made = -1;
  bool has_sum = call.has(2) && beta != 0;
  if (call.is_known(1)) {
    const constant weight = scaled(turn_b ? *call.in(1).known : transposed(*call.in(1).known), alpha);
    const extents bias = has_sum ? without_leading_ones(call.dims(2)) : extents();
    const bool is_bias = has_sum && call.is_known(2) && bias == extents{out[1]};
    constant sum;
    if (is_bias) sum = scaled(call.in(2).known->shaped(bias), beta);
    if (to[left].dims[0] == 1) left = to.shaped(left, {to[left].dims[1]});
    made = dense(to, call, left, weight, is_bias ? &sum : nullptr);
    has_sum = has_sum && !is_bias;
  } else {
    int right = to.in_shape(call, 1, call.dims(1));
    if (turn_b) right = to.add("nn::transpose<1, 0>", {right}, type, {call.dims(1)[1], call.dims(1)[0]});
    made = to.add("nn::matmul", {left, right}, type, out);
    if (alpha != 1) made = to.add("nn::scale(" + number_text(alpha, type) + ")", {made}, type, out);
  }
  if (has_sum) {
    const extents dims = to[made].dims;
    int sum = to.in(call, 2);
    if (beta != 1) sum = to.add("nn::scale(" + number_text(beta, type) + ")", {sum}, type, to[sum].dims);
    made = to.add("nn::add", {made, sum}, type, dims);
  }
  to.give(call, 0, made);
}

// --- QGemm, of ONNX Runtime: int8 weights, one item -----------------------------------------------------------------

namespace qgemm_input {
constexpr std::size_t a = 0, a_scale = 1, b = 3, b_scale = 4, b_zero_point = 5, bias = 6, y_scale = 7, y_zero_point = 8;
}

std::vector<tensor_type> infer_qgemm(const op_call& call) {
  using namespace qgemm_input;
  const bool turn_b = call.integer("transB", 0) != 0;
  const extents &left = call.dims(a), &right = call.dims(b);
  call.require(left.size() == 2 && left[0] == 1 && call.integer("transA", 0) == 0 && call.number("alpha", 1) == 1,
               "it is no matrix times one item");
  call.require(right.size() == 2 && left[1] == right[turn_b ? 1 : 0], "its matrices do not fit together");
  return {{call.has(y_scale) ? call.type(y_zero_point) : element::f32, {1, right[turn_b ? 0 : 1]}}};
}
void lower_qgemm(lowering& to, const op_call& call) {
  using namespace qgemm_input;
  const bool turn_b = call.integer("transB", 0) != 0;
  const std::optional<constant> weight =
      as_int8(call.known(b, "its weight"),
              call.has(b_zero_point) ? &call.known(b_zero_point, "its zero point") : nullptr, turn_b ? 0 : 1);
  if (!weight) call.fail("a weight without its zero point is no int8");
  const std::int64_t outputs = call.out().dims[1];
  const std::string name = to.fresh_name();
  to.weight(name, "weight", turn_b ? *weight : transposed(*weight));
  to.weight(name, "weight_scale", scales_of_outputs(call.known(b_scale, "its weight's scale"), outputs));
  if (call.has(bias)) to.weight(name, "bias", call.known(bias, "its bias").shaped({outputs}));
  const element type = call.out().type;
  to.give(call, 0,
          to.add(name,
                 "nn::qlinear_dense<\"" + name + "\", " + std::to_string(outputs) + ", " +
                     std::string(names_of(type)->cpp) + (call.has(bias) ? "" : ", lv::no_bias") + ">(w, {" +
                     quantization_text(call, a_scale) + ", " +
                     (call.has(y_scale) ? quantization_text(call, y_scale) : "{}") +
                     (call.integer("relu", 0) != 0 ? ", true})" : "})"),
                 {to.in_shape(call, a, {call.dims(a)[1]})}, type, {outputs}));
}

// --- Einsum: a product of two matrices with axes in other places --------------------------------------------------

struct einsum {
  std::vector<std::string> inputs;
  std::string output;
};
einsum einsum_of(const op_call& call) {
  einsum e;
  std::string text;
  for (const char c : call.text("equation", ""))
    if (c != ' ') text += c;
  if (text.find('.') != std::string::npos) call.fail("an equation with \"...\" is not supported");
  const std::size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  e.inputs.emplace_back();
  for (const char c : left) c == ',' ? void(e.inputs.emplace_back()) : void(e.inputs.back() += c);
  if (arrow != std::string::npos) {
    e.output = text.substr(arrow + 2);
  } else {
    std::map<char, int> seen;
    for (const std::string& in : e.inputs)
      for (const char c : in) ++seen[c];
    for (const auto& [letter, count] : seen)
      if (count == 1) e.output += letter;
  }
  call.require(e.inputs.size() == call.inputs(), "its equation has another number of inputs");
  for (std::size_t i = 0; i < e.inputs.size(); ++i)
    call.require(e.inputs[i].size() == call.dims(i).size(), "its equation does not fit its inputs");
  return e;
}
std::map<char, std::int64_t> letters_of(const op_call& call, const einsum& e) {
  std::map<char, std::int64_t> extent;
  for (std::size_t i = 0; i < e.inputs.size(); ++i)
    for (std::size_t axis = 0; axis < e.inputs[i].size(); ++axis) {
      const auto [found, is_new] = extent.emplace(e.inputs[i][axis], call.dims(i)[axis]);
      call.require(is_new || found->second == call.dims(i)[axis], "an axis of its equation has two extents");
    }
  return extent;
}
std::vector<tensor_type> infer_einsum(const op_call& call) {
  const einsum e = einsum_of(call);
  const std::map<char, std::int64_t> extent = letters_of(call, e);
  extents dims;
  for (const char c : e.output) {
    call.require(extent.contains(c), "its result has an axis that no input has");
    dims.push_back(extent.at(c));
  }
  return {{call.type(), dims}};
}
int arranged(lowering& to, const op_call& call, int from, const std::string& has, const std::string& wanted) {
  extents order, dims;
  for (const char c : wanted) {
    order.push_back(static_cast<std::int64_t>(has.find(c)));
    dims.push_back(to[from].dims[has.find(c)]);
  }
  if (has == wanted) return from;
  return to.add("nn::transpose<" + list_of(order) + ">", {from}, call.type(), dims);
}
void lower_einsum(lowering& to, const op_call& call) {
  const einsum e = einsum_of(call);
  const std::map<char, std::int64_t> extent = letters_of(call, e);
  for (const std::string& in : e.inputs)
    for (const char c : in)
      call.require(std::ranges::count(in, c) == 1, "an input that has an axis twice is not supported");
  const auto extents_of = [&](const std::string& letters) {
    extents dims;
    for (const char c : letters) dims.push_back(extent.at(c));
    return dims;
  };
  const auto product = [&](const std::string& letters) { return elements_of(extents_of(letters)); };
  if (e.inputs.size() == 1) {
    std::string summed;
    extents axes;
    for (const char c : e.inputs[0])
      if (e.output.find(c) == std::string::npos) summed += c;
    const int turned = arranged(to, call, to.in_shape(call, 0, call.dims()), e.inputs[0], e.output + summed);
    const int flat = to.shaped(turned, {product(e.output), product(summed)});
    return to.give(call, 0,
                   summed.empty() ? flat : to.add("nn::reduce_sum<-1>", {flat}, call.type(), {product(e.output), 1}));
  }
  call.require(e.inputs.size() == 2, "more than two inputs are not supported");
  std::string batch, left, right, summed;
  const std::string &a = e.inputs[0], &b = e.inputs[1];
  for (const char c : a + b) {
    if ((batch + left + right + summed).find(c) != std::string::npos) continue;
    const bool in_a = a.find(c) != std::string::npos, in_b = b.find(c) != std::string::npos,
               out = e.output.find(c) != std::string::npos;
    call.require((in_a && in_b) || out, "an axis that is summed in one input alone is not supported");
    (in_a && in_b ? (out ? batch : summed) : in_a ? left : right) += c;
  }
  const std::int64_t batches = product(batch), rows = product(left), columns = product(right), inner = product(summed);
  const int x = to.shaped(arranged(to, call, to.in_shape(call, 0, call.dims(0)), a, batch + left + summed),
                          {batches, rows, inner});
  const int y = to.shaped(arranged(to, call, to.in_shape(call, 1, call.dims(1)), b, batch + summed + right),
                          {batches, inner, columns});
  const int made = to.add("nn::matmul", {x, y}, call.type(), {batches, rows, columns});
  to.give(call, 0,
          arranged(to, call, to.shaped(made, extents_of(batch + left + right)), batch + left + right, e.output));
}

constexpr op_definition product_definitions[] = {
    {"MatMul", infer_matmul, fold_matmul, lower_matmul},
    {"Gemm", infer_gemm, nullptr, lower_gemm},
    {"Einsum", infer_einsum, nullptr, lower_einsum},
    {"QGemm", infer_qgemm, nullptr, lower_qgemm, "com.microsoft"},
};

}  // namespace

std::span<const op_definition> product_ops() { return product_definitions; }

}  // namespace levada::onnx
