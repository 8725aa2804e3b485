// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/image.hpp: pictures resized, put into a border, blurred and laid out anew, one invocation for
// each element of the result. Where the taps of a resize lie and what they weigh stands in tables, so that one kernel
// does all its modes.

#include <array>
#include <vector>

#include <levada/backend/spirv/detail/elements.hpp>
#include <levada/image/blur.hpp>
#include <levada/image/letterbox.hpp>
#include <levada/image/resize.hpp>
#include <levada/image/to_chw.hpp>

namespace levada {

namespace detail {

/// Where an invocation stands in a picture of that layout, and the pictures' elements.
template <layout Layout, class Picture>
struct each_pixel {
  static constexpr bool planes = Layout == layout::chw;
  using of = picture<Picture, Layout>;
  using over =
      std::conditional_t<planes, grid<of::width, of::height, of::channels>, grid<of::channels, of::width, of::height>>;

  template <class G>
  static constexpr auto channel(const G& g) {
    return planes ? g.z() : g.x();
  }
  template <class G>
  static constexpr auto row(const G& g) {
    return planes ? g.y() : g.z();
  }
  template <class G>
  static constexpr auto column(const G& g) {
    return planes ? g.x() : g.y();
  }
};
template <layout Layout, class Buffer, class C, class Y, class X>
constexpr auto pixel_of(const Buffer& picture, const C& c, const Y& y, const X& x) {
  if constexpr (Layout == layout::chw)
    return picture(c, y, x);
  else
    return picture(y, x, c);
}

/// A filter's result as an element of type `T`, as `filtered`.
template <class T, class V>
constexpr auto filtered_value(const V& x) {
  if constexpr (std::same_as<T, float>)
    return x;
  else
    return to_int(min(max(x, 0.0f), 255.0f) + 0.5f);
}

// ---- resizes ----

/// The taps of all output pixels along an axis. One that is beside the picture has -1 for its first place.
template <std::size_t Extent, std::size_t Taps>
struct tap_table {
  tensor<std::int32_t, Extent, Taps> places;
  tensor<float, Extent, Taps> weights;

  /// Those of a resize, of the output pixels from `first` on; around them the picture is not.
  tap_table(const resize_axis& axis, std::size_t first = 0) {
    places.fill(-1);
    weights.fill(0);
    for (std::size_t i = 0; i < axis.to; ++i) {
      const resize_tap tap = axis.tap(i);
      for (std::size_t k = 0; k < Taps && !tap.outside; ++k) {
        places(first + i, k) = tap.place[k];
        weights(first + i, k) = tap.weight[k];
      }
    }
  }
};

template <layout Layout, class Out, std::size_t Taps>
struct resize_source {
  uniform<float> fill;

  template <class G, class In, class RowPlaces, class RowWeights, class ColumnPlaces, class ColumnWeights, class To>
  constexpr void operator()(const G& g, const In& in, const RowPlaces& row_places, const RowWeights& row_weights,
                            const ColumnPlaces& column_places, const ColumnWeights& column_weights,
                            const To& out) const {
    using each = each_pixel<Layout, Out>;
    using value = typename Out::value_type;
    const auto c = each::channel(g), y = each::row(g), x = each::column(g);
    const auto inside = row_places(y, 0) >= 0 && column_places(x, 0) >= 0;
    const auto pixel = taps(row_places, row_weights, y, [&](const auto& from_y) {
      return taps(column_places, column_weights, x, [&](const auto& from_x) {
        return to_float(pixel_of<Layout>(in, c, max(from_y, 0), max(from_x, 0)));
      });
    });
    pixel_of<Layout>(out, c, y, x) = filtered_value<value>(select(inside, pixel, fill));
  }

 private:
  template <class Places, class Weights, class I, class F>
  static constexpr auto taps(const Places& places, const Weights& weights, const I& index, F value_at) {
    const auto first = value_at(places(index, 0));
    if constexpr (Taps == 1) {
      return first;
    } else if constexpr (Taps == 2) {
      return first + (value_at(places(index, 1)) - first) * weights(index, 1);
    } else {
      auto sum = weights(index, 0) * first;
      for (int k = 1; k < static_cast<int>(Taps); ++k) sum += weights(index, k) * value_at(places(index, k));
      return sum;
    }
  }
};

template <fixed_string Name, class In, class Out, layout Layout, resize_mode Mode>
struct resize_kernel : dispatch_kernel {
  using to = picture<Out, Layout>;
  static constexpr std::size_t taps = taps_of(Mode);
  using rows = tap_table<to::height, taps>;
  using columns = tap_table<to::width, taps>;

  static constexpr std::size_t weight_bytes = sizeof(rows) + sizeof(columns);

 protected:
  void add(const rows& y, const columns& x, float fill) {
    in_bytes = sizeof(In);
    out_bytes = sizeof(Out);
    add_grid<Name, In, Out, typename each_pixel<Layout, Out>::over, decltype(y.places), decltype(y.weights),
             decltype(x.places), decltype(x.weights)>(
        *this, resize_source<Layout, Out, taps>{{fill}},
        {y.places.data(), y.weights.data(), x.places.data(), x.weights.data()});
  }
};

}  // namespace detail

template <class In, std::size_t Height, std::size_t Width, resize_mode Mode, layout Layout>
  requires op_takes<resize_op<Height, Width, Mode, Layout>, In>
struct spirv_kernel<In, resize_op<Height, Width, Mode, Layout>>
    : detail::resize_kernel<"resize", In, typename resize_op<Height, Width, Mode, Layout>::template output<In>, Layout,
                            Mode> {
  using from = picture<In, Layout>;

  spirv_kernel(const resize_op<Height, Width, Mode, Layout>& op, parameter_values) {
    using base = spirv_kernel;
    this->add(typename base::rows(resize_axis::rows(Mode, op.rule, from::height, Height)),
              typename base::columns(resize_axis::columns(Mode, op.rule, from::width, Width)), op.rule.extrapolation);
  }
};

template <class In, std::size_t Height, std::size_t Width, resize_mode Mode, layout Layout>
  requires op_takes<letterbox_op<Height, Width, Mode, Layout>, In>
struct spirv_kernel<In, letterbox_op<Height, Width, Mode, Layout>>
    : detail::resize_kernel<"letterbox", In, typename letterbox_op<Height, Width, Mode, Layout>::template output<In>,
                            Layout, Mode> {
  using from = picture<In, Layout>;

  spirv_kernel(const letterbox_op<Height, Width, Mode, Layout>& op, parameter_values) {
    using base = spirv_kernel;
    constexpr letterbox_place place = letterbox_op<Height, Width, Mode, Layout>::template place<In>;
    this->add(typename base::rows(resize_axis::rows(Mode, {}, from::height, place.height), place.top),
              typename base::columns(resize_axis::columns(Mode, {}, from::width, place.width), place.left), op.fill);
  }
};

// ---- blurs ----

namespace detail {

/// The weighted mean along one axis, beyond the border of the mirror image.
template <layout Layout, class Out, std::size_t Size, bool Rows>
struct mean_along_source {
  template <class G, class In, class Weights, class To>
  constexpr void operator()(const G& g, const In& in, const Weights& weights, const To& out) const {
    using each = each_pixel<Layout, Out>;
    using of = typename each::of;
    const auto c = each::channel(g), y = each::row(g), x = each::column(g);
    const auto sum = g.fold(0, static_cast<int>(Size), 0.0f, [&](auto k, auto s) {
      const auto away = k - static_cast<int>(Size / 2);
      const auto at_y = Rows ? mirrored(y + away, of::height) : y, at_x = Rows ? x : mirrored(x + away, of::width);
      return s + weights(k) * to_float(pixel_of<Layout>(in, c, at_y, at_x));
    });
    pixel_of<Layout>(out, c, y, x) = filtered_value<typename Out::value_type>(sum);
  }

 private:
  template <class V>
  static constexpr V mirrored(const V& place, std::size_t extent) {
    return min(abs(place), 2 * (static_cast<int>(extent) - 1) - abs(place));
  }
};

}  // namespace detail

/// Down the columns into a scratchpad of floats, then along the rows.
template <class In, std::size_t Size, layout Layout>
  requires op_takes<gaussian_blur_op<Size, Layout>, In>
struct spirv_kernel<In, gaussian_blur_op<Size, Layout>> : dispatch_kernel {
  using between = with_element_t<float, In>;
  using weights_tensor = tensor<float, Size>;

  static constexpr std::size_t scratch_bytes = sizeof(between), weight_bytes = 2 * sizeof(weights_tensor);

  spirv_kernel(const gaussian_blur_op<Size, Layout>& op, parameter_values) {
    const auto means = gaussian_weights<Size>(static_cast<double>(op.sigma));
    const bound_tensor by{buffer_role::weights, 0, means.data()}, scratch{buffer_role::scratch};
    in_bytes = out_bytes = sizeof(In);
    using over = typename detail::each_pixel<Layout, In>::over;
    add_bound_grid<"blur_columns", std::tuple<In, weights_tensor>, std::tuple<between>, over>(
        *this, detail::mean_along_source<Layout, between, Size, true>{}, {bound_tensor{}, by, scratch});
    add_bound_grid<"blur_rows", std::tuple<between, weights_tensor>, std::tuple<In>, over>(
        *this, detail::mean_along_source<Layout, In, Size, false>{}, {scratch, by, bound_tensor{buffer_role::output}});
  }
};

namespace detail {

template <layout Layout, class Picture, std::size_t Size>
struct median_source {
  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    using each = each_pixel<Layout, Picture>;
    using of = typename each::of;
    const auto c = each::channel(g), y = each::row(g), x = each::column(g);
    const auto around = [&](const auto& k) {
      return pixel_of<Layout>(in, c, held(y + (k / size - size / 2), of::height),
                              held(x + (k % size - size / 2), of::width));
    };
    if constexpr (Size <= 5)
      pixel_of<Layout>(out, c, y, x) = by_exchanges(around);
    else
      pixel_of<Layout>(out, c, y, x) = by_bits(g, around);
  }

 private:
  static constexpr int size = static_cast<int>(Size), count = size * size, middle = count / 2;

  template <class V>
  static constexpr V held(const V& place, std::size_t extent) {
    return min(max(place, 0), static_cast<int>(extent) - 1);
  }

  /// The smallest to the front, one after the other, up to the middle.
  template <class F>
  static constexpr auto by_exchanges(F around) {
    auto values = [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::array{around(static_cast<int>(K))...};
    }(std::make_index_sequence<static_cast<std::size_t>(count)>());
    for (std::size_t i = 0; i <= middle; ++i)
      for (std::size_t j = i + 1; j < values.size(); ++j) {
        const auto smaller = min(values[i], values[j]), larger = max(values[i], values[j]);
        values[i] = smaller, values[j] = larger;
      }
    return values[middle];
  }

  /// The largest number that no more than half of the others are below, from its upper bit on; numbers as unsigned ones
  /// in the same order.
  template <class G, class F>
  static constexpr auto by_bits(const G& g, F around) {
    constexpr bool floats = std::same_as<typename Picture::value_type, float>;
    constexpr int bits = floats ? 32 : 8;
    const auto found = g.fold(0, bits, g.template literal<std::uint32_t>(0), [&](auto bit, auto median) {
      const auto tried = median | (g.template literal<std::uint32_t>(1) << to_uint(bits - 1 - bit));
      const auto below = g.fold(0, count, 0, [&](auto k, auto n) { return n + to_int(ordered(around(k)) < tried); });
      return select(below <= middle, tried, median);
    });
    if constexpr (floats)
      return bit_cast_to_float(select((found >> 31) != 0, found ^ 0x80000000u, ~found));
    else
      return to_int(found);
  }
  template <class V>
  static constexpr auto ordered(const V& x) {
    const auto bits = bit_cast_to_uint(x);
    if constexpr (std::same_as<typename V::element, float>)
      return select((bits >> 31) != 0, ~bits, bits | 0x80000000u);
    else
      return bits;
  }
};

}  // namespace detail

template <class In, std::size_t Size, layout Layout>
  requires op_takes<median_blur_op<Size, Layout>, In>
struct spirv_kernel<In, median_blur_op<Size, Layout>> : dispatch_kernel {
  spirv_kernel(const median_blur_op<Size, Layout>&, parameter_values) {
    in_bytes = out_bytes = sizeof(In);
    add_grid<"median_blur", In, In, typename detail::each_pixel<Layout, In>::over>(
        *this, detail::median_source<Layout, In, Size>{});
  }
};

// ---- layouts ----

namespace detail {

struct to_chw_source {
  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    const auto x = g.x(), y = g.y(), c = g.z();
    out(c, y, x) = to_float(in(y, x, c));
  }
};

}  // namespace detail

template <class In>
  requires op_takes<to_chw_op, In>
struct spirv_kernel<In, to_chw_op> : dispatch_kernel {
  using out_type = to_chw_op::output<In>;

  spirv_kernel(const to_chw_op&, parameter_values) {
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    add_grid<"to_chw", In, out_type, typename detail::each_pixel<layout::chw, out_type>::over>(*this,
                                                                                               detail::to_chw_source{});
  }
};

}  // namespace levada
