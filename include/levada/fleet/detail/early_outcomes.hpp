// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/early_outcomes.hpp: outcomes that a driver left to the next one, which has not pushed their items yet.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <levada/fleet/detail/message.hpp>
#include <levada/remote/detail/frame.hpp>

namespace levada::detail {

/// Outcomes whose items are not there yet. Of one lock.
class early_outcomes {
 public:
  struct outcome {
    frame_header header{};
    std::vector<std::byte> payload;
    std::string worker;
  };

  explicit early_outcomes(std::size_t most = std::numeric_limits<std::size_t>::max()) : most_(most) {}

  /// Those before `first` are wanted by nobody.
  void add(const fleet_reader::frame& f, std::string_view worker, std::uint64_t first) {
    if (by_number_.size() == most_) std::erase_if(by_number_, [first](const auto& o) { return o.first < first; });
    if (by_number_.size() < most_)  // else it comes again
      by_number_.try_emplace(f.header.item,
                             outcome{f.header, {f.payload.begin(), f.payload.end()}, std::string(worker)});
  }
  bool has(std::uint64_t number) const { return by_number_.contains(number); }
  std::optional<outcome> take(std::uint64_t number) {
    const auto found = by_number_.find(number);
    if (found == by_number_.end()) return std::nullopt;
    std::optional<outcome> taken(std::move(found->second));
    by_number_.erase(found);
    return taken;
  }

 private:
  const std::size_t most_;
  std::unordered_map<std::uint64_t, outcome> by_number_;
};

}  // namespace levada::detail
