// SPDX-License-Identifier: Apache-2.0
// Networks of pictures in XNNPACK: a subgraph with relus and clips in the ops before them, channels last as it wants
// them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pthreadpool.h>
#include <xnnpack.h>

#include <levada/core/error.hpp>

#include "../network.hpp"
#include "of_steps.hpp"
#include "steps.hpp"

namespace {

using namespace models;

namespace xnn {

inline void check(xnn_status status) {
  if (status != xnn_status_success) throw levada::error("XNNPACK: status " + std::to_string(status));
}

/// What `create(T*)` makes, given back by `Delete`.
template <class T, auto Delete>
struct deletes {
  void operator()(T* object) const { static_cast<void>(Delete(object)); }
};
using subgraph = std::unique_ptr<xnn_subgraph, deletes<xnn_subgraph, &xnn_delete_subgraph>>;
using runtime = std::unique_ptr<xnn_runtime, deletes<xnn_runtime, &xnn_delete_runtime>>;
struct ends_pool {
  void operator()(pthreadpool* pool) const { pthreadpool_destroy(pool); }
};
using pool = std::unique_ptr<pthreadpool, ends_pool>;

/// Of `outer` rows of `channels` planes of `inner` elements: the same with the channels last.
inline std::vector<float> channels_last(const float* from, std::size_t outer, std::size_t channels, std::size_t inner) {
  std::vector<float> to(outer * channels * inner);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < inner; ++i) to[(o * inner + i) * channels + c] = from[(o * channels + c) * inner + i];
  return to;
}

}  // namespace xnn

/// One runtime, with a pool for two threads.
class xnnpack_runtime {
 public:
  xnnpack_runtime(const network_steps& network, int threads)
      : of_(network.values[0]),
        outputs_(network.values[network.output].elements()),
        pool_(threads > 1 ? pthreadpool_create(2) : nullptr) {
    xnn::check(xnn_initialize(nullptr));
    xnn_subgraph_t made = nullptr;
    xnn::check(xnn_create_subgraph(2, 0, &made));
    graph_.reset(made);
    for (std::size_t v = 0; v < network.values.size(); ++v) {
      const value_extents& e = network.values[v];
      const std::size_t dims[] = {1, e.height, e.width, e.channels}, flat[] = {1, e.channels};
      const bool is_flat = is_dense_output(network, v);
      const std::uint32_t flags = v == 0                ? XNN_VALUE_FLAG_EXTERNAL_INPUT
                                  : v == network.output ? XNN_VALUE_FLAG_EXTERNAL_OUTPUT
                                                        : 0u;
      values_.push_back(tensor(is_flat ? std::span<const std::size_t>(flat) : dims, nullptr,
                               v == 0                ? 0
                               : v == network.output ? 1
                                                     : XNN_INVALID_VALUE_ID,
                               flags));
    }
    for (const step& s : network.steps) xnn::check(define(network, s));
    input_.resize(network.values[0].elements() + XNN_EXTRA_BYTES / sizeof(float));
    output_.resize(outputs_ + XNN_EXTRA_BYTES / sizeof(float));
    xnn_runtime_t runtime = nullptr;
    xnn::check(xnn_create_runtime_v2(graph_.get(), pool_.get(), 0, &runtime));
    runtime_.reset(runtime);
    const xnn_external_value external[] = {{0, input_.data()}, {1, output_.data()}};
    xnn::check(xnn_setup_runtime(runtime_.get(), 2, external));
  }

  void take(std::span<const float> planes) {
    std::ranges::copy(xnn::channels_last(planes.data(), 1, of_.channels, of_.height * of_.width), input_.begin());
  }
  void run() { xnn::check(xnn_invoke_runtime(runtime_.get())); }
  std::span<const float> output() const { return std::span(output_).first(outputs_); }

 private:
  static bool is_dense_output(const network_steps& network, std::size_t v) {
    for (const step& s : network.steps)
      if (s.output == v) return s.of == step::kind::dense;
    return false;
  }

  std::uint32_t tensor(std::span<const std::size_t> dims, const float* data,
                       std::uint32_t external = XNN_INVALID_VALUE_ID, std::uint32_t flags = 0) {
    std::uint32_t id = 0;
    xnn::check(
        xnn_define_tensor_value(graph_.get(), xnn_datatype_fp32, dims.size(), dims.data(), data, external, flags, &id));
    return id;
  }
  /// Of weights, which stay as long as this is there.
  std::uint32_t kept(std::vector<std::size_t> dims, std::vector<float> numbers) {
    numbers.resize(numbers.size() + XNN_EXTRA_BYTES / sizeof(float));
    return tensor(dims, weights_.emplace_back(std::make_unique<std::vector<float>>(std::move(numbers)))->data());
  }

  xnn_status define(const network_steps& network, const step& s) {
    const xnn_subgraph_t g = graph_.get();
    const std::uint32_t in = values_[s.inputs[0]], out = values_[s.output];
    const value_extents& from = network.values[s.inputs[0]];
    const auto u = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
    switch (s.of) {
      case step::kind::conv: {
        const std::size_t filters = s.bias.size(), channels = from.channels / s.groups, taps = s.height * s.width;
        const std::uint32_t bias = kept({filters}, s.bias);
        if (channels == 1 && s.groups > 1) {
          const std::uint32_t weight =
              kept({1, s.height, s.width, filters}, xnn::channels_last(s.weight.data(), 1, filters, taps));
          return xnn_define_depthwise_convolution_2d(
              g, u(s.top), u(s.right), u(s.bottom), u(s.left), u(s.height), u(s.width), u(s.stride_y), u(s.stride_x), 1,
              1, u(filters / s.groups), from.channels, s.least, s.most, in, weight, bias, out, 0);
        }
        const std::uint32_t weight =
            kept({filters, s.height, s.width, channels}, xnn::channels_last(s.weight.data(), filters, channels, taps));
        return xnn_define_convolution_2d(g, u(s.top), u(s.right), u(s.bottom), u(s.left), u(s.height), u(s.width),
                                         u(s.stride_y), u(s.stride_x), 1, 1, u(s.groups), channels, filters / s.groups,
                                         s.least, s.most, in, weight, bias, out, 0);
      }
      case step::kind::add:
        return xnn_define_add2(g, s.least, s.most, in, values_[s.inputs[1]], out, 0);
      case step::kind::max_pool:
        return xnn_define_max_pooling_2d(g, u(s.top), u(s.right), u(s.bottom), u(s.left), u(s.height), u(s.width),
                                         u(s.stride_y), u(s.stride_x), 1, 1, s.least, s.most, in, out, 0);
      case step::kind::mean:
        return xnn_define_global_average_pooling_2d(g, s.least, s.most, in, out, 0);
      case step::kind::dense: {
        const std::uint32_t weight = kept({s.bias.size(), from.elements()}, s.weight),
                            bias = kept({s.bias.size()}, s.bias);
        return xnn_define_fully_connected(g, s.least, s.most, in, weight, bias, out, XNN_FLAG_TENSORFLOW_RESHAPE_2D);
      }
      case step::kind::concat:
        break;
    }
    return xnn_status_unsupported_parameter;
  }

  value_extents of_;  ///< the input
  std::size_t outputs_;
  xnn::pool pool_;
  xnn::subgraph graph_;
  std::vector<std::uint32_t> values_;
  std::vector<std::unique_ptr<std::vector<float>>> weights_;
  std::vector<float> input_, output_;
  xnn::runtime runtime_;
};

[[maybe_unused]] const bool is_entered = [] {
  peers().push_back({"xnnpack", [](const entry& of, const std::vector<std::size_t>&, int threads) {
                       std::unique_ptr<network> made;
                       if (of.element != "float") return made;
                       const auto steps = read_steps(of.file);
                       // This version's subgraphs join no channels.
                       if (!steps ||
                           std::ranges::any_of(steps->steps, [](const step& s) { return s.of == step::kind::concat; }))
                         return made;
                       return made_of_steps<xnnpack_runtime>(*steps, threads);
                     }});
  return true;
}();

}  // namespace
