// SPDX-License-Identifier: Apache-2.0
// What the kernels of `eigen` and `onednn` take from the heap while they run.

#include <doctest/doctest.h>

#include <vector>

#include <levada/backend/eigen.hpp>
#include <levada/backend/onednn.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/conv2d.hpp>
#include <levada/nn/dense.hpp>
#include <levada/nn/pool2d.hpp>
#include <levada/nn/reshape.hpp>

#include <support/counting.hpp>

using namespace levada;

namespace {

using features = tensor<float, 20, 24, 24>;
using conv = conv2d_op<24, levada::size<3>, padding<1>>;

/// Allocations of one call, once warm.
template <class Kernel, class In, class Out>
double allocations_a_call(const Kernel& kernel, const In& in, Out& out) {
  constexpr int calls = 100;
  std::vector<std::byte> scratch(Kernel::scratch_bytes + 64);
  std::byte* const aligned = scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) % 64;
  kernel(in, out, aligned);
  const allocation_counts before = allocations_now();
  for (int i = 0; i < calls; ++i) kernel(in, out, aligned);
  return static_cast<double>((allocations_now() - before).heap()) / calls;
}

const std::vector<float> numbers(24 * 24 * 24 * 10, 0.125f);
const void* const parameters[] = {numbers.data(), numbers.data()};

}  // namespace

TEST_CASE("eigen allocates nothing") {
  const auto in = std::make_unique<features>(), out = std::make_unique<features>();
  const auto wide = std::make_unique<tensor<float, 24, 24, 24>>();
  const eigen::kernel<features, conv, relu_op> k(conv{}, relu_op{}, parameter_values{parameters});
  CHECK(allocations_a_call(k, *in, *wide) == 0);

  const auto row = std::make_unique<tensor<float, 24 * 24 * 24>>();
  const auto ten = std::make_unique<tensor<float, 10>>();
  const eigen::kernel<tensor<float, 24 * 24 * 24>, dense_op<10>> dense(dense_op<10>{}, parameter_values{parameters});
  CHECK(allocations_a_call(dense, *row, *ten) == 0);
}

TEST_CASE("onednn allocates what oneDNN needs for the list of a primitive's arguments") {
  const auto in = std::make_unique<features>();
  const auto out = std::make_unique<tensor<float, 24, 12, 12>>();
  const onednn::kernel<features, conv, relu_op, max_pool2d_op<levada::size<2>>> k(
      conv{}, relu_op{}, max_pool2d_op<levada::size<2>>(), parameter_values{parameters});
  const double each = allocations_a_call(k, *in, *out);
  MESSAGE("allocations of oneDNN a call of a convolution, a pool and the reorders around them: " << each);
  CHECK(each <= 40);
}
