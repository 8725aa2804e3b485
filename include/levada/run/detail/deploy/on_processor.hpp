// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/on_processor.hpp: a pipeline and a target without the devices that compute by themselves.

#include <type_traits>

#include <levada/core/detail/device.hpp>
#include <levada/graph/detail/describe.hpp>

namespace levada::detail {

/// A pipeline whose pins to devices that compute by themselves are lifted.
template <class Pipeline>
struct on_processor {};
template <class Pipeline>
inline constexpr bool is_part<on_processor<Pipeline>> = true;

template <class Device>
inline constexpr bool computes_by_itself = false;
template <int Index, class... Options>
inline constexpr bool computes_by_itself<vulkan<Index, Options...>> = true;
template <class... Devices>
inline constexpr bool computes_by_itself<any_of<Devices...>> = (computes_by_itself<Devices> || ...);
template <int Count>
inline constexpr bool computes_by_itself<equal_devices<Count>> = true;

/// A region given to a backend of such a device is anybody's.
template <class Part>
struct lifted_part : type_tag<Part> {};
template <class Backend>
  requires(Backend::device == device_kind::vulkan)
struct lifted_part<given_begin<Backend>> : type_tag<given_begin<any_backend>> {};

template <class Flat>
struct lifted;
template <class... Part, class... Device>
struct lifted<type_list<flat_part<Part, Device>...>>
    : type_tag<type_list<flat_part<typename lifted_part<Part>::type,
                                   std::conditional_t<computes_by_itself<Device>, void, Device>>...>> {};
template <class Pipeline, class Device>
struct flatten<on_processor<Pipeline>, Device> : lifted<typename flatten<Pipeline, Device>::type> {};

template <class Devices>
struct target_of;
template <class... Devices>
struct target_of<type_list<Devices...>> : type_tag<target<Devices...>> {};
template <class Target>
struct processor_of;
template <class... Devices>
struct processor_of<target<Devices...>>
    : target_of<decltype((type_list<>{} + ... +
                          std::conditional_t<computes_by_itself<Devices>, type_list<>, type_list<Devices>>{}))> {};

}  // namespace levada::detail
