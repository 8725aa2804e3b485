// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion/onednn.hpp: the network in oneDNN.

#if LEVADA_HAS_ONEDNN

#include <cstddef>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "model.hpp"

namespace fashion {

/// One stream: relu is a post-op, weights are reordered once, the input is bound in place. `Layout` is that of the
/// convolutions' results: `any` leaves it to oneDNN, which picks nhwc and its newer kernels; nChw16c measured a fifth
/// faster with AVX-512.
template <dnnl::memory::format_tag Layout>
class with_onednn {
 public:
  /// What the streams of several threads have in common: the engine and the reordered weights. Not locked: streams are
  /// made one after the other.
  class shared {
   private:
    friend with_onednn;
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    std::map<const float*, dnnl::memory> packed;
  };

  explicit with_onednn(const std::shared_ptr<shared>& common) : common_(common) {
    // Rows 12 and 13 of the second convolution take part in no window.
    const auto& w = the_weights();
    const memory_of source({{1, 1, 28, 28}, f32, format::nchw}, engine(), in.data());
    const memory_of first = convolution(source, {1, 8, 28, 28}, w.conv1_weight, {8, 1, 5, 5}, w.conv1_bias);
    const memory_of pooled = pool(first, {1, 8, 14, 14}, 2);
    const memory_of second = convolution(pooled, {1, 16, 14, 14}, w.conv2_weight, {16, 8, 5, 5}, w.conv2_bias);
    inner_product(pool(second, {1, 16, 4, 4}, 3), w.dense_weight, w.dense_bias);
  }

  pixels in;

  const logits& run() {
    for (auto& [primitive, arguments] : steps_) primitive.execute(stream_, arguments);
    stream_.wait();
    return result_;
  }

 private:
  using memory_of = dnnl::memory;
  using format = dnnl::memory::format_tag;
  static constexpr auto f32 = dnnl::memory::data_type::f32;

  const dnnl::engine& engine() const { return common_->engine; }

  /// With scratch of its own, so that several threads may run what one has made; optionally followed by relu.
  static dnnl::primitive_attr attributes(bool with_relu = false) {
    dnnl::primitive_attr a;
    a.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (with_relu) {
      dnnl::post_ops relu;
      relu.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
      a.set_post_ops(relu);
    }
    return a;
  }

  void add(const dnnl::primitive& primitive, const dnnl::primitive_desc_base& chosen,
           std::unordered_map<int, dnnl::memory> arguments) {
    arguments.emplace(DNNL_ARG_SCRATCHPAD, memory_of(chosen.scratchpad_desc(), engine()));
    steps_.push_back({primitive, std::move(arguments)});
  }

  /// The memory in another layout: itself where it has it already, else through a reorder in each picture.
  memory_of as(const memory_of& from, const dnnl::memory::desc& layout) {
    if (from.get_desc() == layout) return from;
    const memory_of to(layout, engine());
    const dnnl::reorder::primitive_desc chosen(from, to, attributes());
    add(dnnl::reorder(chosen), chosen, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    return to;
  }
  memory_of packed(const float* values, const dnnl::memory::dims& dims, format tag, const dnnl::memory::desc& layout) {
    if (const auto at = common_->packed.find(values); at != common_->packed.end()) return at->second;
    memory_of plain({dims, f32, tag}, engine(), const_cast<float*>(values));
    memory_of to(layout, engine());
    dnnl::reorder(plain, to).execute(stream_, plain, to);
    stream_.wait();
    return common_->packed.emplace(values, to).first->second;
  }

  memory_of convolution(const memory_of& from, const dnnl::memory::dims& out, const auto& weight,
                        const dnnl::memory::dims& weight_dims, const auto& bias) {
    const dnnl::convolution_forward::primitive_desc chosen({dnnl::prop_kind::forward_inference,
                                                            dnnl::algorithm::convolution_direct,
                                                            {from.get_desc().dims(), f32, format::any},
                                                            {weight_dims, f32, format::any},
                                                            {{out[1]}, f32, format::any},
                                                            {out, f32, Layout},
                                                            {1, 1},
                                                            {2, 2},
                                                            {2, 2}},
                                                           attributes(true), engine());
    const memory_of source = as(from, chosen.src_desc()), to(chosen.dst_desc(), engine());
    add(dnnl::convolution_forward(chosen), chosen,
        {{DNNL_ARG_SRC, source},
         {DNNL_ARG_WEIGHTS, packed(weight.data(), weight_dims, format::oihw, chosen.weights_desc())},
         {DNNL_ARG_BIAS, packed(bias.data(), {out[1]}, format::x, chosen.bias_desc())},
         {DNNL_ARG_DST, to}});
    return to;
  }
  memory_of pool(const memory_of& from, const dnnl::memory::dims& out, dnnl::memory::dim window) {
    // 3x3 windows leave two rows and columns out, which oneDNN takes as a padding of minus two.
    const dnnl::memory::dim left_out = out[2] * window - from.get_desc().dims()[2];
    const dnnl::pooling_forward::primitive_desc chosen({dnnl::prop_kind::forward_inference,
                                                        dnnl::algorithm::pooling_max,
                                                        from.get_desc(),
                                                        {out, f32, format::any},
                                                        {window, window},
                                                        {window, window},
                                                        {0, 0},
                                                        {left_out, left_out}},
                                                       attributes(), engine());
    const memory_of to(chosen.dst_desc(), engine());
    add(dnnl::pooling_forward(chosen), chosen, {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
    return to;
  }
  void inner_product(const memory_of& from, const auto& weight, const auto& bias) {
    const dnnl::inner_product_forward::primitive_desc chosen({dnnl::prop_kind::forward_inference,
                                                              {from.get_desc().dims(), f32, format::any},
                                                              {{10, 16, 4, 4}, f32, format::any},
                                                              {{10}, f32, format::x},
                                                              {{1, 10}, f32, format::nc}},
                                                             attributes(), engine());
    const memory_of source = as(from, chosen.src_desc()), to(chosen.dst_desc(), engine(), result_.data());
    add(dnnl::inner_product_forward(chosen), chosen,
        {{DNNL_ARG_SRC, source},
         {DNNL_ARG_WEIGHTS, packed(weight.data(), {10, 16, 4, 4}, format::oihw, chosen.weights_desc())},
         {DNNL_ARG_BIAS, packed(bias.data(), {10}, format::x, chosen.bias_desc())},
         {DNNL_ARG_DST, to}});
  }

  struct step {
    dnnl::primitive primitive;
    std::unordered_map<int, dnnl::memory> arguments;
  };

  std::shared_ptr<shared> common_;
  dnnl::stream stream_{common_->engine};
  logits result_;
  std::vector<step> steps_;
};

}  // namespace fashion

#endif
