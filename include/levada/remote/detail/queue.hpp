// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/queue.hpp: a remote device as a deployment uses it: the lanes of its sessions, and the one thread that
// connects them and connects them again.

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>

#include <levada/core/detail/device_queue.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/kept_lanes.hpp>
#include <levada/remote/detail/lane.hpp>

namespace levada::detail {

class remote_queue final : public device_queue {
 public:
  void prepare(const device_segment& segment) override {
    const auto& kernel = static_cast<const remote_kernel&>(*segment.units[0].kernel);  // its one part
    check_nodes(*kernel.way, longest_message(kernel.item.most_bytes, kernel.result.most_bytes));
    kernels_[segment.index] = &kernel;
  }

  std::unique_ptr<device_lane> open(std::size_t segment, std::size_t slots, device_client& client) override {
    if (client.terms().is_one_item)
      if (auto lane = lanes_.use_again([&](const remote_lane& l) { return l.is_for(segment, slots); },
                                       [&](remote_lane& l) { l.serve(client); }))
        return lane;
    return lanes_.add(std::make_unique<remote_lane>(lanes_, segment, slots, client, *kernels_.at(segment)));
  }

 private:
  std::map<std::size_t, const remote_kernel*> kernels_;  ///< of the segments
  kept_lanes<remote_lane> lanes_{"a remote device", [](remote_lane& lane) {
                                   const auto now = std::chrono::steady_clock::now();
                                   if (lane.due() <= now) lane.keep(now);
                                   return lane.due();
                                 }};
};

}  // namespace levada::detail

namespace levada {

template <fixed_string Name, class... Devices>
struct device_driver<remote<Name, Devices...>> {
  using backend = detail::remote_backend;
  static std::unique_ptr<detail::device_queue> open() { return std::make_unique<detail::remote_queue>(); }
};

}  // namespace levada
