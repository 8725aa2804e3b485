// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/outcome.hpp: what a worker says became of an item, put into the item's slot.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include <levada/core/detail/device_queue.hpp>
#include <levada/fleet/detail/kernel.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

inline std::exception_ptr error_of_item(const std::string& who, std::uint64_t item, std::string_view worker,
                                        std::string_view what) noexcept {
  try {
    return std::make_exception_ptr(remote_error(who + ", worker " + std::string(worker) + ", item " +
                                                std::to_string(item) + ": " + std::string(what)));
  } catch (...) {
    return std::current_exception();
  }
}

/// Where the item is wanted no more nothing happens. What it failed with, where it did. `first`: the number in messages
/// of the session's first item.
inline std::exception_ptr take_outcome(const std::string& who, const fleet_kernel& kernel, device_client& client,
                                       std::size_t segment, const fleet_reader::frame& f, std::string_view worker,
                                       std::uint64_t first = 0) noexcept {
  const std::uint64_t item = f.header.item;
  try {
    if (client.input(segment, item - first, 0) == nullptr) return nullptr;
    const std::span<const std::byte> pieces[] = {f.payload};
    wire_reader from(pieces);
    void* const at = client.output(segment, item - first, 0);
    switch (f.header.kind) {
      case frame_kind::value:
        kernel.result.construct(from, at);
        return nullptr;
      case frame_kind::failure:
        throw remote_error(text_from_wire(from, most_text_bytes));
      case frame_kind::filtered:
        if (kernel.make_filtered != nullptr) {
          kernel.make_filtered(at);
          return nullptr;
        }
        [[fallthrough]];
      default:
        throw wire_error(std::string(worker) + " answers with what is no outcome");
    }
  } catch (const std::exception& e) {
    return error_of_item(who, item, worker, e.what());
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace levada::detail
