// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/node_set.hpp: a sub-graph as the set of its nodes.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace levada {

/// A set of the nodes 0 ... N - 1.
template <std::size_t N>
class node_set {
 public:
  static constexpr std::size_t words = (N + 63) / 64;

  constexpr node_set() = default;
  constexpr node_set(std::initializer_list<std::size_t> nodes) {
    for (const std::size_t n : nodes) insert(n);
  }
  /// The `count` nodes from `first` on.
  static constexpr node_set run(std::size_t first, std::size_t count) {
    node_set set;
    for (std::size_t n = first; n < first + count; ++n) set.insert(n);
    return set;
  }

  constexpr bool contains(std::size_t n) const { return (words_[n / 64] >> n % 64 & 1) != 0; }
  constexpr void insert(std::size_t n) { words_[n / 64] |= std::uint64_t{1} << n % 64; }
  constexpr void erase(std::size_t n) { words_[n / 64] &= ~(std::uint64_t{1} << n % 64); }
  constexpr bool empty() const {
    for (const std::uint64_t w : words_)
      if (w != 0) return false;
    return true;
  }
  constexpr std::size_t size() const {
    std::size_t count = 0;
    for (const std::uint64_t w : words_) count += static_cast<std::size_t>(std::popcount(w));
    return count;
  }
  /// The smallest node; `N` where there is none.
  constexpr std::size_t first() const { return from(0); }
  /// The smallest node that is not there, at most `N`.
  constexpr std::size_t first_missing() const {
    for (std::size_t i = 0; i < words; ++i)
      if (~words_[i] != 0) {
        const std::size_t n = 64 * i + static_cast<std::size_t>(std::countr_one(words_[i]));
        return n < N ? n : N;
      }
    return N;
  }
  constexpr std::size_t last() const {
    for (std::size_t i = words; i-- > 0;)
      if (words_[i] != 0) return 64 * i + 63 - static_cast<std::size_t>(std::countl_zero(words_[i]));
    return N;
  }

  /// Calls `visit` with each node, the smallest first.
  template <class Visit>
  constexpr void for_each(Visit visit) const {
    for (std::size_t i = 0; i < words; ++i)
      for (std::uint64_t w = words_[i]; w != 0; w &= w - 1)
        visit(64 * i + static_cast<std::size_t>(std::countr_zero(w)));
  }

  constexpr bool intersects(const node_set& other) const {
    for (std::size_t i = 0; i < words; ++i)
      if ((words_[i] & other.words_[i]) != 0) return true;
    return false;
  }
  constexpr bool contains(const node_set& other) const {
    for (std::size_t i = 0; i < words; ++i)
      if ((other.words_[i] & ~words_[i]) != 0) return false;
    return true;
  }

  constexpr node_set& operator|=(const node_set& other) {
    for (std::size_t i = 0; i < words; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  constexpr node_set& operator&=(const node_set& other) {
    for (std::size_t i = 0; i < words; ++i) words_[i] &= other.words_[i];
    return *this;
  }
  constexpr node_set& operator-=(const node_set& other) {
    for (std::size_t i = 0; i < words; ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  friend constexpr node_set operator|(node_set a, const node_set& b) { return a |= b; }
  friend constexpr node_set operator&(node_set a, const node_set& b) { return a &= b; }
  friend constexpr node_set operator-(node_set a, const node_set& b) { return a -= b; }

  friend constexpr bool operator==(const node_set& a, const node_set& b) {
    for (std::size_t i = 0; i < words; ++i)
      if (a.words_[i] != b.words_[i]) return false;
    return true;
  }
  /// The order of the sorted lists of nodes: {0} < {0, 1} < {0, 2} < {1}.
  friend constexpr bool operator<(const node_set& a, const node_set& b) {
    for (std::size_t i = 0; i < words; ++i) {
      const std::uint64_t differing = a.words_[i] ^ b.words_[i];
      if (differing == 0) continue;
      const std::size_t n = 64 * i + static_cast<std::size_t>(std::countr_zero(differing));
      return a.contains(n) ? b.from(n) != N : a.from(n) == N;
    }
    return false;
  }

  constexpr std::uint64_t hash() const {
    std::uint64_t h = 0;
    for (const std::uint64_t w : words_) h = (h ^ w ^ w >> 29) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
  }

 private:
  /// The smallest node that is not before `n`; `N` where there is none.
  constexpr std::size_t from(std::size_t n) const {
    std::uint64_t mask = ~std::uint64_t{0} << n % 64;
    for (std::size_t i = n / 64; i < words; ++i, mask = ~std::uint64_t{0})
      if ((words_[i] & mask) != 0) return 64 * i + static_cast<std::size_t>(std::countr_zero(words_[i] & mask));
    return N;
  }

  std::uint64_t words_[words]{};
};

}  // namespace levada
