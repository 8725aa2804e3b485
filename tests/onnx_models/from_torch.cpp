// SPDX-License-Identifier: Apache-2.0
// Networks that from_torch.py exported give what PyTorch gave.

#include <cstddef>
#include <fstream>
#include <memory>
#include <string>

#include <torch_layers.onnx.hpp>
#include <torch_picture.onnx.hpp>
#include <torch_sequence.onnx.hpp>

#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>

#include <doctest/doctest.h>

#include "onnx_models/close.hpp"

namespace lv = levada;

namespace {

/// A tensor that from_torch.py wrote.
template <class Tensor>
std::unique_ptr<Tensor> recorded(const std::string& file) {
  auto values = std::make_unique<Tensor>();
  const auto bytes = static_cast<std::streamsize>(values->size() * sizeof(float));
  std::ifstream stream(file, std::ios::binary);
  stream.read(reinterpret_cast<char*>(values->data()), bytes);
  REQUIRE(stream.gcount() == bytes);
  return values;
}

template <class In, class Out, class Network>
void check(const std::string& name, Network network) {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<In> | network);
  const auto x = recorded<In>(name + ".x");
  const auto wanted = recorded<Out>(name + ".y");
  const auto result = std::make_unique<Out>(app(*x));
  lv::testing::check_close(*result, *wanted);
}

TEST_CASE("a network of convolutions and attention gives what PyTorch gives") {
  const lv::safetensors weights{torch_picture::weights_file};
  check<torch_picture::x_type, torch_picture::y_result>("torch_picture", torch_picture::graph(weights));
}

TEST_CASE("equal layers that are a function give what PyTorch gives") {
  const lv::safetensors weights{torch_layers::weights_file};
  check<torch_layers::x_type, torch_layers::y_result>("torch_layers", torch_layers::graph(weights));
}

TEST_CASE("recurrent layers in both directions give what PyTorch gives") {
  const lv::safetensors weights{torch_sequence::weights_file};
  check<torch_sequence::x_type, torch_sequence::y_result>("torch_sequence", torch_sequence::graph(weights));
}

}  // namespace
