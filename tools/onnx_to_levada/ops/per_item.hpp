// SPDX-License-Identifier: Apache-2.0
#pragma once
// ops/per_item.hpp: levada's items have no batch axis: an op of several items is one of each.

#include <string>
#include <utility>
#include <vector>

#include "../output/lowering.hpp"
#include "op_call.hpp"

namespace levada::onnx {

/// Each item of a batch by itself: `one` makes the result of an item from its value of the shape `dims` without N.
template <class F>
void per_item(lowering& to, const op_call& call, const extents& item, const extents& item_out, F one) {
  const std::int64_t items = call.dims()[0];
  if (items == 1) return to.give(call, 0, one(to.in_shape(call, 0, item)));
  if (items > 8)
    call.fail("it works on a batch of " + std::to_string(items) +
              ": convert with the batch axis 1 (levada batches by lv::batch<N>)");
  std::vector<int> made;
  extents whole = item, out = item_out;
  whole.insert(whole.begin(), items);
  out.insert(out.begin(), 1);
  const int all = to.in_shape(call, 0, whole);
  for (std::int64_t n = 0; n < items; ++n) {
    extents part = whole;
    part[0] = 1;
    const int slice = to.add("nn::slice<lv::along<0, " + std::to_string(n) + ", " + std::to_string(n + 1) + ">>", {all},
                             call.type(), part);
    made.push_back(to.shaped(one(to.shaped(slice, item)), out));
  }
  out[0] = items;
  to.give(call, 0, to.add("nn::concat<0>", made, call.out().type, out));
}

/// An op whose weights are those of the node `name`, which is the first of them.
inline void per_item(lowering& to, const op_call& call, const extents& item, const extents& item_out,
                     const std::string& name, const std::string& op) {
  bool first = true;
  per_item(to, call, item, item_out, [&](int from) {
    return to.add(std::exchange(first, false) ? name : to.fresh_name(), op, {from}, call.out().type, item_out);
  });
}

/// The shape of an item: without the batch axis.
inline extents item_of(const extents& dims) { return {dims.begin() + 1, dims.end()}; }

}  // namespace levada::onnx
