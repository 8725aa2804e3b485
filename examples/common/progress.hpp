// SPDX-License-Identifier: Apache-2.0
#pragma once
// common/progress.hpp: a progress bar on the terminal; silent where there is none.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include <unistd.h>

namespace example {

/// Draws "what [#####.....] 50 %" on stderr, at most 20 times a second, and wipes it at its end. Never allocates.
class progress {
 public:
  progress(std::string_view what, std::size_t total)
      : what_(what), total_(total), shown_(total > 0 && isatty(STDERR_FILENO) != 0) {}
  progress(const progress&) = delete;
  ~progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }

  void advance() {
    ++done_;
    // Reading the clock costs as much as a small stage: with many steps, look at it now and then only.
    if (!shown_ || (total_ > 1000 && (done_ & 31) != 0)) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    draw();
  }

 private:
  void draw() const {
    constexpr std::size_t width = 40;
    std::array<char, width + 1> bar{};
    for (std::size_t i = 0; i < width; ++i) bar[i] = i * total_ < done_ * width ? '#' : '.';
    std::fprintf(stderr, "\r%.*s [%s] %zu %%", static_cast<int>(what_.size()), what_.data(), bar.data(),
                 100 * done_ / total_);
  }

  std::string_view what_;
  std::size_t total_, done_ = 0;
  bool shown_;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace example
