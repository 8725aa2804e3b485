// SPDX-License-Identifier: Apache-2.0
// A quantized network gives the integers that quantized.py reckons by ONNX's definitions.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
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
  std::array<float, 256> products;
  std::array<float, 1024> tall;
  std::array<std::int32_t, 32> sums;
  std::array<std::int64_t, 32> largest;
};

template <class T>
void read(std::ifstream& from, T& to) {
  const auto bytes = static_cast<std::streamsize>(to.size() * sizeof(to[0]));
  from.read(reinterpret_cast<char*>(to.data()), bytes);
  REQUIRE(from.gcount() == bytes);
}

template <class Tensor, class T, std::size_t N>
void check_equal(const Tensor& given, const std::array<T, N>& wanted) {
  CHECK(std::ranges::equal(std::span(given.data(), given.size()), wanted));
}
template <class Tensor, std::size_t N>
void check_close(const Tensor& given, const std::array<float, N>& wanted) {
  for (std::size_t i = 0; i < N; ++i) CHECK(given[i] == doctest::Approx(wanted[i]).epsilon(1e-6));
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
    expected& e = wanted[i];
    read(told, e.pool);
    read(told, e.y);
    read(told, e.products);
    read(told, e.tall);
    read(told, e.sums);
    read(told, e.largest);
  }
  std::size_t at = 0;
  for (auto&& r : app.stream(items)) {
    const expected& e = wanted[at++];
    check_equal(r->template get<"pool">(), e.pool);
    check_close(r->template get<"y">(), e.y);
    check_close(r->template get<"products">(), e.products);
    check_close(r->template get<"tall">(), e.tall);
    check_equal(r->template get<"sums">(), e.sums);
    check_equal(r->template get<"largest">(), e.largest);
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
