// SPDX-License-Identifier: Apache-2.0
// ops/attention.cpp: attention: what the pass `find_attention` finds, and ops that are written as what it finds.

#include <cmath>
#include <limits>

#include "../output/lowering.hpp"
#include "body.hpp"

namespace levada::onnx {
namespace {

std::vector<tensor_type> infer_attention(const op_call& call) { return {{call.type(), call.out().dims}}; }

void lower_attention(lowering& to, const op_call& call) {
  std::vector<int> from;
  for (std::size_t i = 0; i < call.inputs(); ++i) from.push_back(to.in_shape(call, i, as_matrices(call.dims(i))));
  const std::string options = call.integer("is_causal", 0) != 0 ? "<lv::causal>" : "<>";
  to.give(call, 0,
          to.add("nn::attention" + options + "(" + number_text(call.number("scale", 1), call.type()) + ")",
                 std::move(from), call.type(), as_matrices(call.out().dims)));
}

// --- as nodes of others ---------------------------------------------------------------------------------------------

/// Heads [N, heads, T, D] of one of queries, keys and values.
struct heads {
  std::string value;
  std::int64_t items = 0, count = 0, rows = 0, width = 0;
};

std::string transposed(body& b, const std::string& x, std::vector<std::int64_t> axes) {
  attributes given;
  given["perm"].integers = std::move(axes);
  return b.add("Transpose", {x}, std::move(given));
}
std::string reshaped(body& b, const std::string& x, const std::vector<std::int64_t>& dims) {
  return b.add("Reshape", {x, b.integers(dims)});
}

/// Of x [N, T, count D], or [N, count, T, D] itself.
heads heads_of(body& b, const op_call& call, const std::string& x, const extents& dims, std::int64_t count) {
  if (dims.size() == 4) return {x, dims[0], dims[1], dims[2], dims[3]};
  call.require(dims.size() == 3, "its queries, keys and values have neither three nor four axes");
  call.require(count > 0 && dims[2] % count == 0, "its heads do not divide its channels");
  const std::int64_t width = dims[2] / count;
  const std::string split = reshaped(b, x, {dims[0], dims[1], count, width});
  return {transposed(b, split, {0, 2, 1, 3}), dims[0], count, dims[1], width};
}

/// x [N, count, rows, columns] as [N, groups, count / groups, rows, columns].
std::string in_groups(body& b, const std::string& x, const extents& dims, std::int64_t groups) {
  return reshaped(b, x, {dims[0], groups, dims[1] / groups, dims[2], dims[3]});
}

/// What is added to the scores [N, heads, T, S].
class score_terms {
 public:
  score_terms(body& b, const op_call& call, const heads& q, const heads& k) : b_(b), call_(call), q_(q), k_(k) {}

  /// A tensor that broadcasts to the scores.
  void add(const std::string& x, extents dims) {
    call_.require(dims.size() <= 4 && !dims.empty(), "its mask has more axes than its scores");
    dims.insert(dims.begin(), 4 - dims.size(), 1);
    const std::int64_t scores[] = {q_.items, q_.count, q_.rows, k_.rows};
    for (std::size_t axis = 0; axis < 4; ++axis)
      call_.require(dims[axis] == 1 || dims[axis] == scores[axis], "its mask does not fit its scores");
    terms_.push_back(q_.count == k_.count ? x : in_groups(b_, x, dims, dims[1] == 1 ? 1 : k_.count));
  }
  /// Bools; where they are false, `number` is added.
  void add_kept(const std::string& x, const extents& dims, double number) {
    add(b_.add("Where", {x, b_.number(call_.type(), 0), b_.number(call_.type(), number)}), dims);
  }
  /// A query sees the keys up to its own place.
  void add_causal() {
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < q_.rows * k_.rows; ++i)
      numbers.push_back(i % k_.rows > i / k_.rows ? -std::numeric_limits<double>::infinity() : 0);
    add(b_.constant_of(constant::of(call_.type(), {q_.rows, k_.rows}, numbers)), {q_.rows, k_.rows});
  }

  const std::vector<std::string>& all() const { return terms_; }

 private:
  body& b_;
  const op_call& call_;
  const heads &q_, &k_;
  std::vector<std::string> terms_;
};

/// softmax(q k^T scale + terms) v, as [N, T, heads E] where `joined`.
void attend(body& b, const op_call& call, const heads& q, const heads& k, const heads& v, const score_terms& terms,
            bool joined) {
  call.require(q.width == k.width && k.rows == v.rows && k.count == v.count && q.items == k.items &&
                   q.items == v.items && q.count % k.count == 0,
               "its queries, keys and values do not fit together");
  // Heads of queries that have the same keys are an axis of their own.
  const bool grouped = q.count != k.count;
  const auto grouped_heads = [&](const heads& h) {
    return grouped ? in_groups(b, h.value, {h.items, h.count, h.rows, h.width}, k.count) : h.value;
  };
  const std::string queries = grouped_heads(q), keys = grouped_heads(k), values = grouped_heads(v);
  const std::string keys_turned = grouped ? transposed(b, keys, {0, 1, 2, 4, 3}) : transposed(b, keys, {0, 1, 3, 2});
  const double given = call.number("scale", 0);  // 0 of Microsoft's ops says that it is not given
  const double scale = given == 0 ? 1 / std::sqrt(static_cast<double>(q.width)) : given;
  std::string scores = b.add("MatMul", {queries, keys_turned});
  scores = b.add("Mul", {scores, b.number(call.type(), scale)});
  for (const std::string& term : terms.all()) scores = b.add("Add", {scores, term});
  const std::string made = b.add("MatMul", {b.add("Softmax", {scores}, "axis", -1), values});
  const std::string apart = grouped ? reshaped(b, made, {q.items, q.count, q.rows, v.width}) : made;
  b.give(0, joined ? reshaped(b, transposed(b, apart, {0, 2, 1, 3}), {q.items, q.rows, q.count * v.width}) : apart);
}

void refuse_inputs(const op_call& call, std::initializer_list<std::pair<std::size_t, const char*>> refused) {
  for (const auto& [i, what] : refused)
    if (call.has(i)) call.fail(std::string(what) + " is not supported");
}

/// ONNX's, from opset 23 on.
std::optional<function_def> expand_attention(const op_call& call) {
  refuse_inputs(call, {{4, "a past of keys"}, {5, "a past of values"}, {6, "a length of keys of each item"}});
  if (call.gives(1) || call.gives(2)) call.fail("keys and values are not given back");
  if (call.gives(3)) call.fail("its scores are not given");
  if (call.number("softcap", 0) != 0) call.fail("its softcap is not supported");
  body b(call);
  const heads q = heads_of(b, call, body::in(0), call.dims(0), call.integer("q_num_heads", 0)),
              k = heads_of(b, call, body::in(1), call.dims(1), call.integer("kv_num_heads", 0)),
              v = heads_of(b, call, body::in(2), call.dims(2), call.integer("kv_num_heads", 0));
  call.require(q.count % k.count == 0, "its heads of keys do not divide those of queries");
  score_terms terms(b, call, q, k);
  if (call.has(3) && call.type(3) == element::boolean)
    terms.add_kept(body::in(3), call.dims(3), -std::numeric_limits<double>::infinity());
  else if (call.has(3))
    terms.add(body::in(3), call.dims(3));
  if (call.integer("is_causal", 0) != 0) terms.add_causal();
  attend(b, call, q, k, v, terms, call.rank() == 3);
  return b.result();
}

/// What Microsoft's ops share: a mask of keys N, S at input `mask`, a bias of scores at `bias`, causal or not.
void attend_as_microsoft(body& b, const op_call& call, const heads& q, const heads& k, const heads& v, std::size_t mask,
                         std::size_t bias) {
  score_terms terms(b, call, q, k);
  if (call.has(mask)) {
    call.require(call.dims(mask) == extents{k.items, k.rows}, "its mask of keys is not N, S");
    terms.add_kept(b.cast(body::in(mask), element::boolean), {k.items, 1, 1, k.rows},
                   call.number("mask_filter_value", -10000));
  }
  if (call.has(bias)) terms.add(body::in(bias), call.dims(bias));
  if (call.integer("unidirectional", 0) != 0) {
    call.require(q.rows == k.rows, "it is causal, and has another number of keys than of queries");
    terms.add_causal();
  }
  attend(b, call, q, k, v, terms, true);
}

std::vector<std::string> split(body& b, const std::string& x, std::int64_t axis,
                               const std::vector<std::int64_t>& parts) {
  std::vector<std::string> all;
  std::int64_t at = 0;
  for (const std::int64_t part : parts) {
    all.push_back(b.add("Slice", {x, b.integers({at}), b.integers({at + part}), b.integers({axis})}));
    at += part;
  }
  return all;
}

std::optional<function_def> expand_multi_head_attention(const op_call& call) {
  refuse_inputs(call, {{6, "a past of keys"}, {7, "a past of values"}, {8, "a length of the past"}, {9, "a cache"}});
  for (std::size_t i = 1; i < call.outputs(); ++i)
    if (call.gives(i)) call.fail("keys, values and scores are not given back");
  call.require(call.has(1) && call.has(2) && call.rank() == 3, "it takes queries, keys and values in one tensor");
  const std::int64_t count = call.integer("num_heads", 0);
  body b(call);
  std::string values[] = {body::in(0), body::in(1), body::in(2)};
  if (call.has(3)) {
    call.require(call.rank(1) == 3 && call.rank(2) == 3, "a bias of keys that are heads is not supported");
    const std::vector<std::string> biases =
        split(b, body::in(3), 0, {call.dims(0)[2], call.dims(1)[2], call.dims(2)[2]});
    for (std::size_t i = 0; i < 3; ++i) values[i] = b.add("Add", {values[i], biases[i]});
  }
  const heads q = heads_of(b, call, values[0], call.dims(0), count),
              k = heads_of(b, call, values[1], call.dims(1), count),
              v = heads_of(b, call, values[2], call.dims(2), count);
  attend_as_microsoft(b, call, q, k, v, 4, 5);
  return b.result();
}

/// With the product that makes queries, keys and values.
std::optional<function_def> expand_packed_attention(const op_call& call) {
  refuse_inputs(call, {{4, "a past"}, {6, "a length of the past"}});
  if (call.gives(1)) call.fail("keys and values are not given back");
  if (call.integer("do_rotary", 0) != 0) call.fail("its rotary embedding is not supported");
  call.require(call.rank() == 3 && call.rank(1) == 2,
               "its input and its weights have other axes than N, T, C and C, D");
  const std::int64_t third = call.dims(1)[1] / 3, count = call.integer("num_heads", 0);
  const std::vector<std::int64_t> widths = call.integers("qkv_hidden_sizes", {third, third, third});
  call.require(widths.size() == 3 && widths[0] + widths[1] + widths[2] == call.dims(1)[1],
               "its weights are not those of queries, keys and values");
  body b(call);
  std::string made = b.add("MatMul", {body::in(0), body::in(1)});
  if (call.has(2)) made = b.add("Add", {made, body::in(2)});
  const std::vector<std::string> parts = split(b, made, 2, widths);
  std::vector<heads> all;
  for (std::size_t i = 0; i < 3; ++i)
    all.push_back(heads_of(b, call, parts[i], {call.dims()[0], call.dims()[1], widths[i]}, count));
  attend_as_microsoft(b, call, all[0], all[1], all[2], 3, 5);
  return b.result();
}

}  // namespace

std::span<const op_definition> attention_ops() {
  static const std::vector<op_definition> ops{
      {"DotProductAttention", infer_attention, nullptr, lower_attention},
      expanded("Attention", expand_attention),
      expanded("Attention", expand_packed_attention, "com.microsoft"),
      expanded("MultiHeadAttention", expand_multi_head_attention, "com.microsoft"),
  };
  return ops;
}

}  // namespace levada::onnx
