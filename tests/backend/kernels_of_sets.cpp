// SPDX-License-Identifier: Apache-2.0
// Kernels for several instruction sets: those sets that this unit may use against `reference`, by the same table of
// functions by which a program calls what other units have compiled (levada_add_kernels with ISA).

#include "backend/compare.hpp"

#include <levada/backend/detail/define/bfloat16.hpp>
#include <levada/backend/detail/define/broadcast.hpp>
#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/detail/bfloat16_conv2d.hpp>
#include <levada/backend/simd/detail/kernels_in_set.hpp>
#include <levada/backend/simd/detail/qlinear_conv2d.hpp>
#include <levada/nn/broadcast.hpp>

namespace {

/// The number of the set whose kernels are called.
std::size_t set_called = 0;
/// Those are of another version of the headers, and need more.
bool needs_more = false;

template <class Set>
constexpr bool is_enabled = Set::supported() && (!std::is_base_of_v<levada::isa::avx512vnni, Set> ||
                                                 std::is_base_of_v<Set, levada::isa::native>);

template <class Kernel, class Set>
constexpr const levada::detail::kernel_code* code_if_enabled() {
  if constexpr (is_enabled<Set>)
    return &levada::detail::code_on<Set, Kernel>;
  else
    return nullptr;
}

}  // namespace

namespace levada::detail {

/// As levada_add_kernels defines it, of the tables of this unit.
template <class Kernel>
const kernel_code& code_of_sets() {
  const auto codes = []<class... Set>(isa::one_of<Set...>) {
    return std::array{code_if_enabled<Kernel, Set>()...};
  }(typename sets_of<Kernel>::type());
  static kernel_code code;
  code = *codes[set_called];
  if (needs_more) ++code.scratch_bytes;
  return code;
}

}  // namespace levada::detail

using namespace levada;
using namespace levada::testing;

namespace {

using sets = isa::one_of<isa::sse4_2, isa::avx2, isa::avx512, isa::avx512vnni, isa::avx512bf16, isa::amx>;
using in_sets = simd_on<sets>;

template <class... Set>
void for_each_set(isa::one_of<Set...>, auto f) {
  const bool enabled[] = {is_enabled<Set>...};
  const char* const names[] = {Set::name()...};
  std::size_t tried = 0;
  for (set_called = 0; set_called < sizeof...(Set); ++set_called) {
    if (!enabled[set_called]) continue;
    CAPTURE(std::string(names[set_called]));
    f();
    ++tried;
  }
  CHECK(tried > 0);
}

template <class In, class... Ops>
void check_sets(double tolerance, const Ops&... ops) {
  using kernel = in_sets::kernel<In, Ops...>;
  using out = run_output_t<In, Ops...>;
  random_parameters parameters;
  parameters.add<In, Ops...>();
  const auto in = random_tensor<In>();
  const auto expected = by_single_kernels<reference>(*in, parameters.all(), ops...);
  for_each_set(sets(), [&] {
    const auto computed = by_one_kernel<in_sets>(*in, parameters.all(), ops...);
    check_difference(largest_difference(*expected, *computed), tolerance, __PRETTY_FUNCTION__);
    if constexpr (kernel::tiles > 1) {
      const on_heap<kernel> k(ops..., parameter_values(parameters.all()));
      for (std::size_t parts = 2; parts <= 3; ++parts) {
        const auto divided = unwritten<out>();
        for (std::size_t part = parts; part-- > 0;)
          k->of_tiles(*in, *divided, aligned_bytes(kernel::scratch_bytes).data(),
                      detail::tiles_of_part(kernel::tiles, part, parts));
        check_difference(largest_difference(*divided, *computed), 0, __PRETTY_FUNCTION__);
      }
    }
  });
}

using three = levada::size<3>;

}  // namespace

TEST_CASE("each instruction set computes what reference does, and its tiles are the whole") {
  check_sets<tensor<float, 16, 14, 19>>(1e-4, conv2d_op<24, three, padding<1>>(), relu_op());
  check_sets<tensor<float, 3, 14, 19>>(1e-4, conv2d_op<10, three>(), max_pool2d_op<levada::size<2>>());
  check_sets<tensor<float, 70>>(1e-4, dense_op<37>());
  check_sets<tensor<float, 21>>(1e-6, softmax_op());
  check_sets<tensor<bfloat16, 6, 7, 9>>(0.02, bfloat16_conv2d_op<20, bfloat16, three, padding<1>>());
  check_sets<tensor<std::uint8_t, 5, 7, 9>>(
      0, qlinear_conv2d_op<20, std::int8_t, float, three, padding<1>>{{}, {.x = {0.02f, 31}, .y = {0.05f, 17}}});
  check_sets<tensor<std::uint8_t, 32, 7, 16>>(
      0, qlinear_conv2d_op<16, std::int8_t, float, three>{{}, {.x = {0.02f, 31}, .y = {0.05f, 17}}});
}

TEST_CASE("a kernel of several inputs gets them all") {
  using item = tensor<float, 5, 7>;
  const std::tuple<item, item> in(*random_tensor<item>(), *random_tensor<item>());
  const auto op = nn::add.description;
  const auto expected = by_one_kernel<reference>(in, {}, op);
  for_each_set(sets(), [&] {
    check_difference(largest_difference(*expected, *by_one_kernel<in_sets>(in, {}, op)), 0, __PRETTY_FUNCTION__);
  });
}

TEST_CASE("a processor without any of the sets, and units of other headers, are refused by a sentence") {
  CHECK_THROWS_WITH_AS(
      detail::refuse_processor(isa::one_of<isa::sse4_2, isa::avx2>()),
      "levada: this processor has none of the instruction sets that the program has kernels for: sse4.2, avx2", error);
  CHECK_THROWS_WITH_AS(
      detail::refuse_matrices(),
      "levada: the program is compiled for AMX, which this processor or its operating system does not give to it; "
      "compile it without -mamx-tile",
      error);
  using kernel = in_sets::kernel<tensor<float, 21>, softmax_op>;
  for_each_set(sets(), [] {
    needs_more = true;
    CHECK_THROWS_WITH_AS(kernel(softmax_op(), parameter_values({})),
                         "levada: the units of kernels were compiled from other headers than the plan", error);
    needs_more = false;
  });
}

TEST_CASE("what a plan knows is the most of all sets, also of those that its unit may not use") {
  using in = tensor<float, 16, 14, 19>;
  using kernel = in_sets::kernel<in, conv2d_op<24, three, padding<1>>>;
  static_assert(kernel::scratch_bytes >= kernel::in_set<isa::sse4_2>::scratch_bytes &&
                kernel::scratch_bytes >= kernel::in_set<isa::amx>::scratch_bytes);
  static_assert(kernel::weight_bytes >= sizeof(kernel::in_set<isa::avx512>) &&
                sizeof(kernel::in_set<isa::avx512>) > sizeof(kernel::in_set<isa::sse4_2>));
  static_assert(kernel::tiles <= kernel::in_set<isa::avx2>::tiles);
  // A lambda has no name elsewhere.
  constexpr auto half = [](auto x) { return x * 0.5f; };
  static_assert(std::is_same_v<in_sets::kernel<in, transform_op<decltype(half)>>,
                               simd_on<isa::native>::kernel<in, transform_op<decltype(half)>>>);
}
