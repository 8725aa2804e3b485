// SPDX-License-Identifier: Apache-2.0
// A model of 64 inputs and 64 outputs: each by its name, against plain sums.

#include <cstddef>
#include <utility>

#include <many_ports.onnx.hpp>

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

#include <doctest/doctest.h>

namespace lv = levada;

namespace {

constexpr std::size_t most = 64, extent = 3;

float number(std::size_t port, std::size_t at) { return 0.25f * static_cast<float>(port * port + 7 * at) - 3.0f; }

template <std::size_t... I, class Use>
void for_each_index(std::index_sequence<I...>, Use use) {
  (use.template operator()<I>(), ...);
}

TEST_CASE("64 inputs and 64 outputs of a model") {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(many_ports::graph(lv::parameter_map{}));
  using item = decltype(app)::item;
  using result = decltype(app)::output;
  static_assert(item::size == most && result::size == most);
  static_assert(item::index_of("in_63") == 63 && result::index_of("sum_5") == 5 && result::index_of("all") == 62);
  item given;
  for_each_index(std::make_index_sequence<most>{}, [&]<std::size_t I>() {
    for (std::size_t k = 0; k < extent; ++k) given.at<I>()[k] = number(I, k);
  });
  auto session = app.open();
  session.push(given);
  const auto popped = session.pop();
  REQUIRE(popped);
  const result& out = **popped;
  for_each_index(std::make_index_sequence<most - 2>{}, [&]<std::size_t I>() {
    for (std::size_t k = 0; k < extent; ++k) CHECK(out.at<I>()[k] == number(I, k) + number(I + 1, k));
  });
  for (std::size_t k = 0; k < extent; ++k) {
    float sum = 0;
    for (std::size_t port = 0; port < most; ++port) sum += number(port, k);
    CHECK(out.get<"all">()[k] == doctest::Approx(sum));
  }
  const auto& joined = out.get<"joined">();
  static_assert(joined.size() == 100 * extent);
  for (std::size_t i = 0; i < joined.size(); ++i) CHECK(joined[i] == number(i / extent % most, i % extent));
}

}  // namespace
