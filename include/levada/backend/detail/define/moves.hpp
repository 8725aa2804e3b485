// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/moves.hpp: ops that move elements, element by element.

#include <algorithm>

#include <levada/backend/detail/definition.hpp>
#include <levada/nn/cast.hpp>
#include <levada/nn/concat.hpp>
#include <levada/nn/move.hpp>

namespace levada {

/// A move whose output is one piece of its input.
template <class In, class Op>
concept moves_a_piece = op_takes<Op, In> && requires { requires(Op::template view_at<In> >= 0); };

template <class Backend, class In, class Op>
  requires moves_separably<Op, In> && moves_a_piece<In, Op>
struct definition<Backend, In, Op> : detail::plain_definition<Op> {
  using detail::plain_definition<Op>::plain_definition;
  using out_type = typename Op::template output<In>;

  void operator()(const In& in, out_type& out, std::byte*) const {
    detail::move_elements(in.data() + Op::template view_at<In>, out.data(), out_type::elements);
  }
};

template <class Backend, class In, class Op>
  requires moves_separably<Op, In>
struct definition<Backend, In, Op> {
  using out_type = typename Op::template output<In>;
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  definition(const Op& op, parameter_values) : fill_(static_cast<value>(op.fill())) {}

  void operator()(const In& in, out_type& out, std::byte*) const {
    value* to = out.data();
    detail::for_each_index(shape_of<out_type>, [&](const shape& index) {
      std::ptrdiff_t at = 0;
      for (std::size_t axis = 0; axis < index.rank; ++axis) at += Op::part(shape_of<In>, axis, index[axis]);
      *to++ = at < 0 ? fill_ : in[static_cast<std::size_t>(at)];
    });
  }

 private:
  value fill_;
};

template <class Backend, class In, std::ptrdiff_t Axis>
  requires op_takes<concat_op<Axis>, In>
struct definition<Backend, In, concat_op<Axis>> : detail::plain_definition<concat_op<Axis>> {
  using detail::plain_definition<concat_op<Axis>>::plain_definition;
  using out_type = typename concat_op<Axis>::template output<In>;

  void operator()(const auto& in, out_type& out, std::byte*) const {
    constexpr std::size_t axis = detail::axis_of(Axis, out_type::rank),
                          row = detail::run_from(shape_of<out_type>, axis);
    std::size_t place = 0;
    const auto put = [&]<class T>(const T& from) {
      constexpr std::size_t run = detail::run_from(shape_of<T>, axis);
      for (std::size_t i = 0; i < T::elements / run; ++i)
        detail::move_elements(from.data() + i * run, out.data() + i * row + place, run);
      place += run;
    };
    std::apply([&](const auto&... from) { (put(from), ...); }, in);
  }
};

template <class Backend, class In, std::ptrdiff_t Axis, std::size_t... Extents>
  requires op_takes<split_op<Axis, Extents...>, In>
struct definition<Backend, In, split_op<Axis, Extents...>> : detail::plain_definition<split_op<Axis, Extents...>> {
  using detail::plain_definition<split_op<Axis, Extents...>>::plain_definition;
  using out_type = typename split_op<Axis, Extents...>::template output<In>;

  void operator()(const In& in, out_type& out, std::byte*) const {
    constexpr std::size_t axis = detail::axis_of(Axis, In::rank), row = detail::run_from(shape_of<In>, axis);
    std::size_t place = 0;
    const auto take = [&]<class T>(T& to) {
      constexpr std::size_t run = detail::run_from(shape_of<T>, axis);
      for (std::size_t i = 0; i < T::elements / run; ++i)
        std::copy_n(in.data() + i * row + place, run, to.data() + i * run);
      place += run;
    };
    std::apply([&](auto&... to) { (take(to), ...); }, out);
  }
};

template <class Backend, class In, std::size_t Index>
  requires op_takes<part_op<Index>, In>
struct definition<Backend, In, part_op<Index>> : detail::plain_definition<part_op<Index>> {
  using detail::plain_definition<part_op<Index>>::plain_definition;
  using out_type = typename part_op<Index>::template output<In>;

  void operator()(const auto& in, out_type& out, std::byte*) const {
    detail::move_elements(std::get<Index>(in).data(), out.data(), out_type::elements);
  }
};

template <class Backend, class In, std::ptrdiff_t Axis>
  requires op_takes<gather_by_op<Axis>, In>
struct definition<Backend, In, gather_by_op<Axis>> : detail::plain_definition<gather_by_op<Axis>> {
  using detail::plain_definition<gather_by_op<Axis>>::plain_definition;
  using out_type = typename gather_by_op<Axis>::template output<In>;

  void operator()(const auto& in, out_type& out, std::byte*) const {
    const auto& [data, indices] = in;
    using data_type = std::remove_cvref_t<decltype(data)>;
    constexpr std::size_t axis = detail::axis_of(Axis, data_type::rank), extent = data_type::extents[axis];
    constexpr std::size_t row = detail::run_from(shape_of<data_type>, axis), run = row / extent;
    auto* to = out.data();
    for (std::size_t i = 0; i < data_type::elements / row; ++i)
      for (const auto index : indices) {
        const std::size_t place = detail::axis_of(static_cast<std::ptrdiff_t>(index), extent);
        if (place < extent)
          std::copy_n(data.data() + i * row + place * run, run, to);
        else
          std::fill_n(to, run, typename data_type::value_type{});
        to += run;
      }
  }
};

template <class Backend, class In, class To>
  requires op_takes<cast_op<To>, In>
struct definition<Backend, In, cast_op<To>> : detail::plain_definition<cast_op<To>> {
  using detail::plain_definition<cast_op<To>>::plain_definition;

  void operator()(const In& in, with_element_t<To, In>& out, std::byte*) const {
    for (std::size_t i = 0; i < In::elements; ++i) out[i] = cast_op<To>::of(in[i]);
  }
};

}  // namespace levada
