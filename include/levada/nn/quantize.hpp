// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/quantize.hpp: a part of a pipeline of float computed with integers: its conv2d and dense as qlinear ops
// (nn/quantized.hpp), each with the scale that `levada::calibrate` (interop/calibrate.hpp) has found for what it takes.
//
//   quantize<std::int8_t>(nn::conv2d<"conv1", 8, size<5>>(w) | nn::relu | ... | nn::dense<"fc", 10>(w),
//   scales<box_scales>)
//
// becomes quantize_linear | conv1 | ... | fc, of which all but the last give integers; fc gives float again. A relu
// behind an op with weights is the lower end of what this gives; pools and moves go on with integers. Before there is a
// table, `to_calibrate` stands in its place, and the part is computed in float.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/rebuilt.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/move.hpp>
#include <levada/nn/pool2d.hpp>
#include <levada/nn/quantized.hpp>
#include <levada/nn/reshape.hpp>

namespace levada {

/// What a stage with weights takes, as uint8.
struct stage_scale {
  std::string_view stage;
  quantization takes;
};

/// What a calibration has found. Values of static storage.
struct scale_table {
  std::string_view origin;  ///< what was observed
  std::span<const stage_scale> stages{};
  std::size_t labelled = 0;       ///< the items that the accuracy was measured with; 0: it was not
  double accuracy = 0;            ///< of the pipeline in float
  double quantized_accuracy = 0;  ///< of the pipeline as integers

  constexpr bool has(std::string_view stage) const {
    for (const stage_scale& s : stages)
      if (s.stage == stage) return true;
    return false;
  }
  /// What a stage that it has takes.
  constexpr quantization of(std::string_view stage) const {
    for (const stage_scale& s : stages)
      if (s.stage == stage) return s.takes;
    return {};
  }
};

/// The accuracy that integers cost, rounded up to a thousandth of a point.
constexpr points loss_of(const scale_table& table) {
  const double thousandths = (table.accuracy - table.quantized_accuracy) * 1e5;
  auto whole = static_cast<std::int64_t>(thousandths);
  if (static_cast<double>(whole) < thousandths - 1e-6) ++whole;
  return {whole};
}

/// A table as a calibration: `scales<box_scales>`.
template <const scale_table& Table>
struct scales_of {
  static constexpr const scale_table& table = Table;
};
template <const scale_table& Table>
inline constexpr scales_of<Table> scales{};

/// No table yet.
struct uncalibrated {};
inline constexpr uncalibrated to_calibrate{};

/// What is known of quantized stages: from the first op with weights to the last, and what they lost when they were
/// calibrated.
template <class Scales, fixed_string First, fixed_string Last>
struct quantized_stages {
  static constexpr auto first = First;
  static constexpr auto last = Last;
  static constexpr bool is_measured = false;
};
template <const scale_table& Table, fixed_string First, fixed_string Last>
struct quantized_stages<scales_of<Table>, First, Last> {
  static constexpr auto first = First;
  static constexpr auto last = Last;
  static constexpr bool is_measured = Table.labelled != 0;
  static constexpr points loss = loss_of(Table);
};

template <fixed_string Stage, class Op>
struct this_stage_has_no_form_of_integers : detail::mistake {};
struct nothing_to_quantize_there_is_no_conv2d_and_no_dense : detail::mistake {};
template <fixed_string Stage>
struct scales_are_of_another_pipeline_calibrate_again : detail::mistake {};

/// A part that is to be calibrated: computed in float until then.
template <class Part>
struct quantized_part {
  Part part;
};

namespace detail {

template <class Part>
inline constexpr bool is_part<quantized_part<Part>> = true;
template <class Part, class Device>
struct flatten<quantized_part<Part>, Device> : flatten<Part, Device> {};
template <class Part, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(quantized_part<Part>& quantized, Visit& visit) {
  for_each_stage(quantized.part, visit);
}

/// An op with weights as one of integers.
template <class Op>
struct form_of_integers;
template <std::size_t Filters, class... Options>
struct form_of_integers<conv2d_op<Filters, Options...>> {
  template <class To>
  using op = qlinear_conv2d_op<Filters, To, float, Options...>;
  template <class To>
  static constexpr op<To> make(const qlinear_numbers& numbers) {
    return {{}, numbers};
  }
};
template <std::size_t Outputs, class... Options>
struct form_of_integers<dense_op<Outputs, Options...>> {
  template <class To>
  using op = qlinear_dense_op<Outputs, To, float, Options...>;
  template <class To>
  static constexpr op<To> make(const qlinear_numbers& numbers) {
    return {numbers};
  }
};

/// Stages, and what else stands between them, are one of these to quantized stages.
enum class quantized_role : std::uint8_t {
  weighs,    ///< conv2d, dense
  relu,      ///< part of what weighs
  same,      ///< computes with integers as it does with numbers
  no_stage,  ///< a mark
  other
};
template <class Part>
inline constexpr quantized_role quantized_role_of = is_stage<Part> ? quantized_role::other : quantized_role::no_stage;
template <fixed_string Name, class Op>
inline constexpr quantized_role quantized_role_of<op_stage<Name, Op>> = [] {
  if constexpr (requires { sizeof(form_of_integers<Op>); })
    return quantized_role::weighs;
  else if constexpr (std::same_as<Op, relu_op>)
    return quantized_role::relu;
  else if constexpr (Op::kind == "max_pool2d" || (std::derived_from<Op, moving_op> && Op::kind != "pad"))
    return quantized_role::same;
  else
    return quantized_role::other;
}();

template <class Part>
constexpr auto taken_apart(Part part) {
  return std::tuple<Part>(std::move(part));
}
template <class Left, class Right>
constexpr auto taken_apart(link<Left, Right> parts) {
  return std::tuple_cat(taken_apart(std::move(parts.left)), taken_apart(std::move(parts.right)));
}
template <class... Stages>
constexpr auto taken_apart(pipeline<Stages...> line) {
  return taken_apart(std::move(line.parts()));
}

/// The parts of a region in line, and which of them have weights.
template <class Parts>
struct parts_to_quantize;
template <class... Part>
struct parts_to_quantize<std::tuple<Part...>> {
  static constexpr std::size_t count = sizeof...(Part);
  static constexpr quantized_role role[count] = {quantized_role_of<Part>...};
  template <std::size_t I>
  using part = std::tuple_element_t<I, std::tuple<Part...>>;

  static constexpr std::size_t weighing_from(std::size_t at) {
    while (at < count && role[at] != quantized_role::weighs) ++at;
    return at;
  }
  static constexpr std::size_t first = weighing_from(0);
  static constexpr std::size_t last = [] {
    std::size_t found = count;
    for (std::size_t i = 0; i < count; ++i)
      if (role[i] == quantized_role::weighs) found = i;
    return found;
  }();
  /// A relu follows before the next op with weights.
  static constexpr bool relu_behind(std::size_t at) {
    for (std::size_t i = at + 1; i < weighing_from(at + 1); ++i)
      if (role[i] == quantized_role::relu) return true;
    return false;
  }

  template <class Scales>
  static consteval auto find_mistake() {
    constexpr std::size_t odd = [] {
      for (std::size_t i = first; i < last; ++i)
        if (role[i] == quantized_role::other) return i;
      return count;
    }();
    if constexpr (first == count)
      return nothing_to_quantize_there_is_no_conv2d_and_no_dense{};
    else if constexpr (odd < count)
      return mistake_at<part<odd>>();
    else
      return unknown_stage<Scales, first>();
  }

 private:
  template <class Stage>
  static consteval auto mistake_at() {
    if constexpr (requires { typename Stage::op_type; })
      return this_stage_has_no_form_of_integers<Stage::name, typename Stage::op_type>{};
    else
      return this_stage_has_no_form_of_integers<Stage::name, void>{};
  }
  template <class Scales, std::size_t I>
  static consteval auto unknown_stage() {
    if constexpr (I == count || !requires { Scales::table; })
      return no_mistake{};
    else if constexpr (!Scales::table.has(part<I>::name.view()))
      return scales_are_of_another_pipeline_calibrate_again<part<I>::name>{};
    else
      return unknown_stage<Scales, weighing_from(I + 1)>();
  }
};

template <class Part>
using parts_of_region = parts_to_quantize<decltype(taken_apart(std::declval<Part>()))>;
template <class Part, class Scales>
using quantize_mistake = decltype(parts_of_region<Part>::template find_mistake<Scales>());

/// The parts from `I` on behind those that are made already.
template <std::size_t I, class Region, class Parts, class Made>
constexpr auto quantized_from(Parts& parts, const scale_table& table, Made made) {
  using list = parts_to_quantize<Parts>;
  if constexpr (I == list::count) {
    return made;
  } else {
    using part = typename list::template part<I>;
    constexpr bool inside = I > list::first && I < list::last;
    if constexpr (list::role[I] == quantized_role::weighs) {
      using form = form_of_integers<typename part::op_type>;
      using to = std::conditional_t<I == list::last, float, std::uint8_t>;
      qlinear_numbers numbers{.x = table.of(part::name.view())};
      if constexpr (I != list::last) {
        numbers.y = table.of(list::template part<list::weighing_from(I + 1)>::name.view());
        numbers.relu = list::relu_behind(I);
      }
      op_stage<part::name, typename form::template op<to>> stage{form::template make<to>(numbers),
                                                                 std::get<I>(parts).weights};
      if constexpr (I == list::first) {
        op_stage<"quantize", quantize_linear_op<std::uint8_t, Region>> head{{{}, numbers.x}, {}};
        return quantized_from<I + 1, Region>(parts, table, followed_by(followed_by(std::move(made), head), stage));
      } else {
        return quantized_from<I + 1, Region>(parts, table, followed_by(std::move(made), stage));
      }
    } else if constexpr (inside && list::role[I] == quantized_role::relu) {
      return quantized_from<I + 1, Region>(parts, table, std::move(made));
    } else {
      return quantized_from<I + 1, Region>(parts, table, followed_by(std::move(made), std::move(std::get<I>(parts))));
    }
  }
}

/// `Scales` is the table's type, if it has one; the table may be one that is known at run time only.
template <class Scales, class Part>
constexpr auto quantized_by(Part part, const scale_table& table) {
  using list = parts_of_region<Part>;
  using region =
      quantized_stages<Scales, list::template part<list::first>::name, list::template part<list::last>::name>;
  auto parts = taken_apart(std::move(part));
  return quantized_from<0, region>(parts, table, no_parts_yet{});
}

}  // namespace detail

/// The part with its ops from the first conv2d or dense to the last computed with weights of int8, uint8 between them
/// and sums of int32; weights become int8 when they are deployed, symmetric, each output with a scale of its own.
template <std::same_as<std::int8_t> To, pipeline_part Part, const scale_table& Table>
  requires correct<detail::quantize_mistake<Part, scales_of<Table>>>
constexpr auto quantize(Part part, scales_of<Table>) {
  return detail::quantized_by<scales_of<Table>>(std::move(part), Table);
}
template <std::same_as<std::int8_t> To, pipeline_part Part, const scale_table& Table>
  requires(detail::quantize_mistake<Part, scales_of<Table>>::is_mistake)
mistake_found<detail::quantize_mistake<Part, scales_of<Table>>> quantize(const Part&, scales_of<Table>);

/// Before `levada::calibrate` has written a table.
template <std::same_as<std::int8_t> To, pipeline_part Part>
  requires correct<detail::quantize_mistake<Part, uncalibrated>>
constexpr auto quantize(Part part, uncalibrated) {
  return quantized_part<Part>{std::move(part)};
}
template <std::same_as<std::int8_t> To, pipeline_part Part>
  requires(detail::quantize_mistake<Part, uncalibrated>::is_mistake)
mistake_found<detail::quantize_mistake<Part, uncalibrated>> quantize(const Part&, uncalibrated);

}  // namespace levada
