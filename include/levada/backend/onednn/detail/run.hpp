// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/onednn/detail/run.hpp: a run of ops as oneDNN's primitives, made when the program starts. Between them values
// keep the layout that oneDNN likes best; what comes and what leaves lies row by row, reordered where that is another
// layout. Weights are folded and reordered once.

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <levada/backend/onednn/detail/library.hpp>
#include <levada/backend/onednn/detail/steps.hpp>

namespace levada::detail {

class onednn_run {
 public:
  onednn_run(op_run run, const parameter_values& p) : program_(std::make_unique<program>()) {
    try {
      const onednn_on_this_thread alone;
      build(run, p);
      release(take());  // the first call finds its memory
    } catch (const dnnl::error& e) {
      throw error("levada: oneDNN cannot compute a run that begins with " + std::string(run[0].kind) + ": " + e.what());
    }
  }

  void operator()(const void* in, void* out) const {
    std::unique_ptr<context> mine = take();
    mine->run(*program_, in, out);
    release(std::move(mine));
  }

 private:
  using memory = dnnl::memory;
  using tag = dnnl::memory::format_tag;
  static constexpr auto f32 = dnnl::memory::data_type::f32;
  static constexpr std::size_t input = 0;

  struct context;
  /// A primitive, and which value is which of its arguments.
  struct step {
    dnnl::primitive primitive;
    std::vector<std::pair<int, std::size_t>> arguments;
  };
  /// What all calls share. Value 0 comes, the last leaves.
  struct program {
    std::vector<memory::desc> values;
    std::vector<memory> constants;  ///< by value; empty where it is none
    std::vector<step> steps;
    std::size_t output = 0;
    std::mutex lock;  ///< of `idle`
    std::vector<std::unique_ptr<context>> idle;
  };

  /// What one call at a time has for itself: a stream and the values on the way.
  struct context {
    explicit context(const program& of) : stream(onednn_engine()) {
      for (std::size_t v = 0; v < of.values.size(); ++v)
        if (of.constants[v])
          memories.push_back(of.constants[v]);
        else if (v == input || v == of.output)
          memories.emplace_back(of.values[v], onednn_engine(), nullptr);
        else
          memories.emplace_back(of.values[v], onednn_engine());
      for (const step& s : of.steps) {
        auto& list = arguments.emplace_back();
        for (const auto& [name, value] : s.arguments) list.push_back({name, memories[value].get()});
      }
    }

    void run(const program& of, const void* in, void* out) {
      const onednn_on_this_thread alone;
      require_onednn(dnnl_memory_set_data_handle(memories[input].get(), const_cast<void*>(in)), "take its input");
      require_onednn(dnnl_memory_set_data_handle(memories[of.output].get(), out), "take its output");
      for (std::size_t s = 0; s < of.steps.size(); ++s)
        require_onednn(dnnl_primitive_execute(of.steps[s].primitive.get(), stream.get(),
                                              static_cast<int>(arguments[s].size()), arguments[s].data()),
                       "run a primitive");
      require_onednn(dnnl_stream_wait(stream.get()), "finish");
    }

    dnnl::stream stream;
    std::vector<memory> memories;
    std::vector<std::vector<dnnl_exec_arg_t>> arguments;
  };

  /// One that nobody uses; a new one where more calls are under way than ever before.
  std::unique_ptr<context> take() const {
    {
      const std::lock_guard hold(program_->lock);
      if (!program_->idle.empty()) {
        std::unique_ptr<context> found = std::move(program_->idle.back());
        program_->idle.pop_back();
        return found;
      }
    }
    return std::make_unique<context>(*program_);
  }
  void release(std::unique_ptr<context> done) const {
    const std::lock_guard hold(program_->lock);
    program_->idle.push_back(std::move(done));
  }

  // ---- at start-up ----

  std::size_t add_value(const memory::desc& layout, memory constant = {}) {
    program_->values.push_back(layout);
    program_->constants.push_back(std::move(constant));
    return program_->values.size() - 1;
  }

  static memory::dims dims_of(const shape& s) {
    memory::dims dims{1};
    for (const std::size_t e : s) dims.push_back(static_cast<memory::dim>(e));
    return dims;
  }
  static memory::desc plain(const memory::dims& dims) {
    return {dims, f32, dims.size() == 4 ? tag::nchw : dims.size() == 2 ? tag::nc : tag::x};
  }

  /// With scratch of its own, so that several threads may run what one has made; optionally followed by relu.
  static dnnl::primitive_attr attributes(bool relu = false) {
    dnnl::primitive_attr a;
    a.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (relu) {
      dnnl::post_ops behind;
      behind.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
      a.set_post_ops(behind);
    }
    return a;
  }

  void add_step(const dnnl::primitive& primitive, const dnnl::primitive_desc_base& chosen,
                std::vector<std::pair<int, std::size_t>> arguments) {
    if (chosen.scratchpad_desc().get_size() != 0)
      arguments.emplace_back(DNNL_ARG_SCRATCHPAD, add_value(chosen.scratchpad_desc()));
    program_->steps.push_back({primitive, std::move(arguments)});
  }

  /// The value in another layout: itself where it has it already.
  std::size_t as(std::size_t value, const memory::desc& layout, bool as_output = false) {
    if (program_->values[value] == layout && !(as_output && value == input)) return value;
    const dnnl::reorder::primitive_desc chosen(onednn_engine(), program_->values[value], onednn_engine(), layout,
                                               attributes());
    const std::size_t to = add_value(layout);
    add_step(dnnl::reorder(chosen), chosen, {{DNNL_ARG_FROM, value}, {DNNL_ARG_TO, to}});
    return to;
  }

  std::size_t packed(std::vector<float>& values, const memory::desc& from, const memory::desc& layout) {
    memory source(from, onednn_engine(), values.data()), to(layout, onednn_engine());
    dnnl::stream stream(onednn_engine());
    dnnl::reorder(source, to).execute(stream, source, to);
    stream.wait();
    return add_value(layout, to);
  }

  void build(op_run run, const parameter_values& p) {
    std::size_t value = add_value(plain(dims_of(run.front().input().extents))), parameter = 0;
    bool flat = run.front().input().extents.rank == 1;
    for (op_run rest = run; !rest.empty();) {
      const next_onednn_step next(rest, flat);
      const op_run ops = rest.first(next.count);
      if (next.kind == onednn_step::flatten)
        flat = true;  // the dense layer that follows takes all axes
      else if (next.kind == onednn_step::pool)
        value = pool(value, ops[0]);
      else if (ops[0].kind == "conv2d")
        value = convolution(value, ops, p, parameter);
      else
        value = inner_product(value, ops, p, parameter);
      parameter += parameters_of(ops);
      rest = rest.subspan(next.count);
    }
    program_->output = as(value, plain(program_->values[value].dims()), true);
  }

  /// 3 x 3 of many channels: fewer multiplications, for transforms that pay where they serve many filters.
  static bool pays_winograd(const op_info& op) {
    const window2d& w = op.window;
    return w.height == 3 && w.width == 3 && w.stride_y == 1 && w.stride_x == 1 && w.dense_taps() && op.groups == 1 &&
           op.input().extents[0] >= 16 && op.gives.extents[0] >= 16;
  }

  static memory::dim dim(std::size_t n) { return static_cast<memory::dim>(n); }

  std::size_t convolution(std::size_t value, op_run ops, const parameter_values& p, std::size_t parameter) {
    const op_info& op = ops[0];
    const window2d& w = op.window;
    folded_weights folded = fold_weights(ops, p, parameter);
    const shape& weight = op.parameters[0].extents;
    const memory::dim g = dim(op.groups);
    const memory::dims weight_dims =
        op.groups == 1 ? memory::dims{dim(weight[0]), dim(weight[1]), dim(weight[2]), dim(weight[3])}
                       : memory::dims{g, dim(weight[0]) / g, dim(weight[1]), dim(weight[2]), dim(weight[3])};
    const memory::dims bias_dims{dim(weight[0])};
    const auto describe = [&](dnnl::algorithm how) {
      return dnnl::convolution_forward::primitive_desc({dnnl::prop_kind::forward_inference,
                                                        how,
                                                        {program_->values[value].dims(), f32, tag::any},
                                                        {weight_dims, f32, tag::any},
                                                        plain(bias_dims),
                                                        {dims_of(op.gives.extents), f32, tag::any},
                                                        {dim(w.stride_y), dim(w.stride_x)},
                                                        {dim(w.dilation_y) - 1, dim(w.dilation_x) - 1},
                                                        {dim(w.top), dim(w.left)},
                                                        {dim(w.bottom), dim(w.right)}},
                                                       attributes(weighted_run_of(ops).relu), onednn_engine(), true);
    };
    // oneDNN itself takes Winograd's way only where it is asked to. It may be empty: not implemented for this processor
    // or shape.
    dnnl::convolution_forward::primitive_desc chosen;
    if (pays_winograd(op)) chosen = describe(dnnl::algorithm::convolution_winograd);
    if (!chosen) chosen = describe(dnnl::algorithm::convolution_direct);
    if (!chosen) throw error("levada: oneDNN has no convolution of that shape");
    const std::size_t from = as(value, chosen.src_desc());
    const std::size_t filters =
        packed(folded.weight, {weight_dims, f32, op.groups == 1 ? tag::oihw : tag::goihw}, chosen.weights_desc());
    const std::size_t bias = packed(folded.bias, plain(bias_dims), chosen.bias_desc());
    const std::size_t to = add_value(chosen.dst_desc());
    add_step(dnnl::convolution_forward(chosen), chosen,
             {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, filters}, {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, to}});
    return to;
  }

  std::size_t inner_product(std::size_t value, op_run ops, const parameter_values& p, std::size_t parameter) {
    folded_weights folded = fold_weights(ops, p, parameter);
    const memory::dims outputs{dim(folded.bias.size())};
    memory::dims taken = program_->values[value].dims(), weight_dims = taken;
    weight_dims[0] = outputs[0];
    const dnnl::inner_product_forward::primitive_desc chosen({dnnl::prop_kind::forward_inference,
                                                              {taken, f32, tag::any},
                                                              {weight_dims, f32, tag::any},
                                                              plain(outputs),
                                                              plain({1, outputs[0]})},
                                                             attributes(weighted_run_of(ops).relu), onednn_engine());
    const std::size_t from = as(value, chosen.src_desc());
    const std::size_t weight =
        packed(folded.weight, {weight_dims, f32, taken.size() == 4 ? tag::oihw : tag::oi}, chosen.weights_desc());
    const std::size_t bias = packed(folded.bias, plain(outputs), chosen.bias_desc());
    const std::size_t to = add_value(chosen.dst_desc());
    add_step(dnnl::inner_product_forward(chosen), chosen,
             {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, to}});
    return to;
  }

  std::size_t pool(std::size_t value, const op_info& op) {
    const window2d& w = op.window;
    const auto how = op.kind == "max_pool2d" ? dnnl::algorithm::pooling_max
                     : op.counts_padding     ? dnnl::algorithm::pooling_avg_include_padding
                                             : dnnl::algorithm::pooling_avg_exclude_padding;
    // Rows that no window reaches are a negative padding.
    const auto behind = [](std::size_t out, std::size_t stride, std::size_t size, std::size_t in, std::size_t before) {
      return dim((out - 1) * stride + size) - dim(in + before);
    };
    const shape &in = op.input().extents, &out = op.gives.extents;
    const dnnl::pooling_forward::primitive_desc chosen(
        {dnnl::prop_kind::forward_inference,
         how,
         program_->values[value],
         {dims_of(out), f32, tag::any},
         {dim(w.stride_y), dim(w.stride_x)},
         {dim(w.height), dim(w.width)},
         {dim(w.top), dim(w.left)},
         {behind(out[1], w.stride_y, w.height, in[1], w.top), behind(out[2], w.stride_x, w.width, in[2], w.left)}},
        attributes(), onednn_engine());
    const std::size_t to = add_value(chosen.dst_desc());
    add_step(dnnl::pooling_forward(chosen), chosen, {{DNNL_ARG_SRC, value}, {DNNL_ARG_DST, to}});
    return to;
  }

  std::unique_ptr<program> program_;
};

}  // namespace levada::detail
