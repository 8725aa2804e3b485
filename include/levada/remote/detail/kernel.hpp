// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/kernel.hpp: a part of a pipeline on another machine as the driver's plan sees it: one op, whose kernel
// the device computes by itself.

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <levada/core/detail/device.hpp>
#include <levada/core/device_queue.hpp>
#include <levada/graph/op.hpp>
#include <levada/remote/transport.hpp>
#include <levada/remote/wire.hpp>

namespace levada::detail {

/// How a driver comes to the nodes of a device, known from start-up on.
struct remote_way {
  std::string device;
  std::string identity;  ///< what both ends compare
  std::shared_ptr<transport> by;
  std::vector<std::string> addresses;
  std::chrono::nanoseconds patience{};  ///< without any node
};

template <class In, class Out>
struct remote_op {
  static constexpr std::string_view kind = "remote";
  static constexpr std::string_view expects = "the item of the part on the other machine";
  template <std::same_as<In> Given>
  using output = Out;
  template <class>
  static constexpr double flops = 0;
  template <class>
  static constexpr std::array<parameter_info, 0> parameters{};

  std::shared_ptr<const remote_way> way;
};

/// The types of its item and its result are in these alone.
struct remote_kernel : device_kernel {
  static constexpr std::size_t scratch_bytes = 0, weight_bytes = 0;

  std::shared_ptr<const remote_way> way;
  wire_code item, result;
};

template <class In, class... Ops>
struct remote_kernel_of;
template <class In, class Out>
struct remote_kernel_of<In, remote_op<In, Out>> : remote_kernel {
  remote_kernel_of(const remote_op<In, Out>& op, parameter_values) {
    in_bytes = sizeof(In);
    out_bytes = sizeof(Out);
    way = op.way;
    item = wire_code_of<In>;
    result = wire_code_of<Out>;
  }
};

struct remote_backend {
  static constexpr std::string_view name = "remote";
  static constexpr device_kind device = device_kind::remote;
  static constexpr std::size_t longest_run = 1;
  template <class In, class... Ops>
  using kernel = remote_kernel_of<In, Ops...>;
};

/// The longest message of a device whose items and results are at most so long.
constexpr std::size_t longest_message(std::size_t item, std::size_t result) {
  const std::size_t largest = item > result ? item : result, text = 64 << 10;
  return 16 + (largest > text ? largest : text);
}

}  // namespace levada::detail
