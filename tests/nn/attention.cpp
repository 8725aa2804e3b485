// SPDX-License-Identifier: Apache-2.0
// Attention in one pass on `simd` as the definition, and that as its parts.

#include <cmath>

#include "nn/direct.hpp"

#include <levada/backend/reference/ops.hpp>
#include <levada/ops.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

template <std::size_t... Dims>
using floats = tensor<float, Dims...>;
template <class... T>
using tuple = std::tuple<T...>;
using all_keys = attention_op<>;

static_assert(std::same_as<out<all_keys, tuple<floats<8, 5, 4>, floats<8, 7, 4>, floats<8, 7, 3>>>, floats<8, 5, 3>>);
static_assert(
    std::same_as<out<all_keys, tuple<floats<8, 5, 4>, floats<1, 7, 4>, floats<7, 3>, floats<5, 7>>>, floats<8, 5, 3>>);
static_assert(!op_takes<all_keys, tuple<floats<5, 4>, floats<7, 5>, floats<7, 3>>>,
              "queries and keys of other lengths");
static_assert(!op_takes<all_keys, tuple<floats<5, 4>, floats<7, 4>, floats<6, 3>>>, "a key without a value");
static_assert(!op_takes<all_keys, tuple<floats<5, 4>, floats<7, 4>, floats<7, 3>, floats<7, 5>>>, "another mask");

template <class In, class Attention>
auto check_op(const Attention& attention, double tolerance = 2e-6) {
  const auto in = random_input<In>();
  return both(*in, attention, tolerance);
}

}  // namespace

TEST_CASE("both backends agree at sizes below, at and above those of vectors and blocks, masked or not") {
  check_op<tuple<floats<5, 4>, floats<7, 4>, floats<7, 3>>>(all_keys{{}, 0.5});
  check_op<tuple<floats<1, 16>, floats<33, 16>, floats<33, 64>>>(all_keys{{}, 0.25});
  check_op<tuple<floats<33, 8>, floats<33, 8>, floats<33, 8>>>(attention_op<causal>{{}, 0.3});
  check_op<tuple<floats<2, 70, 8>, floats<2, 16, 8>, floats<2, 16, 100>>>(all_keys{{}, 1});
  // The keys that no query of a block sees are left out: of as many as queries, more, fewer.
  check_op<tuple<floats<2, 150, 8>, floats<2, 150, 8>, floats<2, 150, 8>>>(attention_op<causal>{{}, 0.3});
  check_op<tuple<floats<40, 8>, floats<197, 8>, floats<197, 8>>>(attention_op<causal>{{}, 0.3});
  check_op<tuple<floats<70, 8>, floats<37, 8>, floats<37, 8>>>(attention_op<causal>{{}, 0.3});
  check_op<tuple<floats<2, 3, 35>, floats<2, 37, 35>, floats<2, 37, 32>>>(all_keys{{}, 0.2});
  check_op<tuple<floats<3, 5, 4>, floats<1, 7, 4>, floats<7, 3>, floats<5, 7>>>(all_keys{{}, 0.5});
  check_op<tuple<floats<3, 5, 4>, floats<3, 7, 4>, floats<3, 7, 3>, floats<3, 1, 7>>>(all_keys{{}, 0.5});
  check_op<tuple<floats<3, 5, 4>, floats<3, 7, 4>, floats<3, 7, 3>, floats<5, 1>>>(all_keys{{}, 0.5});
  check_op<tuple<tensor<double, 5, 4>, tensor<double, 7, 4>, tensor<double, 7, 3>>>(all_keys{{}, 0.5}, 1e-15);
}

TEST_CASE("it is what its parts give one after the other") {
  const auto in = random_input<tuple<floats<2, 9, 4>, floats<2, 6, 4>, floats<2, 6, 5>, floats<9, 6>>>();
  const auto& [q, k, v, mask] = *in;
  const auto turned = by_one_kernel<reference>(k, {}, nn::transpose<0, 2, 1>.description);
  const auto scores = by_one_kernel<reference>(std::tuple(q, *turned), {}, nn::matmul.description);
  const auto scaled = by_one_kernel<reference>(*scores, {}, nn::scale(0.5f).description);
  const auto masked = by_one_kernel<reference>(std::tuple(*scaled, mask), {}, nn::add.description);
  const auto shares = by_one_kernel<reference>(*masked, {}, nn::softmax.description);
  const auto expected = by_one_kernel<reference>(std::tuple(*shares, v), {}, nn::matmul.description);
  check_difference(largest_difference(*expected, *both(*in, all_keys{{}, 0.5}, 2e-6)), 2e-6, "parts");
}

TEST_CASE("a causal query sees no later key") {
  const tuple<floats<2, 1>, floats<2, 1>, floats<2, 1>> in{{{0, 0}}, {{1, 1}}, {{10, 20}}};
  CHECK(*both(in, nn::attention<causal>(1).description) == floats<2, 1>{{10, 15}});
  CHECK(*both(in, nn::attention<>(1).description) == floats<2, 1>{{15, 15}});
}

TEST_CASE("its matrices may be computed apart, with the same bits") {
  using in_type = tuple<floats<5, 3, 8>, floats<5, 7, 8>, floats<7, 4>>;
  using kernel = simd::kernel<in_type, all_keys>;
  static_assert(levada::detail::tiles_of<kernel> == 5);
  const auto in = random_input<in_type>();
  const kernel k(all_keys{{}, 0.5}, parameter_values(std::span<const void* const>()));
  aligned_bytes scratch(kernel::scratch_bytes);
  const auto computed = unwritten<floats<5, 3, 4>>();
  k.of_tiles(*in, *computed, scratch.data(), {3, 5});
  k.of_tiles(*in, *computed, scratch.data(), {0, 3});
  CHECK(*computed == *by_one_kernel<simd>(*in, {}, all_keys{{}, 0.5}));
}
