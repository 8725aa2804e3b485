// SPDX-License-Identifier: Apache-2.0
// What items on a Vulkan device take from the heap of the program: nothing. Drivers allocate by themselves, with
// malloc.

#include <doctest/doctest.h>

#include <levada/backend/spirv.hpp>

#include <support/counting.hpp>

#include "device.hpp"

using namespace spirv_test;

namespace {

constexpr auto step = [by = lv::uniform{0.5f}](auto x) { return x * by + 1.0f; };

std::uint64_t news_in_the_second_half() {
  using item = lv::tensor<float, 100>;
  const auto app =
      lv::deploy<box, lv::slots<8>>(lv::input<item> | there(lv::transform<"a">(step)) |
                                    lv::stage<"b">([](item& i) { i[0] += 1.0f; }) | there(lv::transform<"c">(step)));
  const std::vector<item> items(4'000);
  std::uint64_t before = 0;
  std::size_t results = 0;
  for (const auto& r : app.stream(items)) {
    CHECK(r.has_value());
    if (++results == items.size() / 2) before = allocations_now().news;
    if (results == items.size()) return allocations_now().news - before;
  }
  return ~std::uint64_t{0};
}

}  // namespace

TEST_CASE("items on a device do not allocate, whether copied or used in place") {
  LEVADA_NEEDS_DEVICE();
  CHECK(news_in_the_second_half() < 20);
  const device_settings<0> as(with_own_submissions());
  CHECK(news_in_the_second_half() < 20);
}
