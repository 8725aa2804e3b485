// SPDX-License-Identifier: Apache-2.0
// argmax and top_k of `simd` against `reference`.

#include "backend/compare.hpp"

using namespace levada;
using namespace levada::testing;

namespace {

template <class In>
void check_selection() {
  // Few different values, so that there are many equals.
  for (int round = 0; round < 20; ++round) {
    auto in = random_tensor<In>();
    using value = typename In::value_type;
    for (auto& x : *in) x = static_cast<value>(generator()() % (round < 10 ? 4 : 100));
    if constexpr (std::is_floating_point_v<value>)
      for (int k = 0; k < round; ++k)
        (*in)[generator()() % in->size()] = k % 3 ? static_cast<value>(not_a_number) : -static_cast<value>(infinity);
    check_agreement(*in, 0, argmax_op());
    check_agreement(*in, 0, top_k_op<1>());
    constexpr std::size_t last = In::extents[In::rank - 1];
    check_agreement(*in, 0, top_k_op<(last < 5 ? last : 5)>());
    check_agreement(*in, 0, top_k_op<last>());
  }
}

}  // namespace

TEST_CASE("argmax and top_k are exact, equals and NaN included") {
  for_lengths([](auto n) {
    check_selection<tensor<float, n>>();
    check_selection<tensor<float, 3, n>>();
    check_selection<tensor<std::uint8_t, n>>();
    check_selection<tensor<std::int32_t, 2, n>>();
  });
  check_selection<tensor<double, 70>>();
  check_selection<tensor<std::int64_t, 70>>();
  check_selection<tensor<std::uint16_t, 130>>();
  check_selection<tensor<std::int8_t, 300>>();
  check_selection<tensor<float, 1000>>();
}

TEST_CASE("argmax and top_k of nothing but NaN give the first indices") {
  tensor<float, 70> in;
  in.fill(not_a_number);
  check_agreement(in, 0, argmax_op());
  check_agreement(in, 0, top_k_op<3>());
  CHECK((*by_one_kernel<simd>(in, {}, argmax_op()))[0] == 0);
  in[69] = -infinity;
  CHECK((*by_one_kernel<simd>(in, {}, argmax_op()))[0] == 69);
}
