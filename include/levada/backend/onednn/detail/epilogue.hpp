// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/onednn/detail/epilogue.hpp: a primitive with the ops behind it, which read its results and other values: as
// post-ops where oneDNN's fast implementations take them, else as primitives of their own.

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/backend/onednn/detail/post_op.hpp>
#include <levada/backend/onednn/detail/program.hpp>

namespace levada::detail {

class onednn_epilogue {
 public:
  using memory = dnnl::memory;
  static constexpr std::size_t nothing = ~std::size_t{0};

  explicit onednn_epilogue(onednn_program& program) : program_(program) {}

  /// One more op, with the value that is its other operand; `is_full`: a number for each result.
  void add(const onednn_post_op& op, std::size_t operand = nothing, bool is_full = false) {
    ops_.push_back({op, operand, is_full});
  }

  /// The value of a primitive's results with all that is behind it. `describe(layout, attributes)` gives descriptions
  /// of the primitive, the best first, empty ones where oneDNN has none; `arguments(chosen)` what it takes besides.
  template <class Primitive, class Describe, class Arguments>
  std::size_t behind(const memory::desc& results, Describe describe, Arguments arguments) {
    using description = typename Primitive::primitive_desc;
    const std::vector<description> plain = described<description>(describe, results, onednn_program::attributes());
    if (plain.empty()) throw dnnl::error(dnnl_unimplemented, "no primitive of that shape");
    for (std::size_t count = post_ops(); count > 0; --count)
      for (const description& one : plain)
        for (const bool sums : {true, false}) {
          const memory::desc& layout = one.dst_desc();
          if (sums && !may_sum(layout)) continue;
          const auto all = described<description>(describe, layout, attributes(layout, count, sums));
          if (all.empty() || is_naive(all.front())) continue;
          const std::size_t onto = sums ? program_.copy(ops_[0].operand, layout) : nothing;
          return others_behind(compute<Primitive>(all.front(), arguments, count, onto), count);
        }
    return others_behind(compute<Primitive>(plain.front(), arguments, 0, nothing), 0);
  }

 private:
  struct entry {
    onednn_post_op op;
    std::size_t operand;
    bool is_full;
  };

  template <class Description, class Describe>
  static std::vector<Description> described(Describe describe, const memory::desc& results,
                                            const dnnl::primitive_attr& attributes) {
    std::vector<Description> found;
    for (Description& d : describe(results, attributes))
      if (d) found.push_back(std::move(d));
    return found;
  }
  /// How many ops may be post-ops. No implementation takes slopes, and of two functions of one algorithm oneDNN 2.6
  /// computes both with the numbers of one of them.
  std::size_t post_ops() const {
    using form = onednn_post_op::form;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const onednn_post_op& op = ops_[i].op;
      if (op.how == form::slope) return i;
      for (std::size_t j = 0; j < i; ++j) {
        const onednn_post_op& before = ops_[j].op;
        if (op.how == form::function && before.algorithm == op.algorithm &&
            (before.alpha != op.alpha || before.beta != op.beta))
          return i;
      }
    }
    return ops_.size();
  }
  /// An implementation that computes number by number.
  static bool is_naive(const dnnl::primitive_desc_base& chosen) {
    return std::string_view(chosen.impl_info_str()).starts_with("ref");
  }
  /// The first op adds a number to each result, from a value that has to be copied into their layout anyway: oneDNN
  /// adds them there.
  bool may_sum(const memory::desc& layout) const {
    const auto& [first, operand, is_full] = ops_[0];
    return first.how == onednn_post_op::form::binary && first.algorithm == dnnl::algorithm::binary_add && is_full &&
           !program_.has(operand, layout);
  }

  std::size_t others_behind(std::size_t value, std::size_t first) {
    for (std::size_t i = first; i < ops_.size(); ++i) value = alone(value, ops_[i]);
    return value;
  }

  memory::desc operand_layout(const entry& e, const memory::desc& results) const {
    return e.is_full ? results : plain_layout(program_.layout_of(e.operand).dims());
  }
  static memory::desc plain_layout(const memory::dims& dims) {
    using tag = memory::format_tag;
    constexpr tag tags[] = {tag::a, tag::ab, tag::abc, tag::abcd, tag::abcde};
    return {dims, memory::data_type::f32, tags[dims.size() - 1]};
  }
  /// A layout of these axes that is blocked as that of the results is.
  static memory::desc blocked_as(const memory::desc& results, const memory::dims& dims) {
    using tag = memory::format_tag;
    for (const tag t : {tag::nChw16c, tag::nChw8c, tag::nhwc})
      if (dims.size() == 4 && memory::desc(results.dims(), memory::data_type::f32, t) == results)
        return {dims, memory::data_type::f32, t};
    return plain_layout(dims);
  }
  dnnl::primitive_attr attributes(const memory::desc& results, std::size_t count, bool sums) const {
    dnnl::post_ops list;
    for (std::size_t i = 0; i < count; ++i) {
      const onednn_post_op& op = ops_[i].op;
      if (sums && i == 0)
        list.append_sum();
      else if (op.how == onednn_post_op::form::function)
        list.append_eltwise(1, op.algorithm, op.alpha, op.beta);
      else
        list.append_binary(op.algorithm, operand_layout(ops_[i], results));
    }
    return onednn_program::attributes(list);
  }
  /// By the primitive with so many of the ops, onto a value that it adds its results to, if any.
  template <class Primitive, class Description, class Arguments>
  std::size_t compute(const Description& chosen, Arguments arguments, std::size_t count, std::size_t onto) {
    onednn_program::arguments list = arguments(chosen);
    for (std::size_t i = onto == nothing ? 0 : 1; i < count; ++i) {
      if (ops_[i].operand == nothing) continue;
      const std::size_t operand = program_.as(ops_[i].operand, operand_layout(ops_[i], chosen.dst_desc()));
      list.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1, operand);
    }
    const std::size_t to = onto == nothing ? program_.add_value(chosen.dst_desc()) : onto;
    list.emplace_back(DNNL_ARG_DST, to);
    program_.add_step(Primitive(chosen), chosen, std::move(list));
    return to;
  }

  /// What the op gives, by a primitive of its own.
  std::size_t alone(std::size_t value, const entry& e) {
    const memory::desc layout = program_.layout_of(value);
    const std::size_t to = program_.add_value(layout);
    const auto attributes = onednn_program::attributes();
    const auto forward = dnnl::prop_kind::forward_inference;
    if (e.op.how == onednn_post_op::form::function) {
      const dnnl::eltwise_forward::primitive_desc chosen({forward, e.op.algorithm, layout, e.op.alpha, e.op.beta},
                                                         attributes, onednn_engine());
      program_.add_step(dnnl::eltwise_forward(chosen), chosen, {{DNNL_ARG_SRC, value}, {DNNL_ARG_DST, to}});
      return to;
    }
    const memory::desc other = e.is_full ? layout : blocked_as(layout, program_.layout_of(e.operand).dims());
    const std::size_t operand = program_.as(e.operand, other);
    if (e.op.how == onednn_post_op::form::binary) {
      const dnnl::binary::primitive_desc chosen({e.op.algorithm, layout, other, layout}, attributes, onednn_engine());
      program_.add_step(dnnl::binary(chosen), chosen,
                        {{DNNL_ARG_SRC_0, value}, {DNNL_ARG_SRC_1, operand}, {DNNL_ARG_DST, to}});
    } else {
      const dnnl::prelu_forward::primitive_desc chosen({forward, layout, other}, attributes, onednn_engine());
      program_.add_step(dnnl::prelu_forward(chosen), chosen,
                        {{DNNL_ARG_SRC, value}, {DNNL_ARG_WEIGHTS, operand}, {DNNL_ARG_DST, to}});
    }
    return to;
  }

  onednn_program& program_;
  std::vector<entry> ops_;
};

}  // namespace levada::detail
