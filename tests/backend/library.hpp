// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/library.hpp: what a backend that stands on a library computes as one, against `reference` op by op; and what
// its calls allocate.

#include "backend/compare.hpp"

#include <levada/backend/detail/define/norms.hpp>
#include <levada/backend/detail/define/sums.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

namespace levada::testing {

/// Makes the parameters named "variance" of a run positive.
template <class In>
void mend_variances(std::span<const void* const>) {}
template <class In, class Op, class... Rest>
void mend_variances(std::span<const void* const> parameters) {
  std::size_t i = 0;
  for (const parameter_info& info : Op::template parameters<In>) {
    auto* values = static_cast<float*>(const_cast<void*>(parameters[i++]));
    if (info.name != "variance") continue;
    for (std::size_t k = 0; k < info.extents.elements(); ++k) values[k] = 1 + values[k] * values[k];
  }
  mend_variances<typename Op::template output<In>, Rest...>(parameters.subspan(i));
}

/// Sums of `products` numbers of magnitude one may differ by as many epsilon.
template <class Backend, class In, class... Ops>
void check_library(const In& in, double products, const Ops&... ops) {
  random_parameters parameters;
  parameters.add<In, Ops...>();
  mend_variances<In, Ops...>(parameters.all());
  const auto expected = by_single_kernels<reference>(in, parameters.all(), ops...);
  const auto computed = by_one_kernel<Backend>(in, parameters.all(), ops...);
  check_difference(largest_difference(*expected, *computed), products * epsilon, __PRETTY_FUNCTION__);
}
template <class Backend, class In, class... Ops>
void check_library(double products, const Ops&... ops) {
  check_library<Backend>(*random_tensor<In>(), products, ops...);
}

template <class Backend, class In, class Conv, class... Tail>
void check_library_conv(const Conv& conv, const Tail&... tail) {
  check_library<Backend, In>(
      static_cast<double>(Conv::template parameters<In>[0].extents.elements() / Conv::filters + 4), conv, tail...);
}

/// A network streamed over two workers with `Backend`, and what it lacks by `reference`, gives what `reference` alone
/// gives.
template <class Backend>
void check_deployed() {
  using picture = tensor<float, 3, 12, 12>;
  parameter_map weights;
  const auto set = [&](const char* name, const shape& extents) {
    std::vector<float> values(extents.elements());
    for (float& v : values) v = random_value<float>() / 8;
    weights.set(name, element::f32, extents, values.data());
  };
  set("conv.weight", shape(8, 3, 3, 3));
  set("conv.bias", shape(8));
  set("dense.weight", shape(5, 200));
  set("dense.bias", shape(5));
  const auto network = input<picture> | nn::conv2d<"conv", 8, levada::size<3>>(weights) | nn::relu | nn::max_pool2d<2> |
                       nn::flatten | nn::dense<"dense", 5>(weights) | nn::softmax;
  const auto app = deploy<target<cpu<2>>, backends<Backend, reference>>(network);
  const auto naive = deploy<target<cpu<2>>, backends<reference>>(network);
  static_assert(decltype(app)::plan.unit[0].backend == 0 && decltype(app)::plan.unit[0].count >= 2);
  std::vector<picture> pictures(40);
  for (picture& p : pictures) p = *random_tensor<picture>();
  std::size_t i = 0;
  double largest = 0;
  for (auto&& r : app.stream(pictures))
    largest = std::max(largest, largest_difference(naive(pictures[i++]), r.value()));
  CHECK(i == pictures.size());
  CHECK(largest <= 32 * epsilon);
}

template <std::size_t... S>
using sized = levada::size<S...>;
template <std::size_t C, std::size_t H, std::size_t W>
using planes = tensor<float, C, H, W>;

}  // namespace levada::testing
