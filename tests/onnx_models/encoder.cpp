// SPDX-License-Identifier: Apache-2.0
// An encoder of a hundred million parameters: `deploy` takes little more memory than they do, and its result is that of
// the reference backend.

#include <cstddef>
#include <filesystem>
#include <memory>

#include <sys/resource.h>

#include <encoder.onnx.hpp>

#include <levada/backend/reference.hpp>
#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>

#include <doctest/doctest.h>

#include "onnx_models/close.hpp"

namespace lv = levada;

namespace {

/// The most memory that this process has had so far, in bytes.
std::size_t peak() {
  rusage use{};
  REQUIRE(getrusage(RUSAGE_SELF, &use) == 0);
  return static_cast<std::size_t>(use.ru_maxrss) * 1024;
}

TEST_CASE("deploying needs at most 1.2 times the weights, and computes what the reference backend does") {
  const std::filesystem::path file = encoder::weights_file;
  const lv::safetensors weights{file};
  const auto input = std::make_unique<encoder::x0_type>();
  for (std::size_t i = 0; i < input->size(); ++i) input->data()[i] = static_cast<float>(i * 37 % 101) / 101.0f - 0.5f;

  const std::size_t before = peak();
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<encoder::x0_type> | encoder::graph(weights));
  const std::size_t taken = peak() - before;
  MESSAGE("deploy: " << taken << " bytes at most, of weights of " << std::filesystem::file_size(file));
  CHECK(static_cast<double>(taken) <= 1.2 * static_cast<double>(std::filesystem::file_size(file)));
  const auto result = std::make_unique<encoder::x12_result>(app(*input));

  auto plain = lv::deploy<lv::target<lv::cpu<2>>, lv::backends<lv::reference>>(lv::input<encoder::x0_type> |
                                                                               encoder::graph(weights));
  const auto wanted = std::make_unique<encoder::x12_result>(plain(*input));
  lv::testing::check_close(*result, *wanted);
}

}  // namespace
