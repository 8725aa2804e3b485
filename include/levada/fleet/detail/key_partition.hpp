// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/key_partition.hpp: the partition of a key: the same on all machines and of all compilers, for as long as
// states are stored.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <levada/core/detail/bytes_hash.hpp>

namespace levada::detail {

template <class Key>
using key_bytes = std::array<std::byte, sizeof(Key)>;
template <class Key>
key_bytes<Key> bytes_of_key(const Key& key) {
  return std::bit_cast<key_bytes<Key>>(key);
}

constexpr std::uint64_t hash_of_key(std::span<const std::byte> key) { return mixed_bits(fnv1a(key)); }
constexpr std::size_t partition_of(std::span<const std::byte> key, std::size_t partitions) {
  return static_cast<std::size_t>(hash_of_key(key) % partitions);
}

struct key_hash {
  template <std::size_t N>
  std::size_t operator()(const std::array<std::byte, N>& key) const {
    return static_cast<std::size_t>(hash_of_key(key));
  }
};

}  // namespace levada::detail
