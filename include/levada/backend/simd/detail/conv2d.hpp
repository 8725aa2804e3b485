// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/conv2d.hpp: conv2d (+ bias) (+ relu) (+ max_pool2d) (+ transforms) (+ flatten or reshape) as one
// kernel, computed in whichever of six ways needs fewest cycles for these shapes; groups one after the other.

#include <array>
#include <span>
#include <string_view>

#include <levada/backend/simd/detail/conv_by_channels.hpp>
#include <levada/backend/simd/detail/conv_by_columns.hpp>
#include <levada/backend/simd/detail/conv_by_matrices.hpp>
#include <levada/backend/simd/detail/conv_by_panels.hpp>
#include <levada/backend/simd/detail/conv_by_rows.hpp>
#include <levada/backend/simd/detail/conv_by_winograd.hpp>
#include <levada/core/detail/storage.hpp>

namespace levada {

namespace detail {

/// The way of computing a run that needs fewest cycles. `MayBeTransformed`: by Winograd's transforms, too.
template <class Arch, class Run, class Epilogue, bool MayBeTransformed>
struct fastest_conv {
  static constexpr std::size_t by_channels = best_channel_tiling<Arch, Run>().cost,
                               by_columns = best_column_tiling<Arch, Run>().cost;
  /// Results along the filters are transposed, which takes as long as so many taps: measured.
  static constexpr std::size_t taps = Run::channels * Run::window.taps(),
                               transposed = Run::pool.height * Run::pool.width == 1 ? 8 : 0;
  using direct = std::conditional_t<(by_columns * taps < by_channels * (taps + transposed)),
                                    conv_by_columns<Arch, Run, Epilogue>, conv_by_channels<Arch, Run, Epilogue>>;
  static constexpr bool multiplies_matrices() {
    if constexpr (takes_matrices<Arch, Run>)
      return best_matrix_layout<Run>::cost < direct_cost<Run>(std::min(by_columns, by_channels));
    else
      return false;
  }
  static auto choose() {
    if constexpr (filters_input<Run>) {
      return type_tag<conv_by_panels<Arch, Run, Epilogue>>();
    } else if constexpr (multiplies_matrices()) {
      return type_tag<conv_by_matrices<Arch, Run, Epilogue>>();
    } else if constexpr (takes_rows<Run>) {
      return type_tag<conv_by_rows<Arch, Run, Epilogue>>();
    } else if constexpr (takes_panels<Run>) {
      // The others transpose or copy more, which many channels outweigh, and read weights from farther away where the
      // picture is large: measured.
      constexpr std::size_t panels = best_panel_tiling<Arch, Run>().cost,
                            others = std::min(by_columns, by_channels) * Run::rows;
      constexpr bool is_small = Run::rows * Run::columns <= 256;
      // Along few filters pixels are read in place: a line of each channel beside its weights, for each tile.
      constexpr bool is_far = Run::channels * 128 > (32 << 10) && Run::filters < 16 * lanes_in<float, Arch>;
      if constexpr (is_small ? panels * Run::channels <= others * (Run::channels + (is_far ? 64 : 8))
                             : 4 * panels <= 5 * others)
        return type_tag<conv_by_panels<Arch, Run, Epilogue>>();
      else
        return type_tag<direct>();
    } else if constexpr (MayBeTransformed && takes_winograd<Run>) {
      constexpr std::size_t results = best_winograd<Arch, Run>;
      if constexpr (winograd_cost<Arch, Run, results>() < direct_cost<Run>(std::min(by_columns, by_channels)))
        return type_tag<winograd_conv<Arch, Run, Epilogue, results>>();
      else
        return type_tag<direct>();
    } else {
      return type_tag<direct>();
    }
  }
};
template <class Arch, class Run, class Epilogue, bool MayBeTransformed = false>
using simd_conv = typename decltype(fastest_conv<Arch, Run, Epilogue, MayBeTransformed>::choose())::type;

/// What a run of ops reads of a convolution: that of one group.
template <class Conv>
struct one_group {
  static constexpr window2d window = Conv::window;
  static constexpr std::size_t filters = Conv::filters / Conv::groups;
  static constexpr bool has_bias = Conv::has_bias;
};

/// The parameters of one group: its part of the weights and of each bias.
template <class Value, class Conv, std::size_t Channels>
class group_parameters {
 public:
  group_parameters(const parameter_values& p, std::size_t g) : count_(p.size()) {
    constexpr std::size_t filters = one_group<Conv>::filters;
    all_[0] = p.get<Value>(0) + g * filters * Channels * Conv::window.taps();
    for (std::size_t i = 1; i < count_; ++i) all_[i] = p.get<Value>(i) + g * filters;
  }

  operator parameter_values() const { return parameter_values(std::span(all_).first(count_)); }

 private:
  std::array<const void*, 3> all_{};
  std::size_t count_;
};

/// Each group as a convolution of its own: its channels, filters and outputs lie side by side in memory.
template <class Arch, class In, class Conv, class... Tail>
class simd_grouped_conv {
  using value = typename In::value_type;
  static constexpr std::size_t groups = Conv::groups, channels = In::extents[0] / groups;
  using group_in = tensor<value, channels, In::extents[1], In::extents[2]>;
  using epilogue = epilogue_t<Arch, value, Tail...>;
  using group = simd_conv<Arch, conv_run<group_in, one_group<Conv>, Tail...>, epilogue, Conv::may_be_transformed>;

 public:
  static constexpr std::string_view method = method_of<group>;
  static constexpr std::size_t scratch_bytes = group::scratch_bytes, tiles = groups;

  explicit simd_grouped_conv(const parameter_values& p, const Tail&... tail)
      : groups_([&, end = epilogue_of<Arch, value>(tail...)](std::size_t g) {
          return group(group_parameters<value, Conv, channels>(p, g), end);
        }) {}

  template <class Join = no_join>
  void operator()(const value* in, value* out, std::size_t out_elements, std::byte* scratch, const Join& join = {},
                  tile_range some = {0, tiles}) const {
    for (std::size_t g = some.begin; g < some.end; ++g) {
      const auto run = [&](const auto& of_group) LEVADA_INLINE {
        groups_[g](in + g * group_in::elements, out + g * (out_elements / groups), scratch, of_group);
      };
      if constexpr (std::same_as<Join, no_join>)
        run(join);
      else
        run([&](const auto& x, std::size_t filter, std::size_t at, auto count)
                LEVADA_INLINE { return join(x, g * one_group<Conv>::filters + filter, at, count); });
    }
  }

  /// Some rows of a group, as `conv_by_rows` computes them.
  static void fetch_rows(std::size_t g, const value* in, tile_range rows) {
    group::fetch_rows(in + g * group_in::elements, rows);
  }
  template <class Place>
  LEVADA_INLINE void of_rows(std::size_t g, const value* in, const Place& place, std::byte* scratch,
                             tile_range rows) const {
    groups_[g].of_rows(in + g * group_in::elements, place, scratch, rows);
  }
  static constexpr std::size_t row_step = [] {
    if constexpr (requires { group::row_step; })
      return group::row_step;
    else
      return std::size_t{0};
  }();

 private:
  made_array<group, groups> groups_;
};

}  // namespace detail

template <class Arch, class In, std::size_t Filters, class... Options, class... Tail>
  requires(detail::run_takes<In, conv2d_op<Filters, Options...>, Tail...> &&
           conv2d_op<Filters, Options...>::groups == 1 && detail::op_tail_of<Tail...>().fuses &&
           (detail::fits_epilogue<typename In::value_type, Tail> && ...))
struct simd_kernel<Arch, In, conv2d_op<Filters, Options...>, Tail...> {
  using op_type = conv2d_op<Filters, Options...>;
  using out_type = run_output_t<In, op_type, Tail...>;

 private:
  using value = typename In::value_type;
  using conv = detail::simd_conv<Arch, detail::conv_run<In, op_type, Tail...>, detail::epilogue_t<Arch, value, Tail...>,
                                 op_type::may_be_transformed>;

 public:
  static constexpr std::size_t scratch_bytes = conv::scratch_bytes, tiles = detail::tiles_of<conv>;
  static constexpr std::string_view method = detail::method_of<conv>;

  simd_kernel(const op_type&, const Tail&... tail, parameter_values p)
      : conv_(p, detail::epilogue_of<Arch, value>(tail...)) {}

  template <class Join = detail::no_join>
  void operator()(const In& in, out_type& out, std::byte* scratch, const Join& join = {}) const {
    conv_(in.data(), out.data(), scratch, join, detail::change_of(in));
  }
  template <class Join = detail::no_join>
  void of_tiles(const In& in, out_type& out, std::byte* scratch, detail::tile_range some, const Join& join = {}) const {
    conv_(in.data(), out.data(), scratch, join, detail::change_of(in), some);
  }

 private:
  conv conv_;
};

template <class Arch, class In, std::size_t Filters, class... Options, class... Tail>
  requires(detail::run_takes<In, conv2d_op<Filters, Options...>, Tail...> &&
           (conv2d_op<Filters, Options...>::groups > 1) && detail::op_tail_of<Tail...>().fuses &&
           (detail::fits_epilogue<typename In::value_type, Tail> && ...))
struct simd_kernel<Arch, In, conv2d_op<Filters, Options...>, Tail...> {
  using op_type = conv2d_op<Filters, Options...>;
  using out_type = run_output_t<In, op_type, Tail...>;

 private:
  using conv = detail::simd_grouped_conv<Arch, In, op_type, Tail...>;

 public:
  static constexpr std::size_t scratch_bytes = conv::scratch_bytes, tiles = conv::tiles;
  static constexpr std::string_view method = detail::method_of<conv>;

  simd_kernel(const op_type&, const Tail&... tail, parameter_values p) : conv_(p, tail...) {}

  template <class Join = detail::no_join>
  void operator()(const In& in, out_type& out, std::byte* scratch, const Join& join = {}) const {
    conv_(in.data(), out.data(), out_type::elements, scratch, join);
  }
  template <class Join = detail::no_join>
  void of_tiles(const In& in, out_type& out, std::byte* scratch, detail::tile_range some, const Join& join = {}) const {
    conv_(in.data(), out.data(), out_type::elements, scratch, join, some);
  }

 private:
  conv conv_;
};

}  // namespace levada
