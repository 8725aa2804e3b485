// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/passed_states.hpp: the states of a partition that its driver has seen. Behind one that has all items up
// to where a session goes on, what is stored before it is needed no more.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <levada/fleet/detail/keyed_names.hpp>
#include <levada/fleet/detail/keyed_streams.hpp>
#include <levada/fleet/detail/nats.hpp>

namespace levada::detail {

/// What a state has passed.
struct passed_state {
  std::uint64_t inputs = 0;  ///< of the partition, before that sequence
  std::uint64_t state = 0;   ///< its own sequence in the chain
  std::uint64_t item = 0;    ///< of the source: those before are in it
};

class passed_states {
 public:
  bool is_empty() const { return all_.empty(); }
  void clear() { all_.clear(); }
  /// One that comes again is there.
  void add(const passed_state& s) {
    if (all_.empty() || all_.back().state < s.state) all_.push_back(s);
  }
  /// The last that has no item from that one on. It and those before are forgotten.
  std::optional<passed_state> take(std::uint64_t needed) {
    const auto end =
        std::find_if(all_.begin(), all_.end(), [needed](const passed_state& s) { return s.item > needed; });
    if (end == all_.begin()) return std::nullopt;
    const passed_state last = *std::prev(end);
    all_.erase(all_.begin(), end);
    return last;
  }

 private:
  std::vector<passed_state> all_;
};

/// Removes what it has passed.
inline void purge_passed(const nats_connection& by, const keyed_names& names, std::size_t partition,
                         const passed_state& has) noexcept {
  const std::string chain = names.chain_stream(partition);
  purge_up_to(by, names.inputs_stream, names.inputs(partition), has.inputs);
  purge_up_to(by, chain, names.outcomes(partition), has.state);
  keep_last(by, chain, names.states(partition));
  keep_last(by, chain, names.marks(partition));
}

}  // namespace levada::detail
