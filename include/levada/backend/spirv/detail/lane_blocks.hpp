// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/lane_blocks.hpp: a session's memory on a device for one segment, and how it comes by what
// another segment left on a Vulkan device.

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include <levada/backend/spirv/detail/external_memory.hpp>
#include <levada/backend/spirv/detail/prepared.hpp>

namespace levada::detail {

/// Where a segment finds what the one before it has left on a Vulkan device.
enum class hand_over_way : std::uint8_t {
  through_host,   ///< the host copies it
  same_memory,    ///< where it lies: both are on one device
  device_memory,  ///< likewise: two devices see the memory, which belongs to the queues of one of them at a time
  host_memory,    ///< in the host's memory, which both devices see
};

constexpr std::string_view words_of(hand_over_way way) {
  constexpr std::string_view words[] = {"through the host", "where it lies", "in device memory that both see",
                                        "in host memory that both see"};
  return words[static_cast<std::size_t>(way)];
}

class lane_blocks {
 public:
  lane_blocks(const vulkan_context& on, const prepared_segment& of, std::size_t slots, bool staging)
      : on_(on), of_(of) {
    const bool in_place = !staging && is_in_place(on.memory(), block_use::to_device);
    const bool out_place = !staging && is_in_place(on.memory(), block_use::to_host);
    const std::size_t in = slots * in_stride(), out = slots * out_stride(), inner = slots * inner_stride();
    in_ = memory_block(on, in_place ? block_use::to_device : block_use::device, in, "the inputs of a segment");
    out_ = memory_block(on, out_place ? block_use::to_host : block_use::device, out, "the outputs of a segment");
    if (inner != 0) inner_ = memory_block(on, block_use::device, inner, "the intermediate values of a segment");
    if (!in_place) up_.emplace(on, block_use::upload, in, "the uploads of a segment");
    if (!out_place) down_.emplace(on, block_use::download, out, "the downloads of a segment");
  }

  /// Where the host leaves the input and finds the output of a slot.
  std::byte* input(std::size_t slot) const { return (up_ ? *up_ : in_).mapped() + slot * in_stride(); }
  const std::byte* output(std::size_t slot) const { return (down_ ? *down_ : out_).mapped() + slot * out_stride(); }

  // ---- from device to device; before anything is recorded ----

  /// From now on the input is what `from` gives, where it lies, if the drivers allow that. Where this throws they do
  /// not, and the host copies it as if nothing had been asked.
  hand_over_way take_from(lane_blocks& from) {
    if (!of_.takes_item_as_it_is() || !from.of_.gives_one_value() || of_.in_bytes() != from.of_.out_bytes())
      return way_;
    const auto gives = [&](hand_over_way way) {
      return from.given_ == way || from.given_ == hand_over_way::through_host;
    };
    if (&on_ == &from.on_) {
      if (gives(hand_over_way::same_memory)) take_same_memory(from);
    } else if (from.given_ == hand_over_way::through_host && share_device_memory(from.on_, on_)) {
      take_device_memory(from);
    } else if (gives(hand_over_way::host_memory) && takes_host_memory(from.on_) && takes_host_memory(on_)) {
      take_host_memory(from);
    }
    return way_;
  }
  hand_over_way way() const { return way_; }

  /// The host does not take the output.
  void keep_output() {
    host_takes_ = false;
    if (given_ != hand_over_way::host_memory) down_.reset();
  }
  bool host_takes_output() const { return host_takes_; }

 protected:
  std::size_t in_stride() const { return device_aligned(of_.in_bytes()); }
  std::size_t out_stride() const { return device_aligned(of_.out_bytes()); }
  std::size_t inner_stride() const { return device_aligned(of_.segment().inner_bytes); }
  /// Where the kernels find the input.
  VkBuffer taken() const { return taken_from_ != VkBuffer{} ? taken_from_ : in_.buffer(); }

  const vulkan_context& on_;
  const prepared_segment& of_;
  hand_over_way way_ = hand_over_way::through_host;    ///< of the input
  hand_over_way given_ = hand_over_way::through_host;  ///< that the output goes to others
  bool host_takes_ = true;
  std::shared_ptr<const host_pages> in_pages_, out_pages_;  ///< freed behind the blocks in them
  VkBuffer taken_from_{};                                   ///< of the segment before, where it is on the same device
  memory_block in_, out_, inner_;
  std::optional<memory_block> up_, down_;

 private:
  void take_same_memory(lane_blocks& from) {
    taken_from_ = from.out_.buffer();
    in_ = {};
    up_.reset();
    way_ = from.given_ = hand_over_way::same_memory;
  }

  void take_device_memory(lane_blocks& from) {
    const char* const name = "what a segment gives another device";
    const block_use use = from.out_.mapped() != nullptr ? block_use::to_host : block_use::device;
    memory_block given = exported_block(from.on_, use, from.out_.bytes(), name);
    in_ = imported_block(on_, from.on_, given, name);
    up_.reset();
    from.out_ = std::move(given);
    way_ = from.given_ = hand_over_way::device_memory;
  }

  /// What the one copies out, if it does, the other copies in, if it does.
  void take_host_memory(lane_blocks& from) {
    const char* const name = "what a segment gives another device by the host's memory";
    const std::size_t bytes = from.out_.bytes();
    auto pages = from.out_pages_;
    memory_block given;
    if (pages == nullptr) {
      pages =
          std::make_shared<const host_pages>(bytes, std::max(host_page_alignment(on_), host_page_alignment(from.on_)));
      given = block_of_pages(from.on_, block_use::download, *pages, bytes, name);
    }
    (up_ ? *up_ : in_) = block_of_pages(on_, block_use::upload, *pages, bytes, name);
    in_pages_ = pages;
    if (from.out_pages_ == nullptr) {
      (from.down_ ? *from.down_ : from.out_) = std::move(given);
      from.out_pages_ = std::move(pages);
    }
    way_ = from.given_ = hand_over_way::host_memory;
  }
};

}  // namespace levada::detail
