// SPDX-License-Identifier: Apache-2.0
#pragma once
// tests/image/picture.hpp: pictures of random bytes in planes with padded rows, of exactly so many bytes that a
// sanitizer sees any step beside them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <levada/image/view.hpp>

namespace levada::testing {

template <class View>
class picture_memory {
 public:
  /// Each row is followed by `padding` bytes, but for the last.
  explicit picture_memory(std::size_t padding, std::uint32_t seed = 20261121) {
    std::mt19937 random{seed};
    for (std::size_t p = 0; p < View::planes; ++p) {
      pitches_[p] = View::row_bytes(p) + padding;
      planes_[p].resize(pitches_[p] * (View::rows(p) - 1) + View::row_bytes(p));
      for (std::uint8_t& byte : planes_[p]) byte = static_cast<std::uint8_t>(random());
    }
  }

  View view() const {
    return [&]<std::size_t... P>(std::index_sequence<P...>) {
      return View(image_plane{planes_[P].data(), pitches_[P]}...);
    }(std::make_index_sequence<View::planes>());
  }

  std::vector<std::uint8_t>& plane(std::size_t index) { return planes_[index]; }

 private:
  std::array<std::vector<std::uint8_t>, View::planes> planes_;
  std::array<std::size_t, View::planes> pitches_{};
};

}  // namespace levada::testing
