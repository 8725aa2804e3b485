// SPDX-License-Identifier: Apache-2.0
// conv2d of `reference` and `simd` against oneDNN on random numbers.

#include <oneapi/dnnl/dnnl.hpp>

#include "backend/compare.hpp"

using namespace levada;
using namespace levada::testing;

namespace {

/// oneDNN's convolution in plain layouts.
template <class Op, class In>
auto by_onednn(const In& in, std::span<const void* const> parameters) {
  using out_type = typename Op::template output<In>;
  using dims = dnnl::memory::dims;
  constexpr auto f32 = dnnl::memory::data_type::f32;
  constexpr window2d w = Op::window;
  const auto extent = [](std::size_t n) { return static_cast<dnnl::memory::dim>(n); };
  const dnnl::memory::desc source({1, extent(In::extents[0]), extent(In::extents[1]), extent(In::extents[2])}, f32,
                                  dnnl::memory::format_tag::nchw);
  const dnnl::memory::desc weights({extent(Op::filters), extent(In::extents[0]), extent(w.height), extent(w.width)},
                                   f32, dnnl::memory::format_tag::oihw);
  const dnnl::memory::desc bias({extent(Op::filters)}, f32, dnnl::memory::format_tag::x);
  const dnnl::memory::desc result({1, extent(Op::filters), extent(out_type::extents[1]), extent(out_type::extents[2])},
                                  f32, dnnl::memory::format_tag::nchw);
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::convolution_forward::primitive_desc chosen(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, source, weights, bias, result,
       dims{extent(w.stride_y), extent(w.stride_x)}, dims{extent(w.dilation_y - 1), extent(w.dilation_x - 1)},
       dims{extent(w.top), extent(w.left)}, dims{extent(w.bottom), extent(w.right)}},
      engine);
  auto out = unwritten<out_type>();
  dnnl::convolution_forward(chosen).execute(stream,
                                            {{DNNL_ARG_SRC, {source, engine, const_cast<float*>(in.data())}},
                                             {DNNL_ARG_WEIGHTS, {weights, engine, const_cast<void*>(parameters[0])}},
                                             {DNNL_ARG_BIAS, {bias, engine, const_cast<void*>(parameters[1])}},
                                             {DNNL_ARG_DST, {result, engine, out->data()}}});
  stream.wait();
  return out;
}

template <class In, class Op>
void check_with_onednn(const Op& op) {
  const auto in = random_tensor<In>();
  random_parameters parameters;
  parameters.add<In, Op>();
  const auto expected = by_onednn<Op>(*in, parameters.all());
  const double tolerance = epsilon * static_cast<double>(In::extents[0] * Op::window.taps() + 2);
  const auto check = [&](const auto& computed) {
    check_difference(largest_difference(*expected, *computed), tolerance, __PRETTY_FUNCTION__);
  };
  check(by_one_kernel<reference>(*in, parameters.all(), op));
  check(by_one_kernel<simd>(*in, parameters.all(), op));
}

}  // namespace

TEST_CASE("conv2d agrees with oneDNN") {
  check_with_onednn<tensor<float, 1, 28, 28>>(conv2d_op<8, size<5>, padding<2>>());
  check_with_onednn<tensor<float, 8, 14, 14>>(conv2d_op<16, size<5>, padding<2>>());
  check_with_onednn<tensor<float, 3, 19, 23>>(conv2d_op<12, size<3, 5>, stride<2, 3>, padding<1, 2>>());
  check_with_onednn<tensor<float, 20, 9, 9>>(conv2d_op<40, size<1>>());
  check_with_onednn<tensor<float, 4, 20, 20>>(conv2d_op<6, size<3>, dilation<2>, padding<2>>());
  check_with_onednn<tensor<float, 4, 20, 20>>(conv2d_op<6, size<4>, padding<1, 0, 2, 3>>());
}
