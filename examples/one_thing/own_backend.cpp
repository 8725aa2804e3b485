// SPDX-License-Identifier: Apache-2.0
// A kernel of one's own for one op; the library's backend computes the others.

#include <algorithm>
#include <cstdio>

#include <levada/levada.hpp>

namespace lv = levada;

template <class In, class... Ops>
struct clip_kernel;  // where it is not complete, the backend does not take the ops

struct clips {
  static constexpr std::string_view name = "clips";
  static constexpr lv::device_kind device = lv::device_kind::cpu;
  static constexpr std::size_t longest_run = 1;
  template <class In, class... Ops>
  using kernel = clip_kernel<In, Ops...>;
};

template <std::size_t... Dims>
struct clip_kernel<lv::tensor<float, Dims...>, lv::relu_op> {
  static constexpr std::size_t scratch_bytes = 0;
  clip_kernel(const lv::relu_op&, lv::parameter_values) {}
  void operator()(const lv::tensor<float, Dims...>& in, lv::tensor<float, Dims...>& out, std::byte*) const {
    std::transform(in.begin(), in.end(), out.begin(), [](float x) { return x < 0 ? 0 : x; });
  }
};

int main() {
  using row = lv::tensor<float, 4>;
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::backends<clips, lv::simd>>(lv::input<row> | lv::nn::relu |
                                                                                     lv::nn::softmax);
  static_assert(decltype(app)::plan.unit[0].backend == 0 && decltype(app)::plan.unit[1].backend == 1);
  const row shares = app(row{-1.0f, 0.0f, 0.0f, 0.0f});
  std::printf("%g\n", static_cast<double>(shares[0]));
  return shares[0] == 0.25f ? 0 : 1;
}
