// SPDX-License-Identifier: Apache-2.0
// A pipeline for each part of an item: what it gives, its memory, overflow, failures, state.

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <levada/levada.hpp>

#include "items.hpp"

namespace lv = levada;

namespace {

using box = lv::target<lv::cpu<2>>;
using numbers = lv::bounded<float, 100>;

numbers counting_to(std::size_t n) {
  numbers item;
  for (std::size_t i = 0; i < n; ++i) item.push_back(static_cast<float>(i));
  return item;
}

}  // namespace

TEST_CASE("each part goes through the pipeline, and the results are collected in order") {
  const auto app = lv::deploy<box>(
      lv::input<numbers> |
      lv::for_each<64>(lv::stage<"twice">([](const float& x) { return 2 * x; }) |
                       lv::stage<"text">([](const float& x) { return std::to_string(static_cast<int>(x)); })) |
      lv::collect | lv::stage<"join">([](const lv::bounded<std::string, 64>& texts) {
        std::string all;
        for (const std::string& t : texts) all += t + " ";
        return all;
      }));
  CHECK(app(counting_to(0)) == "");
  CHECK(app(counting_to(4)) == "0 2 4 6 ");
}
