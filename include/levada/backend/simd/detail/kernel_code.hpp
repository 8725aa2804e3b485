// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/kernel_code.hpp: what a program calls of a kernel that another unit has compiled for one
// instruction set, and of what work that is the kernel. Memory alone goes from one to the other: all functions that
// both have are local to that unit (levada_add_kernels).

#include <cstddef>
#include <tuple>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/kernel_store.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/graph/detail/op_region.hpp>
#include <levada/graph/detail/parameters.hpp>
#include <levada/graph/detail/tile_range.hpp>
#include <levada/graph/op.hpp>

namespace levada::detail {

/// The functions of one kernel.
struct kernel_code {
  packed_kernel kernel;  ///< without a type where it is more than its bytes
  void (*destroy)(void* kernel) noexcept = nullptr;
  void (*run)(const void* kernel, const void* const* inputs, void* out, std::byte* scratch) = nullptr;
  /// Null where the kernel has no tiles. `some` are of as many as the plan knows.
  void (*of_tiles)(const void* kernel, const void* const* inputs, void* out, std::byte* scratch,
                   tile_range some) = nullptr;
  std::size_t scratch_bytes = 0;  ///< that it needs
  std::size_t tiles = 1;          ///< of the plan, as its unit sees them
};

template <class In>
struct inputs_of : type_tag<type_list<In>> {};
template <class... In>
struct inputs_of<std::tuple<In...>> : type_tag<type_list<In...>> {};

/// What the ops of a row take, and which they are.
template <class In, class... Ops>
struct work_of_row {
  using input_list = typename inputs_of<In>::type;
  using op_list = type_list<Ops...>;
};
/// A run of ops of one item.
template <class In, class... Ops>
struct run_work : work_of_row<In, Ops...> {
  using out_type = run_output_t<In, Ops...>;
  template <class Backend>
  using kernel = typename Backend::template kernel<In, Ops...>;
};
/// The same of a batch as one.
template <class In, class... Ops>
struct batch_work : work_of_row<In, Ops...> {
  using out_type = flowing_output<In, Ops...>;
  template <class Backend>
  using kernel = typename Backend::template batch_kernel<In, Ops...>;
};

template <class Region, class Inputs, class... RegionOps>
struct work_of_region {
  using input_list = Inputs;
  using op_list = type_list<typename RegionOps::op_type...>;
  using out_type = typename Region::out_type;
  template <class Backend>
  using kernel = typename Backend::template region_kernel<Region>;
};
/// A region that is no chain.
template <class Region>
struct region_work;
template <class Inputs, class... RegionOps>
struct region_work<op_region<Inputs, RegionOps...>>
    : work_of_region<op_region<Inputs, RegionOps...>, Inputs, RegionOps...> {};
template <class Inputs, class Outputs, class... RegionOps>
struct region_work<op_region_of_outputs<Inputs, Outputs, RegionOps...>>
    : work_of_region<op_region_of_outputs<Inputs, Outputs, RegionOps...>, Inputs, RegionOps...> {};

}  // namespace levada::detail
