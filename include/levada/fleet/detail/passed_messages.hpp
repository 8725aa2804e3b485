// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/passed_messages.hpp: the messages of a partition's chain that its driver has seen. Those whose outcomes
// are done, and the inputs that a state has passed, are needed no more.

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

struct passed_message {
  std::uint64_t sequence = 0;  ///< in the chain
  std::uint64_t item = 0;      ///< of the source, behind all that it and those before have
  std::uint64_t inputs = 0;    ///< of the partition, before that sequence it has all, as a state
};

class passed_messages {
 public:
  std::size_t size() const { return all_.size(); }
  /// Nothing is to be purged by these.
  void clear() { all_.clear(); }
  /// In their order; one before the last begins anew.
  void add(passed_message m) {
    if (m.sequence <= last_.sequence) {
      all_.clear();
      last_ = {};
    }
    m.item = std::max(m.item, last_.item);
    m.inputs = std::max(m.inputs, last_.inputs);
    last_ = m;
    all_.push_back(m);
  }
  /// The last that has no item from that one on. It and those before are forgotten.
  std::optional<passed_message> take(std::uint64_t done) {
    const auto end = std::find_if(all_.begin(), all_.end(), [done](const passed_message& m) { return m.item > done; });
    if (end == all_.begin()) return std::nullopt;
    const passed_message last = *std::prev(end);
    all_.erase(all_.begin(), end);
    return last;
  }

 private:
  std::vector<passed_message> all_;
  passed_message last_;
};

/// Removes what is before it. The last outcomes stay: by them the next worker knows how far the one before was.
inline void purge_passed(const nats_connection& by, const keyed_names& names, std::size_t partition,
                         const passed_message& has) noexcept {
  const std::string chain = names.chain_stream(partition);
  purge_up_to(by, names.inputs_stream, names.inputs(partition), has.inputs);
  purge_up_to(by, chain, names.outcomes(partition), has.sequence);
  keep_last(by, chain, names.states(partition));
  keep_last(by, chain, names.marks(partition));
}

}  // namespace levada::detail
