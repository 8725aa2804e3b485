// SPDX-License-Identifier: Apache-2.0
// Backends that a user's file alone adds: the ones of docs/backends.md, which shows the code between the marks, and an
// accelerator with odd rules.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <levada/backend/prepared.hpp>
#include <levada/backend/reference.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/reference/ops.hpp>
#include <levada/graph/detail/fork.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/interop/report.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/broadcast.hpp>
#include <levada/nn/dense.hpp>
#include <levada/nn/element_wise.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/rules.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/simulated.hpp>

namespace lv = levada;

template <class In, class... Ops>
struct halves_kernel;  // not complete: not taken

struct halves {
  static constexpr std::string_view name = "halves";
  static constexpr lv::device_kind device = lv::device_kind::cpu;
  static constexpr std::size_t longest_run = 2;  // dense, relu

  template <class In, class... Ops>
  using kernel = halves_kernel<In, Ops...>;
};

template <class In, std::size_t Outputs>
  requires lv::op_takes<lv::dense_op<Outputs>, In>
struct halves_kernel<In, lv::dense_op<Outputs>, lv::relu_op> {
  static constexpr std::size_t scratch_bytes = 0;

  // Weights are packed here, once; the parameters are gone afterwards.
  halves_kernel(const lv::dense_op<Outputs>&, const lv::relu_op&, lv::parameter_values p) {
    std::copy_n(p.get<float>(0), weight_.size(), weight_.begin());
    std::copy_n(p.get<float>(1), bias_.size(), bias_.begin());
  }

  // On any thread, several at once.
  void operator()(const In& in, lv::tensor<float, Outputs>& out, std::byte*) const {
    constexpr std::size_t half = In::elements / 2;
    for (std::size_t o = 0; o < Outputs; ++o) {
      const float* row = weight_.data() + o * In::elements;
      float first = bias_[o], second = 0;
      for (std::size_t i = 0; i < half; ++i) first += row[i] * in[i];
      for (std::size_t i = half; i < In::elements; ++i) second += row[i] * in[i];
      out[o] = std::max(first + second, 0.0f);
    }
  }

 private:
  lv::tensor<float, Outputs * In::elements> weight_;
  lv::tensor<float, Outputs> bias_;
};

namespace {

using box = lv::target<lv::cpu<2>>;
using vector = lv::tensor<float, 6>;

lv::parameter_map dense_weights() {
  lv::parameter_map weights;
  std::vector<float> w(18), b(3);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 7) / 8 - 0.25f;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 0.25f - static_cast<float>(i) / 2;
  weights.set("head.weight", lv::element::f32, lv::shape(3, 6), w.data());
  weights.set("head.bias", lv::element::f32, lv::shape(3), b.data());
  return weights;
}

vector some_input() {
  vector in;
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) / 4 - 0.5f;
  return in;
}

}  // namespace

TEST_CASE("a user's kernel computes the run that it is there for, and other backends the rest") {
  const lv::parameter_map weights = dense_weights();
  const auto pipeline = lv::input<vector> | lv::nn::dense<"head", 3>(weights) | lv::nn::relu | lv::nn::softmax;
  const auto app = lv::deploy<box, lv::backends<halves, lv::reference>>(pipeline);
  static_assert(decltype(app)::plan.unit.size() == 2 && decltype(app)::plan.unit[0].count == 2);
  static_assert(decltype(app)::plan.unit[0].backend == 0 && decltype(app)::plan.unit[1].backend == 1);
  const auto naive = lv::deploy<box, lv::backends<lv::reference>>(pipeline);
  CHECK(app(some_input()) == naive(some_input()));  // sums of eighths are exact
}

struct tables {
  static constexpr std::string_view name = "tables";
  static constexpr lv::device_kind device = lv::device_kind::cpu;
  static constexpr std::size_t longest_run = 8;

  /// Any run of relus, however many: decided while compiling, from kinds, shapes and element types.
  static constexpr bool takes(lv::op_run run) {
    for (const lv::op_info& op : run)
      if (op.kind != "relu" || op.input().type != lv::element::f32) return false;
    return true;
  }

  /// Made when the program starts: what a library compiles, packs or opens.
  struct ready {
    std::size_t elements;
  };
  static ready prepare(lv::op_run run, lv::parameter_values) { return {run.front().input().extents.elements()}; }

  static void run(const ready& r, const void* const* inputs, void* output, std::byte*) {
    const auto* in = static_cast<const float*>(inputs[0]);
    auto* out = static_cast<float*>(output);
    for (std::size_t i = 0; i < r.elements; ++i) out[i] = in[i] < 0 ? 0 : in[i];
  }

  template <class In, class... Ops>
  using kernel = lv::prepared_kernel<tables, In, Ops...>;
};

TEST_CASE("a backend that looks at values takes what it says, however long") {
  static_assert(lv::op_kernel<tables, vector, lv::relu_op, lv::relu_op, lv::relu_op>);
  static_assert(!lv::op_kernel<tables, vector, lv::relu_op, lv::softmax_op>);
  static_assert(!lv::op_kernel<tables, lv::tensor<double, 6>, lv::relu_op>);
  const auto app = lv::deploy<box, lv::backends<tables, lv::reference>>(lv::input<vector> | lv::nn::relu |
                                                                        lv::nn::relu | lv::nn::relu | lv::nn::softmax);
  static_assert(decltype(app)::plan.unit.size() == 2 && decltype(app)::plan.unit[0].count == 3);
  const auto naive = lv::deploy<box, lv::backends<lv::reference>>(lv::input<vector> | lv::nn::relu | lv::nn::softmax);
  CHECK(app(some_input()) == naive(some_input()));
}

struct gates {
  static constexpr std::string_view name = "gates";
  static constexpr lv::device_kind device = lv::device_kind::cpu;
  static constexpr std::size_t longest_run = 0;  // no chain

  /// x -> sigmoid -> product with x: two ops that share an input.
  static constexpr bool takes(const lv::region_info& region) {
    if (region.size() != 2 || region[0].kind != "sigmoid" || region[1].kind != "mul") return false;
    const bool is_second = region.producer(1, 0) == lv::region_info::outside;
    return region.operands_from(1, 0) == 1 && region[1].from[is_second ? 0 : 1] == region[0].from[0];
  }

  struct ready {
    std::size_t elements;
  };
  static ready prepare(const lv::region_info& region, lv::parameter_values) {
    return {region.gives().extents.elements()};
  }
  static void run(const ready& r, const void* const* inputs, void* output, std::byte*) {
    const auto* in = static_cast<const float*>(inputs[0]);
    auto* out = static_cast<float*>(output);
    for (std::size_t i = 0; i < r.elements; ++i) out[i] = in[i] / (1 + std::exp(-in[i]));
  }

  template <class Region>
  using region_kernel = lv::prepared_region_kernel<gates, Region>;
};

TEST_CASE("a backend that looks at regions takes one of two ops that share their input") {
  const auto pipeline = lv::input<vector> | lv::fork(lv::identity, lv::nn::sigmoid) | lv::nn::mul | lv::nn::relu;
  const auto app = lv::deploy<box, lv::backends<gates, lv::reference>>(pipeline);
  static_assert(decltype(app)::plan.units == 2 && decltype(app)::plan.unit[0].count == 2);
  const auto expected = lv::deploy<box, lv::backends<lv::reference>>(pipeline);
  static_assert(decltype(expected)::plan.units == 3);
  const vector in{{-2, -1, 0, 1, 2, 3}};
  const auto got = app(in), wanted = expected(in);
  for (std::size_t i = 0; i < vector::elements; ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-6));
}

// An accelerator with a memory of its own. Its ops are the user's, too: int8 in, int8 out.

template <std::size_t Filters>
struct conv_int8_op {
  static constexpr std::string_view kind = "qlinear_conv2d";
  static constexpr lv::op_kind fuses_as = lv::op_kind::out_fusable;
  static constexpr std::string_view expects = "an int8 tensor of channels, height, width";

  template <lv::image_tensor In>
    requires std::same_as<typename In::value_type, std::int8_t>
  using output = lv::tensor<std::int8_t, Filters, In::extents[1], In::extents[2]>;
  template <class In>
  static constexpr double flops = 18.0 * static_cast<double>(In::elements * Filters);
  template <class In>
  static constexpr std::array parameters{
      lv::parameter_info{"weight", lv::element::i8, lv::shape(Filters, In::extents[0], 3, 3)}};
};

struct relu_int8_op : lv::weightless_op {
  static constexpr std::string_view kind = "relu";
  static constexpr lv::op_kind fuses_as = lv::op_kind::element_wise;
  static constexpr std::string_view expects = "an int8 tensor";

  template <lv::any_tensor In>
    requires std::same_as<typename In::value_type, std::int8_t>
  using output = In;
  template <class In>
  static constexpr double flops = static_cast<double>(In::elements);
};

namespace {

/// 3 x 3 with a border of zeros; sums are divided by 64 and saturated.
void convolve(const std::int8_t* in, const std::int8_t* weight, std::int8_t* out, const lv::shape& from,
              std::size_t filters, bool relu) {
  const std::size_t channels = from[0], height = from[1], width = from[2];
  for (std::size_t f = 0; f < filters; ++f)
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x) {
        int sum = 0;
        for (std::size_t c = 0; c < channels; ++c)
          for (std::size_t ky = 0; ky < 3; ++ky)
            for (std::size_t kx = 0; kx < 3; ++kx)
              if (y + ky >= 1 && y + ky <= height && x + kx >= 1 && x + kx <= width)
                sum +=
                    in[(c * height + y + ky - 1) * width + x + kx - 1] * weight[((f * channels + c) * 3 + ky) * 3 + kx];
        out[(f * height + y) * width + x] = static_cast<std::int8_t>(std::clamp(sum / 64, relu ? 0 : -128, 127));
      }
}

}  // namespace

namespace levada {

template <class Backend, class In, std::size_t Filters>
  requires op_takes<conv_int8_op<Filters>, In>
struct definition<Backend, In, conv_int8_op<Filters>> {
  static constexpr std::size_t scratch_bytes = 0;
  definition(const conv_int8_op<Filters>&, parameter_values p) {
    std::copy_n(p.get<std::int8_t>(0), weight_.size(), weight_.begin());
  }
  void operator()(const In& in, typename conv_int8_op<Filters>::template output<In>& out, std::byte*) const {
    convolve(in.data(), weight_.data(), out.data(), shape_of<In>, Filters, false);
  }

 private:
  tensor<std::int8_t, Filters * In::extents[0] * 9> weight_;
};

template <class Backend, class In>
  requires op_takes<relu_int8_op, In>
struct definition<Backend, In, relu_int8_op> : detail::plain_definition<relu_int8_op> {
  using detail::plain_definition<relu_int8_op>::plain_definition;
  void operator()(const In& in, In& out, std::byte*) const {
    for (std::size_t i = 0; i < In::elements; ++i) out[i] = std::max(in[i], std::int8_t{0});
  }
};

}  // namespace levada

namespace {
std::atomic<int> regions_on_npu{0}, runs_on_npu{0};
std::atomic<bool> npu_overlapped{false};
}  // namespace

struct npu {
  static constexpr std::string_view name = "npu";
  static constexpr lv::device_kind device = lv::device_kind::simulated;
  static constexpr std::size_t longest_run = 2;

  /// A convolution alone, or with the relu that takes what it gives; never a relu first.
  static constexpr auto rules =
      lv::union_of(lv::matching(lv::is("qlinear_conv2d")), lv::matching(lv::is("relu")(lv::is("qlinear_conv2d"))));

  /// What it can do at most, where no table knows better: operations and bytes a second, and what starting it takes.
  static constexpr lv::roofline roofline{name, 1e11, 1e10, 5e-6};

  /// Only int8, and only what its 64 KiB hold: weights, input and output at once.
  static constexpr bool takes(lv::op_run run) {
    std::size_t bytes = run.front().input().bytes() + run.back().gives.bytes();
    for (const lv::op_info& op : run) {
      if (op.input().type != lv::element::i8) return false;
      for (const lv::parameter_info& p : op.parameters) bytes += p.extents.elements();
    }
    return bytes <= 64 << 10;
  }

  struct ready {
    lv::shape from;
    std::size_t filters = 0;
    bool relu = false;
    std::vector<std::int8_t> weight;
  };
  static ready prepare(lv::op_run run, lv::parameter_values p) {
    const auto* weight = p.get<std::int8_t>(0);
    return {run.front().input().extents,
            run.front().gives.extents[0],
            run.size() == 2,
            {weight, weight + run.front().parameters[0].extents.elements()}};
  }
  static void run(const ready& r, const void* const* inputs, void* output, std::byte*);

  template <class In, class... Ops>
  using kernel = lv::prepared_kernel<npu, In, Ops...>;
};

void npu::run(const ready& r, const void* const* inputs, void* output, std::byte*) {
  if (regions_on_npu.fetch_add(1) != 0) npu_overlapped = true;
  convolve(static_cast<const std::int8_t*>(inputs[0]), r.weight.data(), static_cast<std::int8_t*>(output), r.from,
           r.filters, r.relu);
  ++runs_on_npu;
  --regions_on_npu;
}

namespace {

using picture = lv::tensor<std::int8_t, 4, 16, 16>;
using with_npu = lv::target<lv::cpu<2>, lv::simulated<0>>;

template <lv::fixed_string Name, std::size_t Filters>
constexpr auto conv(const lv::parameter_map& w) {
  return lv::op_stage<Name, conv_int8_op<Filters>>{{}, lv::parameter_source_ref(w)};
}
constexpr lv::op_stage<"relu", relu_int8_op> relu8{};

void set_weight(lv::parameter_map& to, const std::string& name, const lv::shape& extents) {
  std::vector<std::int8_t> values(extents.elements());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int8_t>(static_cast<int>(i * 37 % 31) - 15);
  to.set(name, lv::element::i8, extents, values.data());
}

constexpr lv::roofline processor[] = {{"reference", 1e8, 1e9, 0}};
constexpr lv::transfer_cost ways[] = {{lv::cpu<2>::id, lv::simulated<0>::id, 20e-6, 1e-9},
                                      {lv::simulated<0>::id, lv::cpu<2>::id, 20e-6, 1e-9}};
constexpr lv::cost_table guessed{.machine = "nobody measured", .transfers = ways, .rooflines = processor};

}  // namespace

TEST_CASE("an accelerator gets what its rules, its types and its memory allow, one region at a time") {
  lv::parameter_map weights;
  set_weight(weights, "a.weight", lv::shape(8, 4, 3, 3));
  set_weight(weights, "b.weight", lv::shape(12, 8, 3, 3));
  set_weight(weights, "c.weight", lv::shape(300, 12, 3, 3));
  const auto pipeline = lv::input<picture> | conv<"a", 8>(weights) | lv::named<"r1">(relu8) | lv::named<"r2">(relu8) |
                        conv<"b", 12>(weights) | conv<"c", 300>(weights) | lv::named<"r3">(relu8);
  using both = lv::backends<lv::reference, npu>;
  const auto app = lv::deploy<with_npu, both, lv::costs<guessed>>(pipeline);
  constexpr const auto& plan = decltype(app)::plan;
  constexpr auto on_npu = [&](std::size_t unit) {
    return plan.unit[unit].backend == 1 && plan.segment[plan.unit[unit].segment].device == lv::simulated<0>::id;
  };
  static_assert(plan.unit.size() == 5);
  static_assert(plan.unit[0].count == 2 && on_npu(0), "conv -> relu");
  static_assert(plan.unit[1].count == 1 && plan.unit[1].backend == 0, "a relu alone, or before a conv, is not its");
  static_assert(plan.unit[2].count == 1 && on_npu(2));
  static_assert(plan.unit[3].backend == 0 && plan.unit[4].backend == 0, "what c gives takes more than 64 KiB");

  const auto naive = lv::deploy<with_npu, lv::backends<lv::reference>>(pipeline);
  std::vector<picture> pictures(16);
  for (std::size_t i = 0; i < pictures.size(); ++i)
    for (std::size_t k = 0; k < picture::elements; ++k)
      pictures[i][k] = static_cast<std::int8_t>(static_cast<int>((i * 57 + k * 11) % 251) - 125);
  std::size_t i = 0, equal = 0;
  runs_on_npu = 0;
  for (auto&& r : app.stream(pictures)) equal += r.value() == naive(pictures[i++]);
  CHECK(equal == pictures.size());
  CHECK(runs_on_npu == 2 * static_cast<int>(pictures.size()));
  CHECK_FALSE(npu_overlapped);
}

TEST_CASE("by preference it gets the same ones, and of floats none") {
  lv::parameter_map weights;
  set_weight(weights, "a.weight", lv::shape(8, 4, 3, 3));
  const auto pipeline = lv::input<picture> | relu8 | lv::on<lv::simulated<0>>(conv<"a", 8>(weights)) |
                        lv::on<lv::simulated<0>>(lv::named<"r">(relu8));
  using app = decltype(lv::deploy<with_npu, lv::backends<npu, lv::reference>>(pipeline));
  static_assert(app::plan.unit.size() == 2 && app::plan.unit[0].backend == 1 && app::plan.unit[1].count == 2);
  static_assert(!lv::op_kernel<npu, vector, lv::relu_op>);
}
