// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/onednn/detail/run.hpp: a run or region of ops as oneDNN's primitives, made when the program starts. Between
// them values keep the layout that oneDNN likes best; what comes and what leaves lies row by row, reordered where that
// is another layout. Weights are folded and reordered once.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <levada/backend/onednn/detail/epilogue.hpp>
#include <levada/backend/onednn/detail/program.hpp>
#include <levada/backend/onednn/detail/steps.hpp>

namespace levada::detail {

/// Makes the primitives.
class onednn_builder {
 public:
  onednn_builder(onednn_program& program, const linked_ops& ops, const parameter_values& p)
      : program_(program), ops_(ops), parameters_(p) {
    for (std::size_t op = 0; op < ops.size(); ++op)
      for (std::size_t k = 0; k < ops[op].takes.size(); ++k)
        if (ops.producer(op, k) == linked_ops::outside && ops.input(op, k) == inputs_) {
          program_.add_input(plain(dims_of(ops[op].takes[k].extents)));
          ++inputs_;
        }
    for (const onednn_step& step : onednn_steps_of(ops)) {
      values_.resize(step.first + step.count);
      values_.back() = make(step);
    }
    program_.give(values_.back(), plain(program_.layout_of(values_.back()).dims()));
  }

 private:
  using memory = dnnl::memory;
  using tag = memory::format_tag;
  static constexpr auto f32 = memory::data_type::f32;
  static constexpr auto forward = dnnl::prop_kind::forward_inference;

  static memory::dim dim(std::size_t n) { return static_cast<memory::dim>(n); }
  /// Of an item: a row, a matrix, or what oneDNN wants a batch of.
  static memory::dims dims_of(const shape& s) {
    memory::dims dims;
    if (s.rank != 2) dims.push_back(1);
    for (const std::size_t e : s) dims.push_back(dim(e));
    return dims;
  }
  static memory::desc plain(const memory::dims& dims) {
    constexpr tag tags[] = {tag::a, tag::ab, tag::abc, tag::abcd, tag::abcde};
    return {dims, f32, tags[dims.size() - 1]};
  }
  static memory::desc any(const memory::dims& dims) { return {dims, f32, tag::any}; }

  /// The value that an op takes.
  std::size_t operand(std::size_t op, std::size_t k) const {
    const std::size_t producer = ops_.producer(op, k);
    return producer == linked_ops::outside ? ops_.input(op, k) : values_[producer];
  }
  const memory::dims dims_at(std::size_t value) const { return program_.layout_of(value).dims(); }
  std::size_t first_parameter(std::size_t op) const { return parameters_of(ops_.ops().first(op)); }

  std::size_t make(const onednn_step& step) {
    const op_info& op = ops_[step.first];
    using form = onednn_step::form;
    if (step.how == form::flatten) return operand(step.first, 0);  // the dense layer that follows takes all axes
    if (step.how == form::pool) return pool(operand(step.first, 0), op);
    if (step.how == form::product) return product(step);
    return op.kind == "conv2d" ? convolution(step) : inner_product(step);
  }

  /// What is behind the primitive of a step.
  onednn_epilogue epilogue_of(const onednn_step& step) {
    onednn_epilogue made(program_);
    for (std::size_t i = step.first + step.folded; i < step.first + step.count; ++i) {
      const op_info& op = ops_[i];
      const std::size_t results = ops_.operand_from_before(i);
      const bool is_first = op.joins_parameter ? !has_parameter_first(op) : results == 0;
      std::size_t other = onednn_epilogue::nothing;
      bool is_full = false;
      if (is_binary_op(op)) {
        const shape& extents = op.joins_parameter ? op.parameters[0].extents : op.takes[1 - results].extents;
        other =
            op.joins_parameter ? constant(extents, first_parameter(i), op.gives.extents.rank) : operand(i, 1 - results);
        is_full = layout_beside(extents, op.gives.extents, 1) == operand_layout::full;
      }
      for (const onednn_post_op& post : onednn_post_ops(op, is_first))
        made.add(post, post.how == onednn_post_op::form::function ? onednn_epilogue::nothing : other, is_full);
    }
    return made;
  }
  /// A parameter that lies row by row, with that many axes.
  std::size_t constant(shape extents, std::size_t parameter, std::size_t rank) {
    for (; extents.rank < rank; ++extents.rank) {
      std::copy_backward(extents.begin(), extents.end(), extents.extents.begin() + extents.rank + 1);
      extents.extents[0] = 1;
    }
    const memory::desc layout = plain(dims_of(extents));
    return program_.packed(parameters_.get<float>(parameter), layout, layout);
  }

  /// 3 x 3 of many channels: fewer multiplications, for transforms that pay where they serve many filters.
  static bool pays_winograd(const op_info& op) {
    const window2d& w = op.window;
    return w.height == 3 && w.width == 3 && w.stride_y == 1 && w.stride_x == 1 && w.dense_taps() && op.groups == 1 &&
           op.input().extents[0] >= 16 && op.gives.extents[0] >= 16;
  }

  std::size_t convolution(const onednn_step& step) {
    const op_info& op = ops_[step.first];
    const window2d& w = op.window;
    const folded_weights folded =
        fold_weights(ops_.ops().subspan(step.first, step.folded), parameters_, first_parameter(step.first));
    const shape& weight = op.parameters[0].extents;
    const memory::dim g = dim(op.groups);
    const memory::dims weight_dims =
        op.groups == 1 ? memory::dims{dim(weight[0]), dim(weight[1]), dim(weight[2]), dim(weight[3])}
                       : memory::dims{g, dim(weight[0]) / g, dim(weight[1]), dim(weight[2]), dim(weight[3])};
    const memory::dims bias_dims{dim(weight[0])};
    const std::size_t value = operand(step.first, 0);
    using description = dnnl::convolution_forward::primitive_desc;
    // oneDNN itself takes Winograd's way only where it is asked to. It may be empty: not implemented for this processor
    // or shape.
    const auto describe = [&](const memory::desc& results, const dnnl::primitive_attr& attributes) {
      const auto by = [&](dnnl::algorithm how) {
        return description({forward,
                            how,
                            any(dims_at(value)),
                            any(weight_dims),
                            plain(bias_dims),
                            results,
                            {dim(w.stride_y), dim(w.stride_x)},
                            {dim(w.dilation_y) - 1, dim(w.dilation_x) - 1},
                            {dim(w.top), dim(w.left)},
                            {dim(w.bottom), dim(w.right)}},
                           attributes, onednn_engine(), true);
      };
      std::vector<description> all;
      if (pays_winograd(op)) all.push_back(by(dnnl::algorithm::convolution_winograd));
      all.push_back(by(dnnl::algorithm::convolution_direct));
      return all;
    };
    const auto arguments = [&](const description& chosen) -> onednn_program::arguments {
      const std::size_t from = program_.as(value, chosen.src_desc());
      const std::size_t filters = program_.packed(
          folded.weight.data(), {weight_dims, f32, op.groups == 1 ? tag::oihw : tag::goihw}, chosen.weights_desc());
      const std::size_t bias = program_.packed(folded.bias.data(), plain(bias_dims), chosen.bias_desc());
      return {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, filters}, {DNNL_ARG_BIAS, bias}};
    };
    return epilogue_of(step).behind<dnnl::convolution_forward>(any(dims_of(op.gives.extents)), describe, arguments);
  }

  std::size_t inner_product(const onednn_step& step) {
    const folded_weights folded =
        fold_weights(ops_.ops().subspan(step.first, step.folded), parameters_, first_parameter(step.first));
    const memory::dims bias_dims{dim(folded.bias.size())};
    const std::size_t value = operand(step.first, 0);
    const memory::dims taken = dims_at(value);
    memory::dims weight_dims = taken;
    weight_dims[0] = bias_dims[0];
    using description = dnnl::inner_product_forward::primitive_desc;
    const auto describe = [&](const memory::desc&, const dnnl::primitive_attr& attributes) {
      return std::vector{
          description({forward, any(taken), any(weight_dims), plain(bias_dims), plain({taken[0], bias_dims[0]})},
                      attributes, onednn_engine(), true)};
    };
    const auto arguments = [&](const description& chosen) -> onednn_program::arguments {
      const std::size_t from = program_.as(value, chosen.src_desc());
      const std::size_t weight = program_.packed(folded.weight.data(), plain(weight_dims), chosen.weights_desc());
      const std::size_t bias = program_.packed(folded.bias.data(), plain(bias_dims), chosen.bias_desc());
      return {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_BIAS, bias}};
    };
    return epilogue_of(step).behind<dnnl::inner_product_forward>({}, describe, arguments);
  }

  std::size_t product(const onednn_step& step) {
    const op_info& op = ops_[step.first];
    const auto row_by_row = [&](std::size_t value) { return program_.as(value, plain(dims_at(value))); };
    const auto parameter = [&] {
      const shape& extents = op.parameters[0].extents;
      return constant(extents, first_parameter(step.first), extents.rank);
    };
    const std::size_t left = op.kind == "parameter_matmul" ? parameter() : row_by_row(operand(step.first, 0));
    const std::size_t right =
        op.kind == "matmul_parameter" ? parameter() : row_by_row(operand(step.first, op.kind == "matmul" ? 1 : 0));
    using description = dnnl::matmul::primitive_desc;
    const auto describe = [&](const memory::desc&, const dnnl::primitive_attr& attributes) {
      return std::vector{
          description({program_.layout_of(left), program_.layout_of(right), plain(dims_of(op.gives.extents))},
                      attributes, onednn_engine(), true)};
    };
    const auto arguments = [&](const description&) -> onednn_program::arguments {
      return {{DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}};
    };
    return epilogue_of(step).behind<dnnl::matmul>({}, describe, arguments);
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
        {forward,
         how,
         program_.layout_of(value),
         any(dims_of(out)),
         {dim(w.stride_y), dim(w.stride_x)},
         {dim(w.height), dim(w.width)},
         {dim(w.top), dim(w.left)},
         {behind(out[1], w.stride_y, w.height, in[1], w.top), behind(out[2], w.stride_x, w.width, in[2], w.left)}},
        onednn_program::attributes(), onednn_engine());
    const std::size_t to = program_.add_value(chosen.dst_desc());
    program_.add_step(dnnl::pooling_forward(chosen), chosen, {{DNNL_ARG_SRC, value}, {DNNL_ARG_DST, to}});
    return to;
  }

  onednn_program& program_;
  const linked_ops& ops_;
  const parameter_values& parameters_;
  std::size_t inputs_ = 0;
  std::vector<std::size_t> values_;  ///< by op; of the last of each step
};

/// The program of a run or region.
inline std::unique_ptr<const onednn_program> make_onednn_program(const linked_ops& ops, const parameter_values& p) {
  auto program = std::make_unique<onednn_program>();
  try {
    const onednn_on_this_thread alone;
    onednn_builder(*program, ops, p);
  } catch (const dnnl::error& e) {
    throw error("levada: oneDNN cannot compute a run that begins with " + std::string(ops[0].kind) + ": " + e.what());
  }
  return program;
}

}  // namespace levada::detail
