// SPDX-License-Identifier: Apache-2.0
// Graphs of float computed with bfloat16: which tensors stay bfloat16, and on both backends the results beside those of
// sums in double, within the bound of docs/precision.md.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <levada/backend/detail/define/bfloat16.hpp>
#include <levada/backend/detail/define/broadcast.hpp>
#include <levada/backend/detail/define/moves.hpp>
#include <levada/backend/detail/define/pools.hpp>
#include <levada/backend/detail/define/sums.hpp>
#include <levada/backend/reference.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/quantized.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/quantize_bfloat16.hpp>

namespace lv = levada;
namespace nn = levada::nn;

namespace {

using box = lv::target<lv::cpu<1>>;

/// Numbers from -1 to 1.
float next_number() {
  static std::uint32_t state = 1;
  return static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-23f - 1;
}

/// Weights that are kept to be looked at.
class kept_weights {
 public:
  void add(const char* stage, const lv::shape& extents) {
    add_values(std::string(stage) + ".weight", extents);
    add_values(std::string(stage) + ".bias", lv::shape(extents[0]));
  }
  const std::vector<float>& of(const std::string& name) const {
    for (const auto& [n, values] : values_)
      if (n == name) return values;
    throw std::out_of_range(name);
  }
  const lv::parameter_map& map() const { return map_; }

 private:
  void add_values(const std::string& name, const lv::shape& extents) {
    std::vector<float> values(extents.elements());
    for (float& v : values) v = next_number() / 8;
    map_.set(name, lv::element::f32, extents, values.data());
    values_.emplace_back(name, std::move(values));
  }

  lv::parameter_map map_;
  std::vector<std::pair<std::string, std::vector<float>>> values_;
};

constexpr double step = 0x1p-8, epsilon = 0x1p-23;  // half a step of bfloat16; a step of float

/// A picture as float computes it, and by how much bfloat16 may be off.
struct bounded_picture {
  std::size_t channels = 0, rows = 0, columns = 0;
  std::vector<double> value{}, error{};
  bool is_float = false;

  bounded_picture() = default;
  bounded_picture(std::size_t c, std::size_t h, std::size_t w)
      : channels(c), rows(h), columns(w), value(c * h * w), error(c * h * w) {}
  template <class T, std::size_t... Dims>
  explicit bounded_picture(const lv::tensor<T, Dims...>& from) : bounded_picture(Dims...) {
    std::copy_n(from.data(), value.size(), value.begin());
    is_float = true;
  }

  std::size_t at(std::size_t c, std::size_t y, std::size_t x) const { return (c * rows + y) * columns + x; }
  bounded_picture rounded() const {
    bounded_picture r = *this;
    for (std::size_t i = 0; i < r.value.size(); ++i) r.error[i] += step * (std::abs(r.value[i]) + r.error[i]);
    r.is_float = false;
    return r;
  }
  bounded_picture between(double low, double high) const {
    bounded_picture r = *this;
    for (double& v : r.value) v = std::clamp(v, low, high);
    return r;
  }
};

/// Sums of float; they are rounded where what follows takes bfloat16.
bounded_picture convolved(const bounded_picture& given, const kept_weights& w, const std::string& stage,
                          std::size_t filters, std::size_t window, std::size_t padding, std::size_t stride = 1,
                          std::size_t groups = 1) {
  const bounded_picture in = given.is_float ? given.rounded() : given;
  const std::size_t channels = in.channels / groups, rows = (in.rows + 2 * padding - window) / stride + 1,
                    columns = (in.columns + 2 * padding - window) / stride + 1;
  const std::vector<float>&weight = w.of(stage + ".weight"), &bias = w.of(stage + ".bias");
  bounded_picture out(filters, rows, columns);
  out.is_float = true;
  for (std::size_t f = 0; f < filters; ++f)
    for (std::size_t y = 0; y < rows; ++y)
      for (std::size_t x = 0; x < columns; ++x) {
        double value = double{bias[f]}, error = 0, sum = std::abs(value);
        for (std::size_t c = 0; c < channels; ++c)
          for (std::size_t ky = 0; ky < window; ++ky)
            for (std::size_t kx = 0; kx < window; ++kx) {
              const std::size_t row = y * stride + ky - padding, column = x * stride + kx - padding;
              if (row >= in.rows || column >= in.columns) continue;
              const std::size_t i = in.at(f / (filters / groups) * channels + c, row, column);
              const double by = double{weight[((f * channels + c) * window + ky) * window + kx]};
              const double most = std::abs(in.value[i]) + in.error[i];
              value += by * in.value[i];
              error += std::abs(by) * (in.error[i] + step * most);
              sum += std::abs(by) * (1 + step) * most;
            }
        const auto terms = static_cast<double>(channels * window * window + 1);
        out.value[out.at(f, y, x)] = value;
        out.error[out.at(f, y, x)] = error + 2 * terms * epsilon * sum;
      }
  return out;
}
bounded_picture summed(const bounded_picture& a, const bounded_picture& b) {
  bounded_picture r = a;
  for (std::size_t i = 0; i < r.value.size(); ++i) {
    r.value[i] += b.value[i];
    r.error[i] += b.error[i] + 2 * epsilon * (std::abs(a.value[i]) + std::abs(b.value[i]));
  }
  return r;
}
bounded_picture averaged(const bounded_picture& a) {
  bounded_picture r(a.channels, 1, 1);
  const std::size_t plane = a.rows * a.columns;
  for (std::size_t i = 0; i < a.value.size(); ++i) {
    r.value[i / plane] += a.value[i] / static_cast<double>(plane);
    r.error[i / plane] +=
        (a.error[i] + 2 * epsilon * static_cast<double>(plane) * std::abs(a.value[i])) / static_cast<double>(plane);
  }
  return r;
}
bounded_picture pooled(const bounded_picture& a) {  // the largest of 2 x 2
  bounded_picture r(a.channels, a.rows / 2, a.columns / 2);
  for (std::size_t c = 0; c < r.channels; ++c)
    for (std::size_t y = 0; y < r.rows; ++y)
      for (std::size_t x = 0; x < r.columns; ++x) {
        const std::size_t to = r.at(c, y, x);
        r.value[to] = -INFINITY;
        for (const std::size_t i : {a.at(c, 2 * y, 2 * x), a.at(c, 2 * y, 2 * x + 1), a.at(c, 2 * y + 1, 2 * x),
                                    a.at(c, 2 * y + 1, 2 * x + 1)}) {
          r.value[to] = std::max(r.value[to], a.value[i]);
          r.error[to] = std::max(r.error[to], a.error[i]);
        }
      }
  return r;
}
bounded_picture joined(const bounded_picture& a, const bounded_picture& b) {
  bounded_picture r(a.channels + b.channels, a.rows, a.columns);
  std::copy(b.value.begin(), b.value.end(), std::copy(a.value.begin(), a.value.end(), r.value.begin()));
  std::copy(b.error.begin(), b.error.end(), std::copy(a.error.begin(), a.error.end(), r.error.begin()));
  return r;
}

template <class In>
In some_picture() {
  In in;
  for (float& v : in) v = next_number();
  return in;
}

template <class Out>
void check_bound(const Out& got, const bounded_picture& expected) {
  REQUIRE(got.size() == expected.value.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(double{got[i]} - expected.value[i]) / expected.error[i]);
  CHECK(worst <= 1);
  CHECK(worst > 0);  // it was rounded
}

/// On both backends.
template <class In, class Part>
void check_part(const Part& part, const In& in, const bounded_picture& expected) {
  const auto by_reference = lv::deploy<box, lv::backends<lv::reference>>(lv::input<In> | part);
  const auto by_simd = lv::deploy<box, lv::backends<lv::simd>>(lv::input<In> | part);
  check_bound(by_reference(in), expected);
  check_bound(by_simd(in), expected);
}

/// The kinds of the ops, and after each ":" where it gives bfloat16.
template <class In, class Part>
constexpr auto described(const Part&) {
  return lv::detail::flat_pipeline<
      typename lv::detail::flatten<decltype(lv::input<In> | std::declval<Part>()), void>::type>::describe();
}
template <class In, class Part>
std::string kinds(const Part& part) {
  const auto graph = described<In>(part);
  std::string all;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    all += std::string(n == 0 ? "" : " ") + std::string(graph.nodes[n].kind);
    if (graph.values[graph.nodes[n].out].type == lv::element::bf16) all += ":";
  }
  return all;
}

}  // namespace

TEST_CASE("a residual block, with a pool and a dense layer behind it") {
  using picture = lv::tensor<float, 3, 9, 12>;
  kept_weights w;
  w.add("stem", lv::shape(8, 3, 3, 3)), w.add("a", lv::shape(8, 8, 3, 3)), w.add("b", lv::shape(8, 8, 3, 3));
  w.add("fc", lv::shape(5, 8));
  const auto part =
      lv::quantize<lv::bfloat16>(nn::conv2d<"stem", 8, lv::size<3>, lv::padding<1>>(w.map()) | nn::relu |
                                 lv::residual(nn::conv2d<"a", 8, lv::size<3>, lv::padding<1>>(w.map()) | nn::relu |
                                              nn::conv2d<"b", 8, lv::size<3>, lv::padding<1>>(w.map())) |
                                 nn::relu | nn::global_avg_pool2d | nn::flatten | nn::dense<"fc", 5>(w.map()));
  CHECK(kinds<picture>(part) ==
        "bfloat16_conv2d: bfloat16_conv2d: bfloat16_conv2d: bfloat16_add: bfloat16_global_avg_pool2d: flatten: "
        "bfloat16_dense");

  const auto in = some_picture<picture>();
  const auto stem = convolved(bounded_picture(in), w, "stem", 8, 3, 1).between(0, INFINITY).rounded();
  const auto a = convolved(stem, w, "a", 8, 3, 1).between(0, INFINITY).rounded();
  const auto b = convolved(a, w, "b", 8, 3, 1).rounded();
  const auto mean = averaged(summed(stem, b).between(0, INFINITY).rounded()).rounded();
  check_part(part, in, convolved(mean, w, "fc", 5, 1, 0));
}

TEST_CASE("a graph of an inverted residual: depthwise and grouped convolutions, clips, a sum with a clip behind it") {
  using picture = lv::tensor<float, 4, 8, 10>;
  kept_weights w;
  w.add("in", lv::shape(6, 4, 1, 1)), w.add("expand", lv::shape(12, 6, 1, 1)), w.add("depth", lv::shape(12, 1, 3, 3));
  w.add("project", lv::shape(6, 12, 1, 1)), w.add("grouped", lv::shape(4, 3, 3, 3));
  const auto part = lv::quantize<lv::bfloat16>(lv::graph(
      lv::port<"picture", picture>, lv::node<"in", "picture">(nn::conv2d<"in", 6, lv::size<1>>(w.map())),
      lv::node<"project", "in">(nn::conv2d<"expand", 12, lv::size<1>>(w.map()) | nn::clip(0, 1) |
                                nn::conv2d<"depth", 12, lv::size<3>, lv::padding<1>, lv::groups<12>>(w.map()) |
                                nn::clip(0, 1) | nn::conv2d<"project", 6, lv::size<1>>(w.map())),
      lv::node<"sum", "in", "project">(nn::add), lv::node<"clip", "sum">(nn::clip(-0.5f, 0.75f)),
      lv::node<"out", "clip">(nn::conv2d<"grouped", 4, lv::size<3>, lv::stride<2>, lv::groups<2>>(w.map())),
      lv::output<"result", "out">));
  CHECK(kinds<picture>(part) ==
        "bfloat16_conv2d: bfloat16_conv2d: bfloat16_conv2d: bfloat16_conv2d: bfloat16_add: bfloat16_conv2d");

  const auto in = some_picture<picture>();
  const auto first = convolved(bounded_picture(in), w, "in", 6, 1, 0).rounded();
  const auto expand = convolved(first, w, "expand", 12, 1, 0).between(0, 1).rounded();
  const auto depth = convolved(expand, w, "depth", 12, 3, 1, 1, 12).between(0, 1).rounded();
  const auto project = convolved(depth, w, "project", 6, 1, 0).rounded();
  const auto sum = summed(first, project).between(-0.5, 0.75).rounded();
  check_part(part, in, convolved(sum, w, "grouped", 4, 3, 0, 2, 2));
}

TEST_CASE("a fork that is joined by concat, with a max pool before it") {
  using picture = lv::tensor<float, 2, 8, 12>;
  kept_weights w;
  w.add("squeeze", lv::shape(4, 2, 3, 3)), w.add("one", lv::shape(6, 4, 1, 1)), w.add("three", lv::shape(8, 4, 3, 3));
  w.add("last", lv::shape(3, 14, 1, 1));
  const auto part = lv::quantize<lv::bfloat16>(nn::conv2d<"squeeze", 4, lv::size<3>, lv::padding<1>>(w.map()) |
                                               nn::max_pool2d<2> | nn::relu |
                                               lv::fork(nn::conv2d<"one", 6, lv::size<1>>(w.map()) | nn::relu,
                                                        nn::conv2d<"three", 8, lv::size<3>, lv::padding<1>>(w.map())) |
                                               nn::concat<0> | nn::relu | nn::conv2d<"last", 3, lv::size<1>>(w.map()));
  CHECK(kinds<picture>(part) ==
        "bfloat16_conv2d: max_pool2d: bfloat16_conv2d: bfloat16_conv2d: concat: bfloat16_relu: bfloat16_conv2d");

  const auto in = some_picture<picture>();
  const auto squeeze = pooled(convolved(bounded_picture(in), w, "squeeze", 4, 3, 1).between(0, INFINITY).rounded());
  const auto one = convolved(squeeze, w, "one", 6, 1, 0).between(0, INFINITY).rounded();
  const auto three = convolved(squeeze, w, "three", 8, 3, 1).rounded().between(0, INFINITY);
  check_part(part, in, convolved(joined(one, three), w, "last", 3, 1, 0));
}

TEST_CASE("what another op, a port or the outside takes is float, and so is all that sums connect with it") {
  using picture = lv::tensor<float, 4, 6, 6>;
  const lv::parameter_map w;
  const auto conv = nn::conv2d<"a", 4, lv::size<1>>(w);
  const auto next = nn::conv2d<"b", 4, lv::size<1>>(w);

  CHECK(kinds<picture>(lv::quantize<lv::bfloat16>(conv | nn::sigmoid | next)) ==
        "bfloat16_conv2d sigmoid bfloat16_conv2d");
  CHECK(kinds<picture>(lv::quantize<lv::bfloat16>(lv::residual(conv) | next)) ==
        "bfloat16_conv2d add bfloat16_conv2d");  // the input is float
  CHECK(kinds<picture>(lv::quantize<lv::bfloat16>(conv | lv::residual(nn::softmax) | next)) ==
        "bfloat16_conv2d softmax add bfloat16_conv2d");
  CHECK(kinds<picture>(lv::quantize<lv::bfloat16>(
            conv | lv::graph(lv::port<"x", picture>, lv::node<"y", "x">(nn::relu | next), lv::output<"z", "y">))) ==
        "bfloat16_conv2d relu bfloat16_conv2d");
  CHECK(kinds<picture>(lv::quantize<lv::bfloat16>(lv::graph(
            lv::port<"x", picture>, lv::node<"y", "x">(conv), lv::node<"r", "y">(nn::relu), lv::node<"z", "r">(next),
            lv::output<"first", "r">, lv::output<"second", "z">))) == "bfloat16_conv2d relu bfloat16_conv2d");
  CHECK(kinds<picture>(lv::quantize<lv::bfloat16>(conv | lv::split_here | nn::clip(0, 6) | next)) ==
        "bfloat16_conv2d: bfloat16_conv2d");
  CHECK(kinds<picture>(lv::quantize<lv::bfloat16>(conv | nn::pad<lv::pad_mode::zeros, 0, 1, 1, 0, 1, 1>() | nn::relu |
                                                  next)) == "bfloat16_conv2d: pad: bfloat16_relu: bfloat16_conv2d");
  CHECK(kinds<picture>(lv::quantize<lv::bfloat16>(lv::pipeline(conv | nn::avg_pool2d<2> | nn::relu | next))) ==
        "bfloat16_conv2d: bfloat16_avg_pool2d: bfloat16_conv2d");
  CHECK(kinds<picture>(lv::quantize<lv::bfloat16>(conv | lv::fork(nn::relu, lv::identity) | nn::sum |
                                                  lv::on<lv::cpu<2>>(nn::relu) | next)) ==
        "bfloat16_conv2d: bfloat16_relu: bfloat16_sum: bfloat16_conv2d");
}

TEST_CASE("convolutions of a graph are products of matrices where the machine has AMX") {
  using picture = lv::tensor<float, 32, 14, 14>;
  const lv::parameter_map w;
  const auto part = lv::quantize<lv::bfloat16>(nn::conv2d<"a", 32, lv::size<3>, lv::padding<1>>(w) |
                                               lv::residual(nn::conv2d<"b", 32, lv::size<3>, lv::padding<1>>(w)) |
                                               nn::clip(0, 6) | nn::conv2d<"c", 64, lv::size<1>>(w));
  using plan = decltype(lv::deploy<box, lv::backends<lv::simd>>(lv::input<picture> | part));
  std::size_t products = 0;
  for (const auto& unit : plan::plan.unit) products += unit.method == "matrix registers";
  CHECK(products == (lv::isa::has_matrices<lv::isa::native> ? 3 : 0));
  CHECK_MESSAGE(plan::plan.unit.size() == 3, "the sum is a part of b");
}
