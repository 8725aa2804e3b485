// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/shard.hpp: one op over several devices. Each computes a range of the output along an axis; what of the input it
// needs for that, its neighbours' border included, a rule of the op says. backend/shard.hpp does it.

#include <algorithm>

#include <levada/core/detail/device.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/conv2d.hpp>
#include <levada/nn/dense.hpp>
#include <levada/nn/pool2d.hpp>
#include <levada/nn/transform.hpp>

namespace levada {

/// So much of the output goes to that device, in proportion to the others: `share<vulkan<0>, 3>{}`. A device itself is
/// a share of 1.
template <class Device, std::size_t Weight = 1>
  requires(Weight > 0)
struct share {
  using device = Device;
  static constexpr std::size_t weight = Weight;
};

/// A part of an axis.
struct axis_range {
  std::size_t first = 0, count = 0;
  constexpr std::size_t end() const { return first + count; }
};

namespace detail {

template <class Device>
struct share_of {
  using type = share<Device>;
};
template <class Device, std::size_t Weight>
struct share_of<share<Device, Weight>> {
  using type = share<Device, Weight>;
};

/// The range of share `index` of an axis.
template <class... Shares>
constexpr axis_range range_of(std::size_t index, std::size_t extent) {
  constexpr std::size_t weights[] = {Shares::weight...};
  constexpr std::size_t all = (Shares::weight + ...);
  std::size_t before = 0;
  for (std::size_t i = 0; i < index; ++i) before += weights[i];
  const auto border = [&](std::size_t parts) { return (extent * parts + all / 2) / all; };
  return {border(before), border(before + weights[index]) - border(before)};
}

/// What of an axis of the input a range of a window op's output needs, and how much padding stays in front of and
/// behind it.
struct window_range {
  axis_range input;
  std::size_t before = 0, behind = 0;
};
constexpr window_range reached_by(axis_range out, std::size_t stride, std::size_t reach, std::size_t padding,
                                  std::size_t extent) {
  // Counted from the first element of the padding.
  const std::size_t first = out.first * stride, end = (out.end() - 1) * stride + reach;
  const std::size_t from = std::clamp(first, padding, padding + extent),
                    to = std::clamp(end, padding, padding + extent);
  return {{from - padding, to - from}, from - first, end - to};
}

}  // namespace detail

/// How an op is cut along an axis of its output, where it can be:
///
///     static constexpr axis_range input(axis_range out)   of the input, along the same axis
///     template <axis_range Out> using op                  that makes this range of that part of the input
///     template <axis_range Out> static op<Out> part(const Op&)
///     static constexpr bool cuts_input                    else each device gets the whole input
///     static constexpr bool cuts_parameters               along their first axis, else each device gets them whole
template <class In, class Op, std::size_t Axis>
struct shard_rule;

namespace detail {

/// Each element of the output comes from the one at its place.
template <class Op>
struct same_range_rule {
  static constexpr bool cuts_input = true, cuts_parameters = false;
  static constexpr axis_range input(axis_range out) { return out; }
  template <axis_range>
  using op = Op;
  template <axis_range>
  static constexpr Op part(const Op& whole) {
    return whole;
  }
};

/// An op with another padding, or another number of outputs.
template <class Op>
struct with_options;
template <std::size_t Filters, class... Options>
struct with_options<conv2d_op<Filters, Options...>> {
  template <class Padding>
  using padded = conv2d_op<Filters, Options..., Padding>;
  template <std::size_t Count>
  using counted = conv2d_op<Count, Options...>;
};
template <class... Options>
struct with_options<max_pool2d_op<Options...>> {
  template <class Padding>
  using padded = max_pool2d_op<Options..., Padding>;
};
template <class... Options>
struct with_options<avg_pool2d_op<Options...>> {
  template <class Padding>
  using padded = avg_pool2d_op<Options..., Padding>;
};
template <std::size_t Outputs, class... Options>
struct with_options<dense_op<Outputs, Options...>> {
  template <std::size_t Count>
  using counted = dense_op<Count, Options...>;
};

/// Rows or columns of an op with a window.
template <class In, class Op, std::size_t Axis>
struct window_rule {
  static constexpr bool cuts_input = true, cuts_parameters = false;
  static constexpr window2d w = Op::window;

  static constexpr window_range reached(axis_range out) {
    return Axis == 1 ? reached_by(out, w.stride_y, w.reach_y(), w.top, In::extents[1])
                     : reached_by(out, w.stride_x, w.reach_x(), w.left, In::extents[2]);
  }
  static constexpr axis_range input(axis_range out) { return reached(out).input; }
  template <axis_range Out>
  using op = typename with_options<Op>::template padded<
      std::conditional_t<Axis == 1, padding<reached(Out).before, w.left, reached(Out).behind, w.right>,
                         padding<w.top, reached(Out).before, w.bottom, reached(Out).behind>>>;
  template <axis_range Out>
  static constexpr op<Out> part(const Op&) {
    return {};
  }
};

/// Rows of a matrix of weights, or filters: the input is whole. `With<Count>` is the op with so many of them.
template <template <std::size_t> class With>
struct outputs_rule {
  static constexpr bool cuts_input = false, cuts_parameters = true;
  template <axis_range Out>
  using op = With<Out.count>;
  template <axis_range Out, class Op>
  static constexpr op<Out> part(const Op&) {
    return {};
  }
};

}  // namespace detail

template <class In, std::size_t Axis>
struct shard_rule<In, relu_op, Axis> : detail::same_range_rule<relu_op> {};
template <class In, class F, std::size_t Axis>
struct shard_rule<In, transform_op<F>, Axis> : detail::same_range_rule<transform_op<F>> {};

template <class In, class Op, std::size_t Axis>
  requires((Axis == 1 || Axis == 2) && Op::window.taps() > 0 && sizeof(detail::with_options<Op>) > 0)
struct shard_rule<In, Op, Axis> : detail::window_rule<In, Op, Axis> {};
template <class In, std::size_t Filters, class... Options>
  requires(conv2d_op<Filters, Options...>::groups == 1)
struct shard_rule<In, conv2d_op<Filters, Options...>, 0>
    : detail::outputs_rule<detail::with_options<conv2d_op<Filters, Options...>>::template counted> {};

template <class In, class... Options>
struct shard_rule<In, max_pool2d_op<Options...>, 0> : detail::same_range_rule<max_pool2d_op<Options...>> {};
template <class In, class... Options>
struct shard_rule<In, avg_pool2d_op<Options...>, 0> : detail::same_range_rule<avg_pool2d_op<Options...>> {};

template <class In, std::size_t Outputs, class... Options>
  requires(In::rank == 1)
struct shard_rule<In, dense_op<Outputs, Options...>, 0>
    : detail::outputs_rule<detail::with_options<dense_op<Outputs, Options...>>::template counted> {};

namespace detail {

/// Every share gets a part of the output, and of the input where that is cut.
template <class In, class Op, std::size_t Axis, class... Shares>
consteval bool can_be_sharded() {
  if constexpr (op_takes<Op, In> && requires { shard_rule<In, Op, Axis>::cuts_input; }) {
    using out = typename Op::template output<In>;
    using rule = shard_rule<In, Op, Axis>;
    if (Axis >= out::rank) return false;
    for (std::size_t i = 0; i < sizeof...(Shares); ++i) {
      const axis_range range = range_of<Shares...>(i, out::extents[Axis]);
      if (range.count == 0) return false;
      if constexpr (rule::cuts_input)
        if (rule::input(range).count == 0) return false;
    }
    return true;
  } else {
    return false;
  }
}

}  // namespace detail

/// `Op` cut along `Axis` of its output.
template <std::size_t Axis, class Op, class... Shares>
struct sharded_op {
  static constexpr std::string_view kind = "sharded";
  static constexpr std::string_view expects =
      "what its op takes, cut along an axis along which this op can be cut, of which every device gets a part";

  Op whole;

  template <class In>
    requires(detail::can_be_sharded<In, Op, Axis, Shares...>())
  using output = typename Op::template output<In>;

  template <class In>
  static constexpr double flops = Op::template flops<In>;
  template <class In>
  static constexpr auto parameters = Op::template parameters<In>;
};

/// The stage of an op over several devices, each with its share of the output along `Axis`:
/// `shard_over<1>(nn::conv2d<"c", 8, size<3>>(w), share<vulkan<0>, 3>{}, vulkan<1>{})`. It is a stage of the processor:
/// `cpu<1>{}` among the devices is the thread that it runs on, which hands the others their parts first and then waits
/// for them.
template <std::size_t Axis, fixed_string Name, class Op, class... Devices>
  requires(sizeof...(Devices) > 0)
constexpr auto shard_over(const op_stage<Name, Op>& stage, Devices...) {
  return op_stage<Name, sharded_op<Axis, Op, typename detail::share_of<Devices>::type...>>{{stage.description},
                                                                                           stage.weights};
}

}  // namespace levada
