// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression against the other way to say it: while a box is left, the best one is kept and takes those
// with it that it overlaps.

#include "nn/direct.hpp"

#include <levada/backend/detail/define/boxes.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/detail/definition.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

constexpr std::size_t count = 40, classes = 3;
using boxes_type = tensor<float, count, 4>;
using in_type = std::tuple<boxes_type, tensor<float, classes, count>>;

static_assert(std::same_as<out<non_max_suppression_op<5>, in_type>, bounded<selected_box, 15>>);
static_assert(std::same_as<out<non_max_suppression_op<100>, in_type>, bounded<selected_box, 120>>);
static_assert(!op_takes<non_max_suppression_op<5>, std::tuple<tensor<float, 4, 4>, tensor<float, 2, 5>>>);

/// The share of both of 1,000 x 1,000 points that lie in both boxes, of those that lie in either.
double overlap_by_counting(const float* a, const float* b) {
  const auto inside = [](const float* box, int y, int x) {
    const auto between = [](float p, float q, int v) {
      const double at = (v + 0.5) / 1000;
      return std::min(p, q) <= at && at < std::max(p, q);
    };
    return between(box[0], box[2], y) && between(box[1], box[3], x);
  };
  int both = 0, either = 0;
  for (int y = 0; y < 1000; ++y)
    for (int x = 0; x < 1000; ++x) {
      const bool u = inside(a, y, x), v = inside(b, y, x);
      both += u && v, either += u || v;
    }
  return static_cast<double>(both) / either;
}

std::vector<selected_box> kept_of(const in_type& in, std::size_t limit, float iou, float threshold) {
  const auto& [boxes, scores] = in;
  std::vector<selected_box> result;
  for (int label = 0; label < static_cast<int>(classes); ++label) {
    std::vector<int> left;
    for (int i = 0; i < static_cast<int>(count); ++i)
      if (scores(label, i) > threshold) left.push_back(i);
    for (std::size_t n = 0; n < limit && !left.empty(); ++n) {
      const int best = *std::max_element(left.begin(), left.end(),
                                         [&](int a, int b) { return scores(label, a) < scores(label, b); });
      result.push_back({label, best});
      std::erase_if(left, [&](int i) {
        return i == best ||
               intersection_over_union<box_format::corners>(boxes.data() + 4 * best, boxes.data() + 4 * i) > iou;
      });
    }
  }
  return result;
}

void check_boxes(const in_type& in, float iou, float threshold) {
  const auto expected = kept_of(in, 7, iou, threshold);
  const auto check = [&](const auto& computed) {
    CHECK(std::equal(computed.begin(), computed.end(), expected.begin(), expected.end()));
  };
  const non_max_suppression_op<7> op{{}, iou, threshold};
  check(*by_one_kernel<reference>(in, {}, op));
  check(*by_one_kernel<simd>(in, {}, op));
}

}  // namespace

TEST_CASE("two boxes overlap by the area of both over that of either") {
  for (int i = 0; i < 10; ++i) {
    const auto boxes = random_input<tensor<float, 2, 4>>();
    for (float& x : *boxes) x = std::abs(x);
    CHECK(std::abs(static_cast<double>(intersection_over_union<box_format::corners>(boxes->data(), boxes->data() + 4)) -
                   overlap_by_counting(boxes->data(), boxes->data() + 4)) < 0.02);
  }
  const float centre[] = {5, 1, 4, 2}, corners[] = {0, 3, 2, 7}, other[] = {4, 1, 4, 2}, moved[] = {0, 2, 2, 6};
  CHECK(intersection_over_union<box_format::centre>(centre, other) ==
        intersection_over_union<box_format::corners>(corners, moved));
  const float empty[] = {1, 1, 1, 1};
  CHECK(intersection_over_union<box_format::corners>(empty, empty) == 0);
}

TEST_CASE("each class keeps its best boxes, none of which overlap") {
  for (int i = 0; i < 20; ++i) {
    auto in = random_input<in_type>();
    for (const float iou : {0.0f, 0.3f, 0.9f}) check_boxes(*in, iou, -0.5f);
    auto& scores = std::get<1>(*in);
    for (float& s : scores) s = std::round(4 * s);  // equal scores
    scores[3] = not_a_number, scores[50] = infinity, scores[60] = -infinity;
    check_boxes(*in, 0.2f, -infinity);
    check_boxes(*in, 0.2f, 2.0f);
  }
  const auto in = random_input<in_type>();
  CHECK(by_one_kernel<simd>(*in, {}, non_max_suppression_op<7>{{}, 0.5f, 2.0f})->empty());
}
