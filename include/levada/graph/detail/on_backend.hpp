// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/on_backend.hpp: a region given to a backend by hand: `on<npu>(nn::conv2d<...>(w) | nn::relu)`. The
// backend computes it as one, whatever it costs; where it does not take it, the deployment does not compile and says
// why (run/detail/program/on_backend.hpp).

#include <cstddef>
#include <string_view>
#include <utility>

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/pipeline.hpp>

namespace levada {

/// What computes ops: a tag with a name and the kind of device that it computes on.
template <class T>
concept backend_tag = requires {
  std::string_view{T::name};
  device_kind{T::device};
};

/// A part that a backend computes as one.
template <backend_tag Backend, class Part>
struct given_part {
  Part part;
};

/// The backend computes the part as one.
template <backend_tag Backend, pipeline_part Part>
[[gnu::always_inline]] constexpr auto on(Part part) {
  return given_part<Backend, Part>{std::move(part)};
}

namespace detail {

template <class Backend, class Part>
inline constexpr bool is_part<given_part<Backend, Part>> = true;

// ---- in the flattened pipeline: marks around the region, which items pass ----

template <class Backend>
struct given_begin {};
struct given_end {};
/// In the place of a backend: any may take the stages, in whatever runs.
struct any_backend {};

template <class Backend>
inline constexpr block_mark mark_of<given_begin<Backend>>{.passes = true};
template <>
inline constexpr block_mark mark_of<given_end>{.passes = true};

template <class Backend, class Part, class Device>
struct flatten<given_part<Backend, Part>, Device>
    : type_tag<concatenated<type_list<flat_part<given_begin<Backend>, Device>>, typename flatten<Part, Device>::type,
                            type_list<flat_part<given_end, Device>>>> {};

template <class Backend, class Part, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(given_part<Backend, Part>& given, Visit& visit) {
  for_each_stage(given.part, visit);
}

template <class Part>
inline constexpr bool gives_region = false;
template <class Backend>
inline constexpr bool gives_region<given_begin<Backend>> = true;

template <class Part>
inline constexpr std::string_view region_backend{};
template <class Backend>
inline constexpr std::string_view region_backend<given_begin<Backend>> = Backend::name;
template <>
inline constexpr std::string_view region_backend<given_begin<any_backend>>{};

/// The backends that regions are given to, in order.
template <class Part>
struct given_backend : type_tag<type_list<>> {};
template <class Backend>
struct given_backend<given_begin<Backend>> : type_tag<type_list<Backend>> {};
template <>
struct given_backend<given_begin<any_backend>> : type_tag<type_list<>> {};

}  // namespace detail
}  // namespace levada
