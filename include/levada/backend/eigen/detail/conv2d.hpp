// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/eigen/detail/conv2d.hpp: a convolution as a matrix product: the taps of a block of outputs are gathered into
// columns (im2col), the filters were packed at start-up. One of 1 x 1 multiplies the picture as it lies.

#include <algorithm>
#include <cstddef>
#include <utility>

#include <levada/backend/detail/weighted_run.hpp>
#include <levada/backend/eigen/detail/product.hpp>

namespace levada::detail {

class eigen_conv2d {
 public:
  eigen_conv2d(op_run run, const folded_weights& folded)
      : window_(run[0].window),
        channels_(run[0].input().extents[0]),
        height_(run[0].input().extents[1]),
        width_(run[0].input().extents[2]),
        columns_(run[0].gives.extents[2]),
        outputs_(run[0].gives.extents[1] * columns_),
        bias_(folded.bias),
        filters_(folded.weight.data(), bias_.size(), channels_ * window_.taps()) {}

  /// To pack a block, and to gather it before.
  static constexpr std::size_t scratch_bytes(const op_info& conv) {
    const std::size_t outputs = conv.gives.extents[1] * conv.gives.extents[2];
    const std::size_t inner = conv.input().extents[0] * conv.window.taps();
    return 2 * eigen_blocks::left_bytes(outputs, inner);
  }

  /// `epilogue(out, filter, first, count)` is called when so many results of a filter are there.
  template <class Epilogue>
  void operator()(const float* const* inputs, float* out, std::byte* scratch, const Epilogue& epilogue) const {
    const float* const in = inputs[0];
    for (std::size_t f = 0; f < bias_.size(); ++f) std::fill_n(out + f * outputs_, outputs_, bias_[f]);
    float* const packing = reinterpret_cast<float*>(scratch);
    const auto done = [&](std::size_t i, std::size_t count) {
      for (std::size_t f = 0; f < bias_.size(); ++f) epilogue(out + f * outputs_ + i, f, i, count);
    };
    if (is_plain()) {
      const auto lies = [&](std::size_t i, std::size_t, std::size_t k, std::size_t) {
        return std::pair(in + k * outputs_ + i, outputs_);
      };
      filters_(out, outputs_, packing, lies, done);
    } else {
      const std::size_t inner = channels_ * window_.taps();
      float* const gathered = reinterpret_cast<float*>(scratch + eigen_blocks::left_bytes(outputs_, inner));
      const auto gathers = [&](std::size_t i, std::size_t i_count, std::size_t k, std::size_t k_count) {
        gather(in, gathered, i, i_count, k, k_count);
        return std::pair<const float*, std::size_t>(gathered, i_count);
      };
      filters_(out, outputs_, packing, gathers, done);
    }
  }

 private:
  /// The taps are the picture.
  bool is_plain() const {
    const window2d& w = window_;
    return w.taps() == 1 && w.stride_y == 1 && w.stride_x == 1 && w.top + w.left + w.bottom + w.right == 0;
  }

  /// Row `k` of the gathered block has what tap `k` of the filters sees for each output.
  void gather(const float* in, float* to, std::size_t first, std::size_t count, std::size_t k, std::size_t taps) const {
    for (const std::size_t end = k + taps; k < end; ++k, to += count) {
      const std::size_t tap = k % window_.taps();
      gather_tap(in + k / window_.taps() * height_ * width_, to, first, count, tap / window_.width,
                 tap % window_.width);
    }
  }
  void gather_tap(const float* plane, float* to, std::size_t first, std::size_t count, std::size_t ky,
                  std::size_t kx) const {
    // Places behind the padding; those before it wrap around and are beyond the picture as well.
    const std::size_t left = kx * window_.dilation_x - window_.left;
    for (std::size_t i = first; i < first + count;) {
      const std::size_t y = i / columns_, x = i % columns_;
      const std::size_t end = std::min(columns_, x + (first + count - i));
      const std::size_t from_y = y * window_.stride_y + ky * window_.dilation_y - window_.top;
      if (from_y >= height_) {
        std::fill_n(to, end - x, 0.0f);
      } else {
        const float* const row = plane + from_y * width_;
        for (std::size_t column = x; column < end; ++column) {
          const std::size_t from_x = column * window_.stride_x + left;
          to[column - x] = from_x < width_ ? row[from_x] : 0;
        }
      }
      to += end - x;
      i += end - x;
    }
  }

  window2d window_;
  std::size_t channels_, height_, width_, columns_, outputs_;
  std::vector<float> bias_;
  packed_right filters_;
};

}  // namespace levada::detail
