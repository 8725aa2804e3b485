// SPDX-License-Identifier: Apache-2.0
// An op of one's own with a parameter, and the backend that computes it, alone or with the relu behind it.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdio>
#include <string_view>

#include <levada/graph/op.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

/// output[c, y, x] = input[c, y, x] * gain[c].
struct channel_gain_op {
  static constexpr std::string_view kind = "channel_gain";
  static constexpr std::string_view expects = "a float tensor of three axes, channels first";

  template <lv::any_tensor In>
    requires(In::rank == 3 && std::same_as<typename In::value_type, float>)
  using output = In;
  template <class In>
  static constexpr double flops = static_cast<double>(In::elements);
  template <class In>
  static constexpr std::array<lv::parameter_info, 1> parameters{
      lv::parameter_info{"gain", lv::element::f32, lv::shape(In::extents[0])}};
};
template <lv::fixed_string Name>
inline constexpr lv::weighted_stage<Name, channel_gain_op> channel_gain{};

template <class In, class... Ops>
struct gain_kernel;  // not complete: not taken

struct gains {
  static constexpr std::string_view name = "gains";
  static constexpr lv::device_kind device = lv::device_kind::cpu;
  static constexpr std::size_t longest_run = 2;  // channel_gain, relu
  template <class In, class... Ops>
  using kernel = gain_kernel<In, Ops...>;
};

template <class In, class... Relu>
  requires lv::op_takes<channel_gain_op, In> && (std::same_as<Relu, lv::relu_op> && ...)
struct gain_kernel<In, channel_gain_op, Relu...> {
  static constexpr std::size_t scratch_bytes = 0;
  gain_kernel(const channel_gain_op&, const Relu&..., lv::parameter_values p) {
    std::copy_n(p.get<float>(0), gain_.size(), gain_.begin());
  }
  void operator()(const In& in, In& out, std::byte*) const {
    const std::size_t plane = In::elements / In::extents[0];
    for (std::size_t i = 0; i < In::elements; ++i) {
      const float x = in.begin()[i] * gain_[i / plane];
      out.begin()[i] = sizeof...(Relu) > 0 ? std::max(x, 0.0f) : x;
    }
  }

 private:
  std::array<float, In::extents[0]> gain_;
};

int main() {
  using picture = lv::tensor<float, 2, 1, 2>;
  lv::parameter_map weights;
  weights.set("balance.gain", lv::tensor<float, 2>{2.0f, -1.0f});
  const auto pipeline = lv::input<picture> | channel_gain<"balance">(weights) | lv::nn::relu;
  const auto app = lv::deploy<lv::target<lv::cpu<1>>, lv::backends<gains, lv::simd>>(pipeline);
  static_assert(decltype(app)::plan.unit.size() == 1 && decltype(app)::plan.unit[0].backend == 0);
  const picture out = app(picture{1.0f, 2.0f, 3.0f, 4.0f});
  std::printf("%g %g %g %g\n", double{out[0]}, double{out[1]}, double{out[2]}, double{out[3]});
  return out == picture{2.0f, 4.0f, 0.0f, 0.0f} ? 0 : 1;
}
