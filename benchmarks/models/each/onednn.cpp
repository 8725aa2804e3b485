// SPDX-License-Identifier: Apache-2.0
// Networks of pictures in oneDNN, of float or bfloat16: relus, clips and the sums of residual blocks behind their
// convolutions, layouts that oneDNN chooses, memory used again. Of direct convolution and Winograd's the faster one is
// taken, which is measured when the network is made; `onednn_direct` has direct ones alone. ONEDNN_MAX_CPU_ISA holds it
// to an older processor. Scratchpads are the program's: those of the library belong to the thread that makes a
// primitive, and another thread that executes it has none.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <levada/backend/onednn/detail/library.hpp>
#include <levada/core/error.hpp>

#include "../network.hpp"
#include "steps.hpp"

namespace {

using namespace models;
using dnnl::memory;
using levada::detail::onednn_engine;
using arguments = std::unordered_map<int, memory>;

/// Memory of values that are not needed any more serves later ones.
class memory_pool {
 public:
  memory take(const memory::desc& of) {
    block* best = nullptr;
    for (block& b : blocks_)
      if (b.is_free && b.bytes.get_desc().get_size() >= of.get_size() &&
          (best == nullptr || b.bytes.get_desc().get_size() < best->bytes.get_desc().get_size()))
        best = &b;
    if (best == nullptr) {
      const memory::desc bytes({static_cast<memory::dim>(of.get_size())}, memory::data_type::u8, memory::format_tag::a);
      best = &blocks_.emplace_back(memory(bytes, onednn_engine()), true);
    }
    best->is_free = false;
    return memory(of, onednn_engine(), best->bytes.get_data_handle());
  }
  void give(const memory& back) {
    for (block& b : blocks_)
      if (b.bytes.get_data_handle() == back.get_data_handle()) b.is_free = true;
  }

 private:
  struct block {
    block(memory of, bool free) : bytes(std::move(of)), is_free(free) {}
    memory bytes;
    bool is_free;
  };
  std::list<block> blocks_;
};

class onednn_program {
 public:
  onednn_program(const network_steps& network, memory::data_type type, bool is_direct)
      : network_(network),
        type_(type),
        is_direct_(is_direct),
        values_(network.values.size()),
        input_(plain(dims_of(0)), onednn_engine()) {
    find_uses();
    values_[0] = input_;
    if (type_ != memory::data_type::f32) values_[0] = converted(input_, memory::desc(dims_of(0), type_, tag::nchw));
    for (at_ = 0; at_ < network.steps.size(); ++at_) {
      const step& s = network.steps[at_];
      switch (s.of) {
        case step::kind::conv:
          add_convolution(s);
          break;
        case step::kind::add:
          add_sum(s);
          break;
        case step::kind::max_pool:
        case step::kind::mean:
          add_pool(s);
          break;
        case step::kind::dense:
          add_dense(s);
          break;
        default:
          add_concat(s);
      }
      for (std::size_t v = 1; v < values_.size(); ++v)
        if (last_use_[v] == at_ && !is_output(v) && values_[v]) pool_.give(*values_[v]), values_[v].reset();
    }
    output_ = converted(*values_[network.output], plain(dims_of(network.output)));
  }

  float* input() { return static_cast<float*>(input_.get_data_handle()); }
  const float* output() const { return static_cast<const float*>(output_.get_data_handle()); }
  void run() {
    for (auto& [primitive, with] : program_) primitive.execute(stream_, with);
    stream_.wait();
  }

 private:
  using tag = memory::format_tag;

  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  static memory::dim dim(std::size_t n) { return static_cast<memory::dim>(n); }
  static memory::desc plain(const memory::dims& dims) {
    return {dims, memory::data_type::f32, dims.size() == 1 ? tag::a : dims.size() == 5 ? tag::goihw : tag::nchw};
  }
  memory::desc any(const memory::dims& dims) const { return {dims, type_, tag::any}; }
  memory::dims dims_of(std::size_t value) const {
    const value_extents& e = network_.values[value];
    return {1, dim(e.channels), dim(e.height), dim(e.width)};
  }
  bool is_output(std::size_t value) const { return value == network_.output; }

  void find_uses() {
    last_use_.assign(network_.values.size(), never), uses_.assign(network_.values.size(), 0);
    made_at_.assign(network_.values.size(), 0), sum_behind_.assign(network_.steps.size(), never);
    for (std::size_t i = 0; i < network_.steps.size(); ++i) {
      made_at_[network_.steps[i].output] = i;
      for (const std::size_t v : network_.steps[i].inputs) last_use_[v] = i, ++uses_[v];
    }
    for (std::size_t i = 0; i < network_.steps.size(); ++i)
      if (network_.steps[i].of == step::kind::add) find_sum(i);
  }
  /// A sum is computed by the convolution of its later operand, onto the other, which nobody needs behind it.
  void find_sum(std::size_t i) {
    std::size_t late = network_.steps[i].inputs[0], early = network_.steps[i].inputs[1];
    if (made_at_[late] < made_at_[early]) std::swap(late, early);
    const step& by = network_.steps[made_at_[late]];
    if (late == early || early == 0 || by.of != step::kind::conv || uses_[late] != 1 || last_use_[early] != i ||
        by.least >= 0)
      return;
    sum_behind_[made_at_[late]] = i;
  }

  static void add_bounds(dnnl::post_ops& behind, const step& s) {
    constexpr float none = std::numeric_limits<float>::infinity();
    if (s.most != none)
      behind.append_eltwise(1, dnnl::algorithm::eltwise_clip, s.least, s.most);
    else if (s.least != -none)
      behind.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  }
  static dnnl::primitive_attr attributes(const dnnl::post_ops& behind) {
    dnnl::primitive_attr a;
    a.set_post_ops(behind);
    a.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return a;
  }

  /// Appends a primitive, whose results have their memory already: what its scratchpad takes is free behind it.
  template <class Primitive, class Description>
  void add(const Description& found, arguments with) {
    if (found.scratchpad_desc().get_size() != 0) {
      const memory scratchpad = pool_.take(found.scratchpad_desc());
      with.emplace(DNNL_ARG_SCRATCHPAD, scratchpad);
      pool_.give(scratchpad);
    }
    program_.emplace_back(Primitive(found), std::move(with));
  }

  /// The value in that layout.
  memory converted(const memory& from, const memory::desc& layout) {
    if (from.get_desc() == layout) return from;
    const memory to = pool_.take(layout);
    const dnnl::reorder::primitive_desc found(onednn_engine(), from.get_desc(), onednn_engine(), layout,
                                              attributes({}));
    add<dnnl::reorder>(found, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    return to;
  }
  /// Weights, once.
  memory packed(const std::vector<float>& numbers, const memory::dims& dims, const memory::desc& layout) {
    memory from(plain(dims), onednn_engine()), to(layout, onednn_engine());
    std::copy(numbers.begin(), numbers.end(), static_cast<float*>(from.get_data_handle()));
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
    return to;
  }
  using convolution = dnnl::convolution_forward;

  void add_convolution(const step& s) {
    const std::size_t channels = network_.values[s.inputs[0]].channels, filters = s.bias.size();
    const memory::dims weight_dims = s.groups == 1
                                         ? memory::dims{dim(filters), dim(channels), dim(s.height), dim(s.width)}
                                         : memory::dims{dim(s.groups), dim(filters / s.groups),
                                                        dim(channels / s.groups), dim(s.height), dim(s.width)};
    dnnl::post_ops behind;
    const std::size_t sum = sum_behind_[at_];
    std::optional<memory> onto;
    if (sum != never) {
      const std::vector<std::size_t>& both = network_.steps[sum].inputs;
      onto = *values_[both[0] == s.output ? both[1] : both[0]];
      behind.append_sum(1);
    }
    add_bounds(behind, sum != never ? network_.steps[sum] : s);

    std::optional<convolution::primitive_desc> best;
    double least = 0;
    for (const dnnl::algorithm how : {dnnl::algorithm::convolution_direct, dnnl::algorithm::convolution_winograd}) {
      const convolution::desc wanted(
          dnnl::prop_kind::forward_inference, how, any(dims_of(s.inputs[0])), any(weight_dims), plain({dim(filters)}),
          onto ? onto->get_desc() : any(dims_of(s.output)), {dim(s.stride_y), dim(s.stride_x)},
          {dim(s.top), dim(s.left)}, {dim(s.bottom), dim(s.right)});
      const convolution::primitive_desc found(wanted, attributes(behind), onednn_engine(), true);
      if (!found || (is_direct_ && how != dnnl::algorithm::convolution_direct)) continue;
      const double taken = seconds(found);
      if (!best || taken < least) best = found, least = taken;
    }
    if (!best) throw levada::error("oneDNN has no such convolution");
    const memory in = converted(*values_[s.inputs[0]], best->src_desc());
    const memory out = onto ? *onto : pool_.take(best->dst_desc());
    add<convolution>(*best, {{DNNL_ARG_SRC, in},
                             {DNNL_ARG_WEIGHTS, packed(s.weight, weight_dims, best->weights_desc())},
                             {DNNL_ARG_BIAS, packed(s.bias, {dim(filters)}, best->bias_desc())},
                             {DNNL_ARG_DST, out}});
    values_[s.output] = out;
  }
  /// The least of some runs.
  double seconds(const convolution::primitive_desc& of) {
    const convolution made(of);
    const auto some = [](const memory::desc& d) { return memory(d, onednn_engine()); };
    const arguments with{{DNNL_ARG_SRC, some(of.src_desc())},
                         {DNNL_ARG_WEIGHTS, some(of.weights_desc())},
                         {DNNL_ARG_BIAS, some(of.bias_desc())},
                         {DNNL_ARG_DST, some(of.dst_desc())},
                         {DNNL_ARG_SCRATCHPAD, some(of.scratchpad_desc())}};
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 6; ++i) {
      const auto start = std::chrono::steady_clock::now();
      made.execute(stream_, with);
      stream_.wait();
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      least = std::min(least, taken.count());
    }
    return least;
  }

  void add_sum(const step& s) {
    for (const std::size_t v : s.inputs)
      if (sum_behind_[made_at_[v]] == at_) {
        const std::size_t other = v == s.inputs[0] ? s.inputs[1] : s.inputs[0];
        values_[s.output] = *values_[v];
        values_[v].reset(), values_[other].reset();
        return;
      }
    const memory first = *values_[s.inputs[0]], second = converted(*values_[s.inputs[1]], first.get_desc());
    dnnl::post_ops behind;
    add_bounds(behind, s);
    const dnnl::binary::desc wanted(dnnl::algorithm::binary_add, first.get_desc(), second.get_desc(), first.get_desc());
    const dnnl::binary::primitive_desc found(wanted, attributes(behind), onednn_engine());
    const memory out = pool_.take(found.dst_desc());
    add<dnnl::binary>(found, {{DNNL_ARG_SRC_0, first}, {DNNL_ARG_SRC_1, second}, {DNNL_ARG_DST, out}});
    values_[s.output] = out;
  }

  void add_pool(const step& s) {
    const value_extents& e = network_.values[s.inputs[0]];
    const bool is_mean = s.of == step::kind::mean;
    const memory in = *values_[s.inputs[0]];
    const memory::dims window =
        is_mean ? memory::dims{dim(e.height), dim(e.width)} : memory::dims{dim(s.height), dim(s.width)};
    const dnnl::pooling_forward::desc wanted(
        dnnl::prop_kind::forward_inference,
        is_mean ? dnnl::algorithm::pooling_avg_exclude_padding : dnnl::algorithm::pooling_max, in.get_desc(),
        any(dims_of(s.output)), {dim(s.stride_y), dim(s.stride_x)}, window, {dim(s.top), dim(s.left)},
        {dim(s.bottom), dim(s.right)});
    const dnnl::pooling_forward::primitive_desc found(wanted, attributes({}), onednn_engine());
    const memory out = pool_.take(found.dst_desc());
    add<dnnl::pooling_forward>(found, {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}});
    values_[s.output] = out;
  }

  void add_dense(const step& s) {
    const memory::dims in_dims = dims_of(s.inputs[0]);
    memory::dims weight_dims = in_dims;
    weight_dims[0] = dim(s.bias.size());
    dnnl::post_ops behind;
    add_bounds(behind, s);
    const memory::dims out_dims{1, weight_dims[0]};
    const dnnl::inner_product_forward::desc wanted(dnnl::prop_kind::forward_inference, any(in_dims), any(weight_dims),
                                                   plain({weight_dims[0]}),
                                                   memory::desc(out_dims, memory::data_type::f32, tag::nc));
    const dnnl::inner_product_forward::primitive_desc found(wanted, attributes(behind), onednn_engine());
    const memory in = converted(*values_[s.inputs[0]], found.src_desc());
    const memory out = pool_.take(found.dst_desc());
    add<dnnl::inner_product_forward>(found, {{DNNL_ARG_SRC, in},
                                             {DNNL_ARG_WEIGHTS, packed(s.weight, weight_dims, found.weights_desc())},
                                             {DNNL_ARG_BIAS, packed(s.bias, {weight_dims[0]}, found.bias_desc())},
                                             {DNNL_ARG_DST, out}});
    values_[s.output] = memory(plain(dims_of(s.output)), onednn_engine(), out.get_data_handle());
  }

  void add_concat(const step& s) {
    std::vector<memory::desc> parts;
    for (const std::size_t v : s.inputs) parts.push_back(values_[v]->get_desc());
    const dnnl::concat::primitive_desc found(any(dims_of(s.output)), 1, parts, onednn_engine(), attributes({}));
    const memory out = pool_.take(found.dst_desc());
    arguments with{{DNNL_ARG_DST, out}};
    for (std::size_t i = 0; i < s.inputs.size(); ++i)
      with.emplace(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), *values_[s.inputs[i]]);
    add<dnnl::concat>(found, std::move(with));
    values_[s.output] = out;
  }

  const network_steps network_;
  const memory::data_type type_;
  const bool is_direct_;
  dnnl::stream stream_{onednn_engine()};
  memory_pool pool_;
  std::vector<std::optional<memory>> values_;
  std::vector<std::size_t> last_use_, uses_, made_at_;
  std::vector<std::size_t> sum_behind_;  ///< of a convolution: the step that it computes, too
  std::size_t at_ = 0;                   ///< the step that is added
  memory input_, output_;
  std::vector<std::pair<dnnl::primitive, arguments>> program_;
};

/// A program for each of two threads, or one that takes both.
template <int Threads>
class on_onednn final : public network {
 public:
  on_onednn(const network_steps& steps, memory::data_type type, bool is_direct)
      : inputs_(steps.values[0].elements()), outputs_(steps.values[steps.output].elements()) {
    [[maybe_unused]] const one_thread here;
    first_.emplace(steps, type, is_direct);
    if constexpr (Threads == 1) second_.emplace(steps, type, is_direct);
  }

  std::vector<std::span<float>> inputs() override { return {{first_->input(), inputs_}}; }
  std::vector<std::span<const float>> outputs() override { return {{first_->output(), outputs_}}; }
  void take_inputs() override {
    if (second_) std::copy_n(first_->input(), inputs_, second_->input());
  }

  void run() override { run(*first_); }
  void run_on_two(std::size_t items) override {
    run_halves<Threads>(
        items, [&] { run(*first_); }, [&] { run(*second_); });
  }

 private:
  struct as_many_as_there_are {};
  using one_thread = std::conditional_t<Threads == 1, levada::detail::onednn_on_this_thread, as_many_as_there_are>;

  static void run(onednn_program& program) {
    [[maybe_unused]] const one_thread here;
    program.run();
  }

  std::size_t inputs_, outputs_;
  std::optional<onednn_program> first_, second_;
};

/// Of the processor, or of those that ONEDNN_MAX_CPU_ISA leaves.
bool has_bfloat16() {
  const auto wanted = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
}

template <bool IsDirect>
std::unique_ptr<network> made_of(const entry& of, const std::vector<std::size_t>&, int threads) {
  if (of.element == "int8" || (of.element == "bf16" && !has_bfloat16())) return nullptr;
  const auto steps = read_steps(of.file);
  if (!steps) return nullptr;
  const auto type = of.element == "bf16" ? memory::data_type::bf16 : memory::data_type::f32;
  if (threads == 1) return std::make_unique<on_onednn<1>>(*steps, type, IsDirect);
  return std::make_unique<on_onednn<2>>(*steps, type, IsDirect);
}

[[maybe_unused]] const bool is_entered = [] {
  peers().push_back({"onednn", made_of<false>, has_bfloat16()});
  peers().push_back({"onednn_direct", made_of<true>, false, true});
  return true;
}();

}  // namespace
