// SPDX-License-Identifier: Apache-2.0
// What a plan knows of kernels for each instruction set, as constants of a unit. It is compiled by the flags of the
// least and of the most: the numbers have to be the same.

#include <array>
#include <cstddef>
#include <cstdint>

#include <levada/ops.hpp>

using namespace levada;

namespace {

/// Its bytes, those of its scratchpad, its tiles.
template <class... Kernel>
constexpr auto facts_of =
    std::array{std::array{sizeof(Kernel), std::size_t{Kernel::scratch_bytes}, detail::tiles_of<Kernel>}...};

using picture = tensor<float, 16, 14, 19>;
using three = levada::size<3>;
using halves = tensor<bfloat16, 6, 7, 9>;
using bytes = tensor<std::uint8_t, 5, 7, 9>;

template <class Set>
constexpr auto facts_on =
    facts_of<simd_kernel<Set, picture, conv2d_op<24, three, padding<1>>, relu_op>,
             simd_kernel<Set, picture, conv2d_op<10, three, stride<2>>>,
             simd_kernel<Set, picture, conv2d_op<10, levada::size<1>>>,
             simd_kernel<Set, tensor<float, 64, 28, 28>, conv2d_op<64, three, padding<1>>>,
             simd_kernel<Set, tensor<float, 70>, dense_op<37>>,
             simd_kernel<Set, tensor<std::uint8_t, 90>, qlinear_dense_op<10, float, float>>,
             simd_kernel<Set, halves, bfloat16_conv2d_op<20, bfloat16, three, padding<1>>>,
             simd_kernel<Set, bytes, qlinear_conv2d_op<20, std::int8_t, float, three, padding<1>>>>;

}  // namespace

extern "C" {
extern const decltype(facts_on<isa::avx2>) LEVADA_FACTS[];
const decltype(facts_on<isa::avx2>) LEVADA_FACTS[] = {facts_on<isa::sse4_2>,     facts_on<isa::avx2>,
                                                      facts_on<isa::avx512>,     facts_on<isa::avx512vnni>,
                                                      facts_on<isa::avx512bf16>, facts_on<isa::amx>};
}
