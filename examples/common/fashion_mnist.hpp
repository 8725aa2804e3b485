// SPDX-License-Identifier: Apache-2.0
#pragma once
// common/fashion_mnist.hpp: where the data set lies, and its pictures with their labels.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "idx.hpp"
#include "run.hpp"

namespace example::fashion_mnist {

/// A grey picture, 0 ... 255: 1, height, width.
using picture = levada::tensor<std::uint8_t, 1, 28, 28>;

inline constexpr std::array<std::string_view, 10> label_names{
    "T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"};

/// Pictures and, at the same indices, their labels 0 ... 9.
struct labelled {
  std::vector<picture> pictures;
  std::vector<std::uint8_t> labels;
};

/// The folder of the data set: the one given, else that of the environment, else that of Debian's package.
inline std::filesystem::path folder(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* const named = std::getenv("LEVADA_FASHION_MNIST"); named != nullptr) return named;
  return "/usr/share/datasets/fashion-mnist";
}

/// One part of the data set: "train" (60,000) or "t10k" (10,000). Throws `missing_data` when it is not there.
inline labelled read(const std::filesystem::path& folder, const std::string& part) {
  const auto pictures = folder / (part + "-images-idx3-ubyte.gz"), labels = folder / (part + "-labels-idx1-ubyte.gz");
  for (const auto& file : {pictures, labels})
    if (!std::filesystem::exists(file))
      throw missing_data(file.string() +
                         " is not there. The Fashion-MNIST data set is Debian's package dataset-fashion-mnist:\n"
                         "  apt-get install dataset-fashion-mnist\n"
                         "Where it lies elsewhere, name its folder with --data or LEVADA_FASHION_MNIST.");
  labelled result{read_idx_tensors<picture>(pictures), read_idx(labels).values};
  if (result.pictures.size() != result.labels.size())
    throw levada::error(labels.string() + ": holds " + std::to_string(result.labels.size()) + " labels for " +
                        std::to_string(result.pictures.size()) + " pictures");
  return result;
}

}  // namespace example::fashion_mnist
