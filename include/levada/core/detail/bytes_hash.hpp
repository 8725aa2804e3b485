// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/bytes_hash.hpp: numbers for bytes, a few or many at the rate of memory: they tell bytes from others by
// chance, and from no one who tries.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace levada::detail {

/// FNV-1a of characters or bytes. Its low bits depend on the low bits of its input alone.
template <class Bytes>
constexpr std::uint64_t fnv1a(const Bytes& bytes) {
  std::uint64_t hash = 14695981039346656037u;
  for (const auto b : bytes) hash = (hash ^ static_cast<unsigned char>(b)) * 1099511628211u;
  return hash;
}

/// Each bit of the result depends on all of `x`: the mixer of SplitMix64.
constexpr std::uint64_t mixed_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The hash of some runs of bytes, one after the other; their lengths are part of it. Four words at a time, each into a
/// sum of its own: a multiplication need not wait for the one before.
class bytes_hash {
 public:
  explicit bytes_hash(std::uint64_t seed = 0) : sum_{seed, seed ^ factor, ~seed, seed + factor} {}

  void add(std::span<const std::byte> bytes) {
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= block; at += block, left -= block) add_block(at);
    if (left != 0) {
      std::byte rest[block] = {};
      std::memcpy(rest, at, left);
      add_block(rest);
    }
    sum_[0] = step(sum_[0], bytes.size());
  }

  std::uint64_t value() const {
    std::uint64_t all = 0;
    for (const std::uint64_t sum : sum_) all = mixed_bits(step(all, sum));
    return all;
  }

 private:
  static constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
  static constexpr std::size_t words = 4, block = words * sizeof(std::uint64_t);

  /// Of different words different sums, whatever the sum before.
  static constexpr std::uint64_t step(std::uint64_t sum, std::uint64_t word) {
    const std::uint64_t all = (sum ^ word) * factor;  // a bit of the word in all bits above it, and these below
    return all ^ (all >> 32);
  }
  void add_block(const std::byte* at) {
    std::uint64_t word[words];
    std::memcpy(word, at, block);
    for (std::size_t i = 0; i < words; ++i) sum_[i] = step(sum_[i], word[i]);
  }

  std::uint64_t sum_[words];
};

}  // namespace levada::detail
