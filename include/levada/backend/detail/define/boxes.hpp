// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/boxes.hpp: non-maximum suppression: sorted by score, each box against those kept before it.

#include <algorithm>

#include <levada/backend/detail/definition.hpp>
#include <levada/nn/non_max_suppression.hpp>

namespace levada {

template <class Backend, class In, std::size_t Limit, box_format Format>
  requires op_takes<non_max_suppression_op<Limit, Format>, In>
struct definition<Backend, In, non_max_suppression_op<Limit, Format>> {
  using op_type = non_max_suppression_op<Limit, Format>;
  using out_type = typename op_type::template output<In>;
  using shapes = typename op_type::template shapes<In>;

  static constexpr std::size_t scratch_bytes = (shapes::boxes * sizeof(std::int32_t) + 63) / 64 * 64;

  definition(const op_type& op, parameter_values) : op_(op) {}

  void operator()(const In& in, out_type& out, std::byte* scratch) const {
    const auto& [boxes, scores] = in;
    out = {};
    auto* const order = reinterpret_cast<std::int32_t*>(scratch);
    for (std::size_t label = 0; label < shapes::classes; ++label) {
      const float* score = scores.data() + label * shapes::boxes;
      std::int32_t* end = order;
      for (std::size_t i = 0; i < shapes::boxes; ++i)
        if (score[i] > op_.score_threshold) *end++ = static_cast<std::int32_t>(i);
      std::sort(order, end, [score](std::int32_t a, std::int32_t b) {
        return score[a] > score[b] || (score[a] == score[b] && a < b);
      });
      const std::size_t first = out.size();
      for (const std::int32_t* next = order; next != end && out.size() - first < Limit; ++next)
        if (is_apart(boxes, *next, out, first)) out.push_back({static_cast<std::int32_t>(label), *next});
    }
  }

 private:
  template <class Boxes>
  bool is_apart(const Boxes& boxes, std::int32_t box, const out_type& kept, std::size_t first) const {
    for (std::size_t k = first; k < kept.size(); ++k)
      if (intersection_over_union<Format>(boxes.data() + 4 * kept[k].box, boxes.data() + 4 * box) > op_.iou_threshold)
        return false;
    return true;
  }

  op_type op_;
};

}  // namespace levada
