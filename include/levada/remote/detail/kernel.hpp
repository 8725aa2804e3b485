// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/kernel.hpp: a part of a pipeline on another machine as the driver's plan sees it: one op, whose kernel
// the device computes by itself.

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/device_queue.hpp>
#include <levada/graph/detail/queue_info.hpp>
#include <levada/graph/op.hpp>
#include <levada/remote/detail/frame.hpp>
#include <levada/remote/detail/transport.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

/// How a driver comes to the nodes of a device, known from start-up on.
struct remote_way {
  static constexpr std::string_view kind = "remote";

  std::string device;
  std::string identity;  ///< what both ends compare
  std::shared_ptr<transport> by;
  std::vector<std::string> addresses;
  std::chrono::nanoseconds patience{};  ///< without any node
  bool tells_captures = false;          ///< stages there see when an item was captured
  bool begins_anew = false;             ///< stages there know what came before in their session
};

/// Its items wait nowhere between the machines.
struct no_queue {};
template <class Queue>
inline constexpr const queue_info* queue_found = &Queue::value;
template <>
inline constexpr const queue_info* queue_found<no_queue> = nullptr;

/// `Way`: how a driver comes there, and the word for the kind of device. `Queue`: its `value` is what servers store.
template <class In, class Out, class Way, class Queue = no_queue>
struct remote_op {
  using takes_flowing_whole = void;
  static constexpr std::string_view kind = Way::kind;
  static constexpr std::string_view expects = "the item of the part on the other machine";
  template <std::same_as<In> Given>
  using output = Out;
  static constexpr const queue_info* queue = queue_found<Queue>;
  template <class>
  static constexpr double flops = 0;
  template <class>
  static constexpr std::array<parameter_info, 0> parameters{};

  std::shared_ptr<const Way> way;
};

/// The types of its item and its result are in these alone.
template <class Way>
struct kernel_elsewhere : device_kernel {
  static constexpr std::size_t scratch_bytes = 0, weight_bytes = 0;

  std::shared_ptr<const Way> way;
  wire_code item, result;
  void (*make_filtered)(void* at) = nullptr;  ///< constructs what stands for no result; null where there is always one
};
using remote_kernel = kernel_elsewhere<remote_way>;

template <class In, class... Ops>
struct remote_kernel_of;
template <class In, class Out, class Way, class Queue>
struct remote_kernel_of<In, remote_op<In, Out, Way, Queue>> : kernel_elsewhere<Way> {
  remote_kernel_of(const remote_op<In, Out, Way, Queue>& op, parameter_values) {
    this->in_bytes = sizeof(In);
    this->out_bytes = sizeof(Out);
    this->way = op.way;
    this->item = wire_code_of<In>;
    this->result = wire_code_of<Out>;
    if constexpr (requires { typename Out::may_be_missing; }) this->make_filtered = [](void* at) { ::new (at) Out{}; };
  }
};

/// The backend of a device elsewhere: of one part, which it runs as one.
template <class Way, device_kind Kind>
struct backend_elsewhere {
  static constexpr std::string_view name = Way::kind;
  static constexpr device_kind device = Kind;
  static constexpr std::size_t longest_run = 1;
  template <class In, class... Ops>
  using kernel = remote_kernel_of<In, Ops...>;
};
struct remote_backend : backend_elsewhere<remote_way, device_kind::remote> {};

/// The longest message of a device whose items and results are at most so long.
constexpr std::size_t longest_message(std::size_t item, std::size_t result) {
  const std::size_t largest = item > result ? item : result, text = 64 << 10;
  return most_head_bytes + (largest > text ? largest : text);
}

}  // namespace levada::detail
