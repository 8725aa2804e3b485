// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/node_set_list.hpp: sets of nodes, each once, numbered as they came.

#include <cstddef>
#include <cstdint>

#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/node_set.hpp>

namespace levada {

/// A list that knows its members: open addressing over their hashes.
template <std::size_t N>
class node_set_list {
 public:
  constexpr node_set_list() : slots_(64) {}

  constexpr std::size_t size() const { return sets_.size(); }
  constexpr const node_set<N>& operator[](std::size_t i) const { return sets_[i]; }

  /// The number of the set, which joins the list where it is new.
  constexpr std::size_t add(const node_set<N>& set) {
    const std::uint64_t hash = set.hash();
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t* slots = slots_.data();
    std::size_t at = hash & mask;
    for (; slots[at] != 0; at = (at + 1) & mask)
      if (hashes_[slots[at] - 1] == hash && sets_[slots[at] - 1] == set) return slots[at] - 1;
    sets_.push_back(set);
    hashes_.push_back(hash);
    slots_[at] = static_cast<std::uint32_t>(sets_.size());
    if (2 * sets_.size() > slots_.size()) grow();
    return sets_.size() - 1;
  }

 private:
  constexpr void grow() {
    const std::size_t mask = 4 * slots_.size() - 1;
    slots_.reset(mask + 1);
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      std::size_t at = hashes_[i] & mask;
      while (slots_[at] != 0) at = (at + 1) & mask;
      slots_[at] = static_cast<std::uint32_t>(i + 1);
    }
  }

  detail::constexpr_vector<node_set<N>> sets_;
  detail::constexpr_vector<std::uint64_t> hashes_;
  detail::constexpr_vector<std::uint32_t> slots_;  // a member's number and 1; 0: nobody
};

}  // namespace levada
