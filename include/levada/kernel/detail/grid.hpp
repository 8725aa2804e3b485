// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/grid.hpp: the invocations of a grid kernel as a type: how many there are along x, y and z, and how many
// of them share a workgroup.

#include <concepts>
#include <type_traits>

#include <levada/kernel/detail/ir.hpp>

namespace levada {

/// The invocations that run together, share arrays and meet at barriers: at most 128 in all where nothing else is known
/// of the device.
template <std::size_t X, std::size_t Y = 1, std::size_t Z = 1>
  requires(X > 0 && Y > 0 && Z > 0)
struct workgroup {
  static constexpr std::array<std::uint32_t, 3> extents{X, Y, Z};
};

/// The workgroup is chosen from the grid.
struct any_workgroup {};

namespace kernel_detail {

/// 128 invocations at most, along x first.
constexpr std::array<std::uint32_t, 3> chosen_workgroup(const std::array<std::uint32_t, 3>& extents) {
  std::array<std::uint32_t, 3> group{1, 1, 1};
  std::uint32_t room = 128;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // An image is cut into tiles, a line is not.
    const std::uint32_t most = axis == 0 && extents[1] > 1 && room > 32 ? 32 : room;
    while (group[axis] < extents[axis] && group[axis] < most) group[axis] *= 2;
    room /= group[axis];
  }
  return group;
}

}  // namespace kernel_detail

/// `grid<28, 28, 8>{}`: one invocation for each x, y and z below these numbers. A fourth argument names the workgroup.
template <std::size_t X, std::size_t Y = 1, std::size_t Z = 1, class Workgroup = any_workgroup>
  requires(X > 0 && Y > 0 && Z > 0)
struct grid {
  static constexpr ir::grid_info info = [] {
    ir::grid_info g{{X, Y, Z}, {}};
    if constexpr (std::same_as<Workgroup, any_workgroup>)
      g.group = kernel_detail::chosen_workgroup(g.extents);
    else
      g.group = Workgroup::extents;
    return g;
  }();
};

}  // namespace levada
