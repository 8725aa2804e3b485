// SPDX-License-Identifier: Apache-2.0
#include "attention_mask.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "../ops/folding.hpp"

namespace levada::onnx {
namespace {

/// A score with that much less than another has no share in a softmax: exp(-1e4) is 0.
constexpr double hidden = -1e4;
/// Beside that a score is not seen at all, in float as in double.
constexpr double infinitely = -1e30;

/// What a term of constants adds.
constant numbers_of(const network& net, const mask_term& term, element type) {
  const constant& known = net[term.id].known.value();
  if (!term.hides) return known;
  return mapped(known, type, [&](auto x) { return (x != 0) == *term.hides ? term.number : 0.0; });
}

/// In each row of keys one is above that number.
bool has_key_above(const constant& numbers, double least) {
  const std::vector<double> all = numbers.as<double>();
  const auto row = numbers.dims().empty() ? 1 : numbers.dims().back();
  for (auto at = all.begin(); at != all.end(); at += row)
    if (std::ranges::none_of(at, at + row, [&](double x) { return x > least; })) return false;
  return true;
}

/// 0 where the key is not behind the query, and `most` at most where it is.
bool is_causal(const constant& numbers, const attention_scores& scores, double most) {
  const extents& d = numbers.dims();
  const std::size_t rank = scores.dims.size();
  if (d.size() < 2 || !std::equal(d.end() - 2, d.end(), scores.dims.end() - 2)) return false;
  const std::int64_t keys = scores.dims[rank - 1], queries = scores.dims[rank - 2];
  const std::vector<double> all = numbers.as<double>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto key = static_cast<std::int64_t>(i) % keys, query = static_cast<std::int64_t>(i) / keys % queries;
    if (key > query ? !(all[i] <= most) : all[i] != 0) return false;
  }
  return true;
}

/// What two tensors broadcast to that both broadcast to the scores.
extents common_dims(const extents& a, const extents& b) {
  extents dims(std::max(a.size(), b.size()), 1);
  for (const extents* d : {&a, &b})
    for (std::size_t axis = 1; axis <= d->size(); ++axis)
      dims[dims.size() - axis] = std::max(dims[dims.size() - axis], (*d)[d->size() - axis]);
  return dims;
}

constant sum_of(const constant& a, const constant& b) {
  const extents dims = common_dims(a.dims(), b.dims());
  const std::vector<std::int64_t> from_a = broadcast_offsets(a.dims(), dims),
                                  from_b = broadcast_offsets(b.dims(), dims);
  const std::vector<double> x = a.as<double>(), y = b.as<double>();
  std::vector<double> sums;
  for (std::size_t i = 0; i < from_a.size(); ++i)
    sums.push_back(rounded(a.type(), x[static_cast<std::size_t>(from_a[i])] + y[static_cast<std::size_t>(from_b[i])]));
  return constant::of(a.type(), dims, sums);
}

/// Those that are constants, and what they add; zeros are left out.
std::vector<constant> known_of(const network& net, const std::vector<mask_term>& terms, element type) {
  std::vector<constant> all;
  for (const mask_term& term : terms)
    if (net[term.id].known)
      if (constant numbers = numbers_of(net, term, type); !is_zero(numbers)) all.push_back(std::move(numbers));
  return all;
}

}  // namespace

bool is_addition(const network& net, const mask_term& term) {
  if (!term.hides || term.number <= infinitely) return true;
  return term.number <= hidden && net[term.id].known && has_key_above(numbers_of(net, term, element::f64), term.number);
}

bool sees_keys(const network& net, const std::vector<mask_term>& terms, const attention_scores& scores) {
  if (std::ranges::any_of(terms, [&](const mask_term& term) { return !net[term.id].known; })) return false;
  constant sum = constant::of(scores.type, {1}, std::vector<double>{0});
  for (const constant& numbers : known_of(net, terms, scores.type)) sum = sum_of(sum, numbers);
  return has_key_above(sum, infinitely);
}

attention_mask mask_of(network& net, const std::vector<mask_term>& terms, const attention_scores& scores,
                       const std::string& name, std::vector<node>& nodes) {
  attention_mask mask;
  std::vector<constant> known = known_of(net, terms, scores.type);
  std::vector<mask_term> computed;
  std::ranges::copy_if(terms, std::back_inserter(computed), [&](const mask_term& term) { return !net[term.id].known; });
  // Beside others the number matters: a query may see no key but those that are hidden alike.
  const double most = known.size() + computed.size() == 1 ? hidden : -std::numeric_limits<double>::infinity();
  mask.causal = std::erase_if(known, [&](const constant& c) { return is_causal(c, scores, most); }) > 0;

  const auto add = [&](value_id term) {
    if (mask.added == no_value) {
      mask.added = term;
      return;
    }
    node sum;
    sum.op = "Add", sum.opset = 14, sum.name = name;
    sum.inputs = {mask.added, term};
    sum.outputs = {net.add({name + "_mask", scores.type, common_dims(net[mask.added].dims, net[term].dims), {}})};
    mask.added = sum.outputs[0];
    nodes.push_back(std::move(sum));
  };
  if (!known.empty()) {
    constant sum = known[0];
    for (std::size_t i = 1; i < known.size(); ++i) sum = sum_of(sum, known[i]);
    add(net.add(std::move(sum), name + "_mask"));
  }
  for (const mask_term& term : computed) {
    if (!term.hides) {
      add(term.id);
      continue;
    }
    const auto number = [&](bool where) {
      const double adds = where == *term.hides ? term.number : 0;
      return net.add(constant::of(scores.type, {1}, std::vector<double>{adds}), name + (where ? "_yes" : "_no"));
    };
    node chosen;
    chosen.op = "Where", chosen.opset = 16, chosen.name = name;
    chosen.inputs = {term.id, number(true), number(false)};
    chosen.outputs = {net.add({name + "_hidden", scores.type, net[term.id].dims, {}})};
    add(chosen.outputs[0]);
    nodes.push_back(std::move(chosen));
  }
  return mask;
}

}  // namespace levada::onnx
