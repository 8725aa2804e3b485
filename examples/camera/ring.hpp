// SPDX-License-Identifier: Apache-2.0
#pragma once
// camera/ring.hpp: a camera's ring of NV12 buffers with padded rows, lent to the program one picture at a time. Each
// picture shows its own number, as a filmed clock would: that is how the program knows later which one it has before
// it.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <levada/image/view.hpp>

namespace example {

inline constexpr std::size_t height = 480, width = 640;
using frame_view = levada::image_view<levada::pixel::nv12, height, width>;
using frame = levada::image_buffer<levada::pixel::nv12, height, width>;

/// The number is drawn as black and white blocks of 16 x 16 pixels, one a bit, along the upper edge and again along the
/// lower edge: a torn picture, put together of two, shows two numbers.
inline constexpr std::size_t block = 16, number_bits = 24;

/// The number along one edge of a picture whose pixel (y, x) is bright where `bright(y, x)`.
template <class Bright>
std::uint32_t number_shown(Bright bright, bool lower) {
  std::uint32_t number = 0;
  for (std::size_t bit = 0; bit < number_bits; ++bit)
    number |= std::uint32_t{bright(lower ? height - block / 2 : block / 2, bit * block + block / 2)} << bit;
  return number;
}

class frame_ring {
 public:
  static constexpr std::size_t buffers = 4, pitch = 704;  // rows padded to a multiple of 64 bytes, and one more

  frame_ring() {
    for (buffer& b : buffers_) b.bytes.assign(pitch * (height + height / 2), 128);
  }
  frame_ring(const frame_ring&) = delete;

  /// A new picture in a free buffer; nothing while all are lent, as a camera skips a picture then.
  std::optional<frame> capture(std::uint32_t number, bool torn) {
    for (buffer& b : buffers_) {
      if (b.lent.exchange(true)) continue;
      ++lent_;
      draw(b.bytes.data(), number, torn ? number - 1 : number);
      return frame(frame_view({b.bytes.data(), pitch}, {b.bytes.data() + pitch * height, pitch}), &take_back, this);
    }
    return std::nullopt;
  }

  std::size_t lent() const { return lent_; }
  std::size_t returned() const { return returned_.load(); }
  /// Every buffer that was lent came back, and none came back that was not lent.
  bool is_whole() const { return returned_.load() == lent_ && strange_.load() == 0; }

 private:
  struct buffer {
    std::vector<std::uint8_t> bytes;
    std::atomic<bool> lent{false};
  };

  static void draw(std::uint8_t* luma, std::uint32_t upper, std::uint32_t lower) {
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x) {
        const bool edge = (y < block || y >= height - block) && x < number_bits * block;
        const bool bit = ((y < block ? upper : lower) >> (x / block) & 1) != 0;
        luma[y * pitch + x] = static_cast<std::uint8_t>(edge ? (bit ? 235 : 16) : (x + y + upper) % 220 + 16);
      }
  }

  static void take_back(void* ring, const frame_view& view) noexcept {
    frame_ring& mine = *static_cast<frame_ring*>(ring);
    bool was_lent = false;
    for (buffer& b : mine.buffers_)
      if (b.bytes.data() == view.plane(0).data) was_lent = b.lent.exchange(false);
    if (!was_lent) ++mine.strange_;
    ++mine.returned_;
  }

  std::array<buffer, buffers> buffers_;
  std::size_t lent_ = 0;
  std::atomic<std::size_t> returned_{0}, strange_{0};
};

}  // namespace example
