// SPDX-License-Identifier: Apache-2.0
#pragma once
// cluster/detail/device.hpp: a rank of an MPI program as a device of a target.

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/plan/detail/text.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/there.hpp>

namespace levada {

namespace detail {

template <int Rank>
inline constexpr auto rank_name = written_fixed_string<[](auto& into) {
  into += "rank ";
  append_number(into, static_cast<std::size_t>(Rank));
}>();

}  // namespace detail

/// A rank of an MPI program, and the devices that it has: `target<cpu<2>, mpi<1, cpu<4>>, mpi<2, cpu<4>>>`. As a pin
/// the rank is enough: `on<mpi<1>>(part)`. Rank 0 drives the pipeline.
template <int Rank, class... Devices>
struct mpi {
  static_assert(Rank > 0, "levada: rank 0 drives the pipeline: the ranks of mpi<Rank> begin with 1");
  static constexpr device_id id{device_kind::mpi, Rank};
  static constexpr auto name = detail::rank_name<Rank>;
};

namespace detail {

/// A rank ends with the program.
template <int Rank, class... Devices>
struct elsewhere<mpi<Rank, Devices...>> : is_elsewhere {
  static constexpr bool is_lost_alone = false, is_one_program = true;
  using device = mpi<Rank>;
};

template <int Rank, class... Devices, class... Rest>
  requires(sizeof...(Devices) != 0)
struct target_there<mpi<Rank>, target<mpi<Rank, Devices...>, Rest...>> : type_tag<target<Devices...>> {};

}  // namespace detail
}  // namespace levada
