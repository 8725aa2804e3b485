// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/network.hpp: a network as one contender computes it, known by its tensors of floats alone.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace models {

/// What a kernel of ours does of an item, for the table of layers.
struct layer {
  std::string name, method;
  double flops, seconds;
};

/// Inputs and outputs in the order of the ONNX file.
class network {
 public:
  network() = default;
  network(const network&) = delete;
  network& operator=(const network&) = delete;
  virtual ~network() = default;

  virtual std::vector<std::span<float>> inputs() = 0;
  /// The inputs are filled: for who needs them in another layout, as its users would have them.
  virtual void take_inputs() {}
  /// Of the last `run`.
  virtual std::vector<std::span<const float>> outputs() = 0;

  /// One item on the calling thread.
  virtual void run() = 0;
  /// As many items, all of them the inputs, on two threads.
  virtual void run_on_two(std::size_t items) = 0;
};

/// Half of the items by each of two threads; or all by the first, where it has `Threads` itself.
template <int Threads, class First, class Second>
void run_halves(std::size_t items, const First& first, const Second& second) {
  if constexpr (Threads > 1) {
    for (std::size_t i = 0; i < items; ++i) first();
  } else {
    const std::jthread other([&] {
      for (std::size_t i = 0; i < items / 2; ++i) second();
    });
    for (std::size_t i = items / 2; i < items; ++i) first();
  }
}

/// levada's.
class deployed_network : public network {
 public:
  /// One item on two threads.
  virtual void run_divided() = 0;
  /// What each kernel takes at least, one item after the other.
  virtual std::vector<layer> layers() = 0;
};

/// One of the networks that were built, each in a unit of its own.
struct entry {
  std::string name, element;  ///< "float", "int8" or "bf16"
  std::string file;           ///< of ONNX
  std::int64_t constant;      ///< that an input of integers is
  bool is_direct;             ///< by convolutions that are not transformed, beside the same network
  std::unique_ptr<deployed_network> (*deploy)();
};
inline std::vector<entry>& entries() {
  static std::vector<entry> all;
  return all;
}

/// Another library that computes networks.
struct peer {
  std::string name;
  /// `threads`: of each item, 1 or 2. `sizes`: the elements of each input of floats. Null where it does not know what
  /// the network has.
  std::unique_ptr<network> (*make)(const entry&, const std::vector<std::size_t>& sizes, int threads);
  /// Networks of bfloat16 are computed with that; by others with floats, to check ours by them.
  bool has_bfloat16 = false;
  /// Its convolutions are not transformed: it is beside ours that are not, where it would else transform them.
  bool is_direct = false;
};
/// Those that were found when this was built.
inline std::vector<peer>& peers() {
  static std::vector<peer> all;
  return all;
}

}  // namespace models
