// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/qlinear_planes.hpp: what all ways share to compute qlinear_conv2d whose groups are single
// channels: one plane after the other, which threads may divide.

#include <cstddef>
#include <cstdint>

#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/quads.hpp>
#include <levada/graph/detail/tile_range.hpp>

namespace levada::detail {

/// `Way` lays a plane out in the scratchpad, and computes the planes of its filters from there.
template <class Way, class Arch, class In, class Op>
class qlinear_planes {
 public:
  using out_type = typename Op::template output<In>;
  static constexpr std::size_t tiles = In::extents[0];

  void operator()(const In& in, out_type& out, std::byte* scratch) const { of_tiles(in, out, scratch, {0, tiles}); }
  void of_tiles(const In& in, out_type& out, std::byte* scratch, tile_range some) const {
    constexpr std::size_t filters_each = Op::filters / tiles, plane = height * width;
    const Way& way = static_cast<const Way&>(*this);
    way.begin(scratch);
    auto* const first = reinterpret_cast<written*>(out.data());
    written* to = first + some.begin * filters_each * rows * columns;
    const written* const end = first + some.end * filters_each * rows * columns;
    for (std::size_t c = some.begin; c < some.end; ++c) {
      way.lay_out_plane(in.data() + c * plane, in.data() + In::elements, scratch);
      for (std::size_t f = c * filters_each; f < (c + 1) * filters_each; ++f, to += rows * columns)
        way.compute_plane(scratch, f, to, end);
    }
  }

 protected:
  using byte = typename In::value_type;
  using epilogue = qlinear_epilogue<Arch, Op>;
  using written = typename epilogue::written;
  using ints = vector<std::int32_t, Arch>;
  static constexpr std::size_t lanes = lanes_in<std::int32_t, Arch>, height = In::extents[1], width = In::extents[2],
                               rows = out_type::extents[1], columns = out_type::extents[2];

  /// Outputs of a row: a whole vector where others follow, which are written afterwards.
  LEVADA_INLINE static void store(const ints& sums, written* to, const written* end) {
    if (to + lanes <= end)
      store_as(to, sums);
    else
      store_part_as<(columns - 1) % lanes + 1>(to, sums);
  }
};

}  // namespace levada::detail
