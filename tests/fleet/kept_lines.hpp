// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/kept_lines.hpp: what the library logs.

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <levada/core/detail/log.hpp>

namespace levada::test {

/// The lines of the library while it is there.
class kept_lines final : log_sink {
 public:
  kept_lines() : before_(log_to(this)) {}
  ~kept_lines() { log_to(before_); }
  bool has_line(std::string_view line) const {
    const std::lock_guard lock(mutex_);
    return std::find(lines_.begin(), lines_.end(), line) != lines_.end();
  }
  /// Words of any of them.
  bool has(std::string_view words) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const std::string& line) { return line.find(words) != line.npos; });
  }

 private:
  void write(log_level, std::string_view line) noexcept override {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  }

  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  log_sink* before_;
};

}  // namespace levada::test
