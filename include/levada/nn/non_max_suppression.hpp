// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/non_max_suppression.hpp: of boxes that overlap the one with the best score (ONNX NonMaxSuppression).

#include <cstdint>
#include <limits>

#include <levada/core/detail/bounded.hpp>
#include <levada/nn/shape_rule.hpp>

namespace levada {

/// What the four numbers of a box are.
enum class box_format : unsigned char {
  corners,  ///< y, x of two opposite corners, in any order
  centre    ///< x, y of the centre, width, height
};

/// A box that was kept: its class and its number.
struct selected_box {
  std::int32_t label, box;

  friend constexpr bool operator==(const selected_box&, const selected_box&) = default;
};

/// How far two boxes overlap: the area of both over the area of either; 0 where one has none.
template <box_format Format>
constexpr float intersection_over_union(const float* a, const float* b) {
  struct sides {
    float top, left, bottom, right;
    constexpr float area() const { return (bottom - top) * (right - left); }
  };
  const auto of = [](const float* at) {
    if constexpr (Format == box_format::centre)
      return sides{at[1] - at[3] / 2, at[0] - at[2] / 2, at[1] + at[3] / 2, at[0] + at[2] / 2};
    else
      return sides{at[0] < at[2] ? at[0] : at[2], at[1] < at[3] ? at[1] : at[3], at[0] < at[2] ? at[2] : at[0],
                   at[1] < at[3] ? at[3] : at[1]};
  };
  const auto smaller = [](float x, float y) { return x < y ? x : y; };
  const auto larger = [](float x, float y) { return x < y ? y : x; };
  const sides u = of(a), v = of(b);
  const sides both{larger(u.top, v.top), larger(u.left, v.left), smaller(u.bottom, v.bottom),
                   smaller(u.right, v.right)};
  if (both.bottom <= both.top || both.right <= both.left) return 0;
  return both.area() / (u.area() + v.area() - both.area());
}

/// For each class at most `Limit` boxes, best first: each has more than `score_threshold` and overlaps none before it
/// by more than `iou_threshold`. Among equal scores the lower number comes first; NaN is no score. Takes a tuple of
/// boxes [N, 4] and scores [classes, N].
template <std::size_t Limit, box_format Format = box_format::corners>
  requires(Limit > 0)
struct non_max_suppression_op : weightless_op {
  static constexpr std::string_view kind = "non_max_suppression";
  static constexpr std::string_view expects = "a tuple of float boxes [N, 4] and float scores [classes, N]";

  float iou_threshold = 0;
  float score_threshold = -std::numeric_limits<float>::infinity();

  template <class In>
  struct shapes;
  template <std::size_t N, std::size_t Classes>
  struct shapes<std::tuple<tensor<float, N, 4>, tensor<float, Classes, N>>> {
    static constexpr std::size_t boxes = N, classes = Classes;
    static constexpr std::size_t most = Classes * (Limit < N ? Limit : N);
  };

  template <class In>
    requires(shapes<In>::most > 0)
  using output = bounded<selected_box, shapes<In>::most>;

  template <class In>
  static constexpr double flops = static_cast<double>(shapes<In>::boxes * shapes<In>::classes);
};

namespace nn {

/// `nn::non_max_suppression<100>(0.5f, 0.25f)`: a hundred boxes of each class.
template <std::size_t Limit, box_format Format = box_format::corners>
constexpr auto non_max_suppression(float iou_threshold,
                                   float score_threshold = -std::numeric_limits<float>::infinity()) {
  return op_stage<"non_max_suppression", non_max_suppression_op<Limit, Format>>{{{}, iou_threshold, score_threshold},
                                                                                {}};
}

}  // namespace nn
}  // namespace levada
