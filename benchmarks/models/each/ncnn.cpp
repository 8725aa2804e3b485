// SPDX-License-Identifier: Apache-2.0
// Networks of pictures in ncnn, of floats in memory: its text of a network with relus and clips in the convolutions
// before them, blocked layouts and Winograd's transforms as it chooses; `ncnn_direct` is without the transforms.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <ncnn/allocator.h>
#include <ncnn/datareader.h>
#include <ncnn/net.h>

#include <levada/core/error.hpp>

#include "../network.hpp"
#include "of_steps.hpp"
#include "steps.hpp"

namespace {

using namespace models;

/// The lines of the layers, and the weights in their order.
class ncnn_text {
 public:
  explicit ncnn_text(const network_steps& network) : uses_(network.values.size()), parts_taken_(uses_.size()) {
    for (const step& s : network.steps)
      for (const std::size_t v : s.inputs) ++uses_[v];
    const value_extents& in = network.values[0];
    lines_ << std::scientific;  // a number without an exponent would be an integer
    begin("Input", {}, input);
    lines_ << " 0=" << in.width << " 1=" << in.height << " 2=" << in.channels << '\n';
    end(0);
    for (const step& s : network.steps) {
      add(s);
      end(s.output);
    }
  }

  static constexpr const char* input = "v0";
  static std::string name(std::size_t value) { return "v" + std::to_string(value); }
  std::string text() const {
    return "7767517\n" + std::to_string(layers_) + ' ' + std::to_string(blobs_) + '\n' + lines_.str();
  }
  const std::vector<float>& weights() const { return weights_; }

 private:
  void begin(const std::string& type, const std::vector<std::string>& from, const std::string& to) {
    lines_ << type << " l" << layers_++ << ' ' << from.size() << " 1";
    for (const std::string& f : from) lines_ << ' ' << f;
    lines_ << ' ' << to;
    ++blobs_;
  }
  /// A value that several layers take is split into as many.
  void end(std::size_t value) {
    if (uses_[value] < 2) return;
    lines_ << "Split l" << layers_++ << " 1 " << uses_[value] << ' ' << name(value);
    for (std::size_t i = 0; i < uses_[value]; ++i) lines_ << ' ' << part(value, i);
    lines_ << '\n';
    blobs_ += uses_[value];
  }
  static std::string part(std::size_t value, std::size_t i) { return name(value) + '_' + std::to_string(i); }
  std::string take(std::size_t value) { return uses_[value] < 2 ? name(value) : part(value, parts_taken_[value]++); }

  void add(const step& s) {
    const bool has_bounds = s.least != -std::numeric_limits<float>::infinity();
    const bool is_relu = s.least == 0 && s.most == std::numeric_limits<float>::infinity();
    std::vector<std::string> from;
    for (const std::size_t v : s.inputs) from.push_back(take(v));
    switch (s.of) {
      case step::kind::conv:
      case step::kind::dense:
        if (s.of == step::kind::dense) {
          begin("InnerProduct", from, name(s.output));
          lines_ << " 0=" << s.bias.size() << " 1=1 2=" << s.weight.size();
        } else {
          begin(s.groups > 1 ? "ConvolutionDepthWise" : "Convolution", from, name(s.output));
          lines_ << " 0=" << s.bias.size() << " 1=" << s.width << " 11=" << s.height << " 3=" << s.stride_x
                 << " 13=" << s.stride_y << " 4=" << s.left << " 15=" << s.right << " 14=" << s.top
                 << " 16=" << s.bottom << " 5=1 6=" << s.weight.size();
          if (s.groups > 1) lines_ << " 7=" << s.groups;
        }
        if (has_bounds) lines_ << " 9=" << (is_relu ? 1 : 3);
        if (has_bounds && !is_relu) lines_ << " -23310=2," << s.least << ',' << s.most;
        weights_.push_back(0);  // they are floats
        weights_.insert(weights_.end(), s.weight.begin(), s.weight.end());
        weights_.insert(weights_.end(), s.bias.begin(), s.bias.end());
        break;
      case step::kind::max_pool:
        begin("Pooling", from, name(s.output));
        lines_ << " 0=0 1=" << s.width << " 11=" << s.height << " 2=" << s.stride_x << " 12=" << s.stride_y
               << " 3=" << s.left << " 14=" << s.right << " 13=" << s.top << " 15=" << s.bottom << " 5=1";
        break;
      case step::kind::mean:
        begin("Pooling", from, name(s.output));
        lines_ << " 0=1 4=1";
        break;
      case step::kind::concat:
        begin("Concat", from, name(s.output));
        lines_ << " 0=0";
        break;
      case step::kind::add: {
        const std::string sum = has_bounds ? name(s.output) + "_sum" : name(s.output);
        begin("BinaryOp", from, sum);
        lines_ << " 0=0";
        if (!has_bounds) break;
        lines_ << '\n';
        begin(is_relu ? "ReLU" : "Clip", {sum}, name(s.output));
        if (!is_relu) lines_ << " 0=" << s.least << " 1=" << s.most;
        break;
      }
    }
    lines_ << '\n';
  }

  std::vector<std::size_t> uses_, parts_taken_;  ///< of each value
  std::size_t layers_ = 0, blobs_ = 0;
  std::ostringstream lines_;
  std::vector<float> weights_;
};

class ncnn_program {
 public:
  ncnn_program(const network_steps& network, int threads, bool is_direct)
      : in_(network.values[0]), output_name_(ncnn_text::name(network.output)) {
    net_.opt.num_threads = threads;
    net_.opt.use_winograd_convolution = !is_direct;
    net_.opt.use_fp16_packed = net_.opt.use_fp16_storage = net_.opt.use_fp16_arithmetic = false;
    net_.opt.use_bf16_storage = net_.opt.use_bf16_packed = false;
    net_.opt.blob_allocator = &blobs_;
    net_.opt.workspace_allocator = &workspace_;
    const ncnn_text text(network);
    weights_ = text.weights();
    const auto* weights = reinterpret_cast<const unsigned char*>(weights_.data());
    const ncnn::DataReaderFromMemory reader(weights);
    if (net_.load_param_mem(text.text().c_str()) != 0 || net_.load_model(reader) != 0)
      throw levada::error("ncnn does not take the network");
    input_.create(static_cast<int>(in_.width), static_cast<int>(in_.height), static_cast<int>(in_.channels));
  }

  void take(std::span<const float> planes) {
    const std::size_t plane = in_.height * in_.width;
    for (std::size_t c = 0; c < in_.channels; ++c)
      std::copy_n(planes.data() + c * plane, plane, static_cast<float*>(input_.channel(static_cast<int>(c))));
  }
  void run() {
    ncnn::Extractor run = net_.create_extractor();
    if (run.input(ncnn_text::input, input_) != 0 || run.extract(output_name_.c_str(), output_) != 0)
      throw levada::error("ncnn does not run the network");
  }
  std::span<const float> output() {
    const auto plane = static_cast<std::size_t>(output_.w) * static_cast<std::size_t>(output_.h);
    planes_.clear();
    for (int c = 0; c < output_.c; ++c) {
      const float* const from = output_.channel(c);
      planes_.insert(planes_.end(), from, from + plane);
    }
    return planes_;
  }

 private:
  ncnn::PoolAllocator blobs_, workspace_;
  std::vector<float> weights_;  // the network refers to them
  ncnn::Net net_;
  value_extents in_;
  std::string output_name_;
  ncnn::Mat input_, output_;
  std::vector<float> planes_;  ///< of the output
};

template <bool IsDirect>
std::unique_ptr<network> made_of(const entry& of, const std::vector<std::size_t>&, int threads) {
  if (of.element != "float") return nullptr;
  const auto steps = read_steps(of.file);
  if (!steps) return nullptr;
  return made_of_steps<ncnn_program>(*steps, threads, IsDirect);
}

[[maybe_unused]] const bool is_entered = [] {
  peers().push_back({"ncnn", made_of<false>});
  peers().push_back({"ncnn_direct", made_of<true>, false, true});
  return true;
}();

}  // namespace
