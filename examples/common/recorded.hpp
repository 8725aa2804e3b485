// SPDX-License-Identifier: Apache-2.0
#pragma once
// common/recorded.hpp: what ONNX Runtime gave for an example's input (examples/common/record.js), to compare with.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>

#include <levada/core/error.hpp>
#include <levada/interop/safetensors.hpp>

namespace example {

/// Outputs in a safetensors file by their names; of a large one every `step`th element, as its metadata say.
class recorded_outputs {
 public:
  explicit recorded_outputs(const std::filesystem::path& file) : file_(file) {}

  /// The difference is at most `tolerance` in parts of the largest element.
  void check(const std::string& name, std::span<const float> computed, double tolerance = 1e-5) {
    const auto found = file_.find(name);
    if (!found) throw levada::error("nothing is recorded of the output " + name);
    const auto step = file_.metadata().find(name + ".step");
    const std::size_t stride = step == file_.metadata().end() ? 1 : std::stoul(step->second);
    const std::size_t count = found->extents.elements();
    if (count != (computed.size() + stride - 1) / stride) throw levada::error(name + " has another size than recorded");
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      float expected;
      std::memcpy(&expected, static_cast<const std::byte*>(found->data) + i * sizeof expected, sizeof expected);
      const double got = static_cast<double>(computed[i * stride]), wanted = static_cast<double>(expected);
      worst = std::isnan(got) ? 1e9 : std::max(worst, std::fabs(got - wanted));
      largest = std::max(largest, std::fabs(wanted));
    }
    std::printf("%s: %.1e of the largest element beside ONNX Runtime\n", name.c_str(), worst / largest);
    equal_ = equal_ && worst <= tolerance * largest;
  }

  bool report() const {
    if (!equal_) std::printf("The outputs differ from those of ONNX Runtime.\n");
    return equal_;
  }

 private:
  levada::safetensors file_;
  bool equal_ = true;
};

}  // namespace example
