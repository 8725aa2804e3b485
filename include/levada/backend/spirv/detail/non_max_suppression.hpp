// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/non_max_suppression.hpp: the best box that is left, again and again: a workgroup for each class,
// which keeps a bit for each box that is out. Then the classes' boxes move together.

#include <levada/backend/spirv/detail/elements.hpp>
#include <levada/backend/spirv/detail/rows.hpp>
#include <levada/nn/non_max_suppression.hpp>

namespace levada {

namespace detail {

/// `intersection_over_union` of two boxes of a row of them.
template <box_format Format, class Boxes>
struct box_overlap {
  const Boxes& boxes;
  uniform<std::int32_t> lead;

  template <class V>
  struct sides {
    V top, left, bottom, right;
    constexpr V area() const { return (bottom - top) * (right - left); }
  };
  template <class I>
  constexpr auto box(const I& index) const {
    const auto at = [&](int k) { return boxes(index * 4 + k + lead); };
    const auto a = at(0), b = at(1), c = at(2), d = at(3);
    using box_sides = sides<std::remove_const_t<decltype(a)>>;
    if constexpr (Format == box_format::centre)
      return box_sides{b - d / 2.0f, a - c / 2.0f, b + d / 2.0f, a + c / 2.0f};
    else
      return box_sides{smaller(a, c), smaller(b, d), larger(a, c), larger(b, d)};
  }
  template <class Box>
  static constexpr auto of(const Box& u, const Box& v) {
    const Box both{larger(u.top, v.top), larger(u.left, v.left), smaller(u.bottom, v.bottom),
                   smaller(u.right, v.right)};
    return select(both.bottom <= both.top || both.right <= both.left, 0.0f,
                  both.area() / (u.area() + v.area() - both.area()));
  }

 private:
  template <class V>
  static constexpr V smaller(const V& x, const V& y) {
    return select(x < y, x, y);
  }
  template <class V>
  static constexpr V larger(const V& x, const V& y) {
    return select(x < y, y, x);
  }
};

template <std::size_t Count, std::size_t Limit, box_format Format, class Team>
struct suppress_source {
  uniform<std::int32_t> boxes_lead, scores_lead;
  uniform<float> iou_threshold, score_threshold;

  static constexpr int count = static_cast<int>(Count), words = Team::length;

  template <class G, class Boxes, class Scores, class Kept, class Counts>
  constexpr void operator()(const G& g, const Boxes& boxes, const Scores& scores, const Kept& kept,
                            const Counts& counts) const {
    const box_overlap<Format, Boxes> overlap{boxes, boxes_lead};
    const auto label = Team::row(g);
    const auto out = g.template shared<std::uint32_t, Count / 32 + 1>();
    Team::each(g, [&](auto word) { out[word] = 0u; });
    const auto last = g.var(-1), found = g.var(0);
    g.loop(0, static_cast<int>(Limit), [&](auto round) {
      const auto chosen = last.get();
      const auto chosen_box = overlap.box(max(chosen, 0));
      // Each invocation has words of its own: what overlaps the box chosen last goes out, and the best of the others is
      // found.
      const auto best = Team::fold(
          g, std::pair{g.value(0.0f), g.value(-1)},
          [&](auto word, auto so_far) {
            const auto [score, index, bits] =
                g.fold(0, 32, std::tuple{so_far.first, so_far.second, out(word)}, [&](auto bit, auto s) {
                  const auto& [high, at, gone] = s;
                  const auto i = word * 32 + bit, box = min(i, count - 1);
                  const auto goes =
                      chosen >= 0 && (box == chosen || overlap.of(chosen_box, overlap.box(box)) > iou_threshold);
                  const auto now = gone | select(goes, g.template literal<std::uint32_t>(1) << to_uint(bit), 0u);
                  const auto x = scores(label * count + box + scores_lead);
                  const auto stays = i < count && ((now >> to_uint(bit)) & 1u) == 0u && x > score_threshold;
                  const auto better = stays && (at < 0 || x > high);
                  return std::tuple{select(better, x, high), select(better, i, at), now};
                });
            out[word] = bits;
            return std::pair{score, index};
          },
          [](const auto& a, const auto& b) {
            const auto second =
                b.second >= 0 && (a.second < 0 || b.first > a.first || (b.first == a.first && b.second < a.second));
            return std::pair{select(second, b.first, a.first), select(second, b.second, a.second)};
          });
      last = best.second;
      found += select(best.second >= 0, 1, 0);
      Team::once(g, [&] { kept(label, round) = best.second; });
      g.barrier();
    });
    Team::once(g, [&] { counts(label) = found.get(); });
  }
};

/// Behind the boxes of the classes before. `Most` pairs of words, then the number of boxes as two.
template <std::size_t Classes, std::size_t Most>
struct join_kept_source {
  template <class G, class Kept, class Counts, class Out>
  constexpr void operator()(const G& g, const Kept& kept, const Counts& counts, const Out& out) const {
    constexpr int classes = static_cast<int>(Classes), most = static_cast<int>(Most);
    const auto round = g.x(), label = g.y();
    const auto sum_up_to = [&](const auto& end) {
      return g.fold(0, end, 0, [&](auto c, auto sum) { return sum + counts(c); });
    };
    const auto place = sum_up_to(label) + round;
    g.when(round < counts(label), [&] {
      out(place * 2) = label;
      out(place * 2 + 1) = kept(label, round);
    });
    g.when(round + label == 0, [&] {
      out(2 * most) = sum_up_to(classes);
      out(2 * most + 1) = 0;
    });
  }
};

}  // namespace detail

template <class In, std::size_t Limit, box_format Format>
  requires op_takes<non_max_suppression_op<Limit, Format>, In> &&
           (non_max_suppression_op<Limit, Format>::template shapes<In>::boxes <= 65536)
struct spirv_kernel<In, non_max_suppression_op<Limit, Format>> : dispatch_kernel {
  static constexpr bool takes_several = true;
  using op_type = non_max_suppression_op<Limit, Format>;
  using out_type = typename op_type::template output<In>;
  using shapes = typename op_type::template shapes<In>;
  static constexpr std::size_t limit = shapes::most / shapes::classes;

  using kept = tensor<std::int32_t, shapes::classes, limit>;
  using counts = tensor<std::int32_t, shapes::classes>;
  static constexpr std::size_t counts_offset = (sizeof(kept) + 255) / 256 * 256;
  static constexpr std::size_t scratch_bytes = counts_offset + sizeof(counts);

  spirv_kernel(const op_type& op, parameter_values) {
    // A bounded sequence is its values, then their number.
    static_assert(sizeof(out_type) == (shapes::most + 1) * 8 && sizeof(selected_box) == 8);
    using team =
        detail::row_team<shapes::classes, shapes::boxes / 32 + 1, 1>;  // a workgroup each, as the bits are shared
    using boxes = detail::led_row_of<std::tuple_element_t<0, In>>;
    using scores = detail::led_row_of<std::tuple_element_t<1, In>>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    const bound_tensor boxes_kept{buffer_role::scratch}, number_kept{buffer_role::scratch, counts_offset};
    detail::add_for_tensors<In>(*this, [&](const auto& places) {
      add_bound_grid<"suppress", std::tuple<boxes, scores>, std::tuple<kept, counts>, typename team::over>(
          *this,
          detail::suppress_source<shapes::boxes, limit, Format, team>{
              places[0].lead, places[1].lead, {op.iou_threshold}, {op.score_threshold}},
          {places[0].as(buffer_role::input), places[1].as(buffer_role::input), boxes_kept, number_kept});
      add_bound_grid<"join_kept", std::tuple<kept, counts>, std::tuple<tensor<std::int32_t, 2 * shapes::most + 2>>,
                     grid<limit, shapes::classes>>(*this, detail::join_kept_source<shapes::classes, shapes::most>{},
                                                   {boxes_kept, number_kept, bound_tensor{buffer_role::output}});
    });
  }
};

}  // namespace levada
