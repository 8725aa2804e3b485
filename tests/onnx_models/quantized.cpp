// SPDX-License-Identifier: Apache-2.0
// A quantized network gives the integers that quantized.py reckons by ONNX's definitions.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <vector>

#include <quantized_model.onnx.hpp>

#include <levada/backend/reference.hpp>
#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

#include <doctest/doctest.h>

namespace lv = levada;

namespace {

struct expected {
  std::array<std::int8_t, 512> pool;
  std::array<float, 4> y;
};

template <class T>
void read(std::ifstream& from, T& to) {
  const auto bytes = static_cast<std::streamsize>(to.size() * sizeof(to[0]));
  from.read(reinterpret_cast<char*>(to.data()), bytes);
  REQUIRE(from.gcount() == bytes);
}

template <class... Options>
void check() {
  const lv::safetensors weights{quantized_model::weights_file};
  auto app = lv::deploy<lv::target<lv::cpu<2>>, Options...>(lv::input<quantized_model::x_type> |
                                                            quantized_model::graph(weights));
  std::vector<quantized_model::x_type> items(2);
  std::vector<expected> wanted(2);
  std::ifstream given("quantized_model.onnx.items", std::ios::binary),
      told("quantized_model.onnx.expected", std::ios::binary);
  for (std::size_t i = 0; i < items.size(); ++i) {
    read(given, items[i]);
    read(told, wanted[i].pool);
    read(told, wanted[i].y);
  }
  std::size_t at = 0;
  for (auto&& r : app.stream(items)) {
    const expected& e = wanted[at++];
    const auto& pool = r->template get<"pool">();
    const auto& y = r->template get<"y">();
    for (std::size_t i = 0; i < e.pool.size(); ++i) CHECK(pool[i] == e.pool[i]);
    for (std::size_t i = 0; i < e.y.size(); ++i) CHECK(y[i] == doctest::Approx(e.y[i]).epsilon(1e-6));
  }
  CHECK(at == items.size());
}

TEST_CASE("a quantized network gives what ONNX says, by vectors and by the definition") {
  check<>();
  check<lv::backends<lv::reference>>();
}

TEST_CASE("behind a batch it gives what it gives item by item, the last batch has fewer") {
  using picture = quantized_model::x_type;
  const lv::safetensors weights{quantized_model::weights_file};
  const auto network = quantized_model::graph(weights) | lv::nn::part<1>;
  const auto alone = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<picture> | network);
  const auto together = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<picture> | lv::batch<2> | network | lv::unbatch);
  std::vector<picture> items(3);
  std::ifstream given("quantized_model.onnx.items", std::ios::binary);
  for (std::size_t i = 0; i < 2; ++i) read(given, items[i]);
  items[2] = items[0];
  std::size_t at = 0;
  for (auto&& r : together.stream(items)) CHECK(std::ranges::equal(*r, alone(items[at++])));
  CHECK(at == items.size());
}

}  // namespace
