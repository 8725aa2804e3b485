// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/scatter.hpp: elements picked and placed by indices.

#include <algorithm>
#include <cmath>

#include <levada/backend/detail/definition.hpp>
#include <levada/nn/scatter.hpp>

namespace levada {

namespace detail {

/// An index counted from the end where it is negative; the extent itself where there is none.
template <class T>
constexpr std::size_t index_in(T index, std::size_t extent) {
  return axis_of(static_cast<std::ptrdiff_t>(index), extent);
}

/// Calls `f(element of the indices, element of the data)` for each index along `Axis` that is on it; the other places
/// are those of the index.
template <class Data, std::ptrdiff_t Axis, class Indices, class F, class Missing>
void for_each_place(const Indices& indices, F f, Missing missing) {
  constexpr std::size_t axis = axis_of(Axis, Data::rank);
  constexpr shape steps = strides_of(shape_of<Data>);
  std::size_t i = 0;
  for_each_index(shape_of<Indices>, [&](const shape& place) {
    const std::size_t index = index_in(indices[i], Data::extents[axis]);
    std::size_t at = index * steps[axis];
    for (std::size_t a = 0; a < Data::rank; ++a) at += a == axis ? 0 : place[a] * steps[a];
    index < Data::extents[axis] ? f(i, at) : missing(i);
    ++i;
  });
}

/// Where the part begins that `count` indices pick of the axes from `first` on; the number of all elements where there
/// is none.
template <class Data, class T>
std::size_t part_at(const T* indices, std::size_t count, std::size_t first) {
  constexpr shape steps = strides_of(shape_of<Data>);
  std::size_t at = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t index = index_in(indices[k], Data::extents[first + k]);
    if (index >= Data::extents[first + k]) return Data::elements;
    at += index * steps[first + k];
  }
  return at;
}

template <scatter How, class T>
void update(T& to, const T& by) {
  if constexpr (How == scatter::replace) to = by;
  if constexpr (How == scatter::add) to = static_cast<T>(to + by);
  if constexpr (How == scatter::mul) to = static_cast<T>(to * by);
  if constexpr (How == scatter::min) to = std::min(to, by);
  if constexpr (How == scatter::max) to = std::max(to, by);
}

}  // namespace detail

template <class Backend, class Data, class Indices, std::ptrdiff_t Axis>
  requires op_takes<gather_elements_op<Axis>, std::tuple<Data, Indices>>
struct definition<Backend, std::tuple<Data, Indices>, gather_elements_op<Axis>>
    : detail::plain_definition<gather_elements_op<Axis>> {
  using detail::plain_definition<gather_elements_op<Axis>>::plain_definition;

  void operator()(const auto& in, auto& out, std::byte*) const {
    const Data& data = std::get<0>(in);
    detail::for_each_place<Data, Axis>(
        std::get<1>(in), [&](std::size_t i, std::size_t at) { out[i] = data[at]; },
        [&](std::size_t i) { out[i] = typename Data::value_type{}; });
  }
};

template <class Backend, class Data, class Indices, std::size_t Batch>
  requires op_takes<gather_nd_op<Batch>, std::tuple<Data, Indices>>
struct definition<Backend, std::tuple<Data, Indices>, gather_nd_op<Batch>>
    : detail::plain_definition<gather_nd_op<Batch>> {
  using detail::plain_definition<gather_nd_op<Batch>>::plain_definition;

  void operator()(const auto& in, auto& out, std::byte*) const {
    constexpr std::size_t count = Indices::extents[Indices::rank - 1], places = Indices::elements / count;
    constexpr std::size_t run = std::remove_cvref_t<decltype(out)>::elements / places;
    constexpr std::size_t batches = [] {
      std::size_t all = 1;
      for (std::size_t axis = 0; axis < Batch; ++axis) all *= Data::extents[axis];
      return all;
    }();
    const auto& [data, indices] = in;
    for (std::size_t place = 0; place < places; ++place) {
      const std::size_t at = detail::part_at<Data>(indices.data() + place * count, count, Batch);
      if (at < Data::elements)
        std::copy_n(data.data() + place / (places / batches) * (Data::elements / batches) + at, run,
                    out.data() + place * run);
      else
        std::fill_n(out.data() + place * run, run, typename Data::value_type{});
    }
  }
};

template <class Backend, class Data, class Indices, class Updates, std::ptrdiff_t Axis, scatter How>
  requires op_takes<scatter_elements_op<Axis, How>, std::tuple<Data, Indices, Updates>>
struct definition<Backend, std::tuple<Data, Indices, Updates>, scatter_elements_op<Axis, How>>
    : detail::plain_definition<scatter_elements_op<Axis, How>> {
  using detail::plain_definition<scatter_elements_op<Axis, How>>::plain_definition;

  void operator()(const auto& in, Data& out, std::byte*) const {
    out = std::get<0>(in);
    const Updates& updates = std::get<2>(in);
    detail::for_each_place<Data, Axis>(
        std::get<1>(in), [&](std::size_t i, std::size_t at) { detail::update<How>(out[at], updates[i]); },
        [](std::size_t) {});
  }
};

template <class Backend, class Data, class Indices, class Updates, scatter How>
  requires op_takes<scatter_nd_op<How>, std::tuple<Data, Indices, Updates>>
struct definition<Backend, std::tuple<Data, Indices, Updates>, scatter_nd_op<How>>
    : detail::plain_definition<scatter_nd_op<How>> {
  using detail::plain_definition<scatter_nd_op<How>>::plain_definition;

  void operator()(const auto& in, Data& out, std::byte*) const {
    constexpr std::size_t count = Indices::extents[Indices::rank - 1], places = Indices::elements / count;
    constexpr std::size_t run = Updates::elements / places;
    out = std::get<0>(in);
    const auto& indices = std::get<1>(in);
    const Updates& updates = std::get<2>(in);
    for (std::size_t place = 0; place < places; ++place) {
      const std::size_t at = detail::part_at<Data>(indices.data() + place * count, count, 0);
      if (at == Data::elements) continue;
      for (std::size_t i = 0; i < run; ++i) detail::update<How>(out[at + i], updates[place * run + i]);
    }
  }
};

template <class Backend, class In, class T, std::size_t Depth, std::ptrdiff_t Axis>
  requires op_takes<one_hot_op<T, Depth, Axis>, In>
struct definition<Backend, In, one_hot_op<T, Depth, Axis>> {
  using op_type = one_hot_op<T, Depth, Axis>;
  using out_type = typename op_type::template output<In>;

  static constexpr std::size_t scratch_bytes = 0;

  definition(const op_type& op, parameter_values) : op_(op) {}

  void operator()(const In& in, out_type& out, std::byte*) const {
    using around = detail::around_axis<out_type, Axis>;
    out.fill(op_.off);
    for (std::size_t i = 0; i < In::elements; ++i) {
      const std::size_t index = detail::index_in(in[i], Depth);
      if (index < Depth) out[(i / around::inner * Depth + index) * around::inner + i % around::inner] = op_.on;
    }
  }

 private:
  op_type op_;
};

template <class Backend, class In, bool Upper, std::ptrdiff_t Diagonal>
  requires op_takes<trilu_op<Upper, Diagonal>, In>
struct definition<Backend, In, trilu_op<Upper, Diagonal>> : detail::plain_definition<trilu_op<Upper, Diagonal>> {
  using detail::plain_definition<trilu_op<Upper, Diagonal>>::plain_definition;

  void operator()(const In& in, In& out, std::byte*) const {
    constexpr std::size_t rows = In::extents[In::rank - 2], columns = In::extents[In::rank - 1];
    for (std::size_t i = 0; i < In::elements; ++i) {
      const auto y = static_cast<std::ptrdiff_t>(i / columns % rows), x = static_cast<std::ptrdiff_t>(i % columns);
      out[i] = (Upper ? x - y >= Diagonal : x - y <= Diagonal) ? in[i] : typename In::value_type{};
    }
  }
};

}  // namespace levada
