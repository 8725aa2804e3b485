// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/fork.hpp: branches. The item before a fork goes to each branch, and what the branches give is joined:
//
//   a | fork(b | c, identity) | join<"mix">(f)     f(const C&, const A&); or an op of several inputs: ... | nn::add
//   a | tee(b | sink<"log">(g)) | c                a branch that gives nothing back

#include <cstddef>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/part_pack.hpp>
#include <levada/graph/detail/pipeline.hpp>

namespace levada {

/// A branch without stages: the item as it is.
struct identity_part {};
inline constexpr identity_part identity{};

/// Branches of one item.
template <class... Branches>
struct fork_part {
  detail::part_pack<Branches...> branches;
};

/// A branch beside the line.
template <class Branch>
struct tee_part {
  Branch branch;
};

namespace detail {

template <>
inline constexpr bool is_part<identity_part> = true;
template <class... B>
inline constexpr bool is_part<fork_part<B...>> = true;
template <class B>
inline constexpr bool is_part<tee_part<B>> = true;

}  // namespace detail

/// The item goes to each branch; a join, or an op of several inputs, follows. At most `most_branches` branches.
template <class... Branches>
  requires(sizeof...(Branches) >= 2 && sizeof...(Branches) <= most_branches && (pipeline_part<Branches> && ...))
[[gnu::always_inline]] constexpr auto fork(Branches... branches) {
  return fork_part<Branches...>{detail::make_pack(std::move(branches)...)};
}
template <class... Given, class Mistake = fork_takes_two_to_eight_branches<sizeof...(Given)>>
  requires(sizeof...(Given) < 2 || sizeof...(Given) > most_branches)
auto fork(const Given&... branches);
template <class... Given, class Mistake = no_part_of_a_pipeline_write_stage_with_a_name_around_it<
                              typename detail::first_no_part<Given...>::type>>
auto fork(const Given&... branches);

/// The item goes into a branch, which ends in a sink, and on.
template <pipeline_part Branch>
[[gnu::always_inline]] constexpr auto tee(Branch branch) {
  return tee_part<Branch>{std::move(branch)};
}

namespace detail {

template <class Pack, class Device>
struct flatten_branches;
template <class... B, class Device>
struct flatten_branches<part_pack<B...>, Device>
    : type_tag<
          concatenated<concatenated<flat_marks<Device, block_node<"", "">>, typename flatten<B, Device>::type>...>> {};
template <class... B, class Device>
struct flatten<fork_part<B...>, Device>
    : type_tag<concatenated<flat_marks<Device, block_begin<"">>,
                            typename flatten_branches<part_pack<B...>, Device>::type, flat_marks<Device, join_end>>> {};
template <class B, class Device>
struct flatten<tee_part<B>, Device>
    : type_tag<concatenated<flat_marks<Device, block_begin<"">>, typename flatten_branches<part_pack<B>, Device>::type,
                            flat_marks<Device, tee_end>>> {};

template <class... B, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(fork_part<B...>& fork, Visit& visit) {
  for_each_stage(fork.branches, visit);
}
template <class B, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(tee_part<B>& tee, Visit& visit) {
  for_each_stage(tee.branch, visit);
}

}  // namespace detail
}  // namespace levada
