// SPDX-License-Identifier: Apache-2.0
// Pictures in foreign memory on a Vulkan device: the colours of `reference`, and each buffer given back once.

#include <atomic>

#include <levada/backend/spirv/detail/to_rgb.hpp>
#include <levada/image.hpp>

#include "device.hpp"
#include "direct.hpp"
#include "image/picture.hpp"

namespace spirv_colours {

using namespace spirv_test;

template <class Format, class Op = lv::to_rgb_op<lv::ycbcr_matrix::bt601, lv::ycbcr_range::limited>>
void check_colours(std::size_t padding) {
  using view = lv::image_view<Format, 6, 34>;
  const lv::testing::picture_memory<view> memory(padding);
  CAPTURE(Format::name);
  check_on_device(memory.view(), 0, {}, Op());
}

using view = lv::image_view<lv::pixel::nv12, 4, 8>;
using frame = lv::image_buffer<lv::pixel::nv12, 4, 8>;

std::atomic<int> returned{0};
void take_back(void*, const view&) noexcept { ++returned; }

TEST_CASE("every pixel format, with and without padding behind its rows") {
  LEVADA_NEEDS_DEVICE();
  check_colours<lv::pixel::nv12>(7);
  check_colours<lv::pixel::yuyv>(0);
  check_colours<lv::pixel::bgr>(3);
  check_colours<lv::pixel::rgb>(1);
  check_colours<lv::pixel::rgba>(5);
  check_colours<lv::pixel::gray>(30);
  check_colours<lv::pixel::nv12, lv::to_rgb_op<lv::ycbcr_matrix::bt709, lv::ycbcr_range::full>>(0);
}

TEST_CASE("buffers are given back once the device has them, and one that was given back before fails alone") {
  LEVADA_NEEDS_DEVICE();
  const lv::testing::picture_memory<view> memory(5);
  returned = 0;
  constexpr int count = 60;
  const auto app = lv::deploy<box, lv::slots<8>>(lv::input<frame> | there(lv::image::to_rgb<>));
  const lv::reference_kernel<view, lv::to_rgb_op<lv::ycbcr_matrix::bt601, lv::ycbcr_range::limited>> kernel(
      {}, lv::parameter_values({}));
  lv::tensor<std::uint8_t, 4, 8, 3> expected;
  kernel(memory.view(), expected, nullptr);
  int failed = 0, same = 0;
  {
    auto session = app.open();
    const auto pop = [&] {
      const auto r = session.pop();
      REQUIRE(r.has_value());
      if (r->has_value())
        same += same_bits(**r, expected);
      else
        ++failed;
    };
    for (int i = 0; i < count; ++i) {
      frame f(memory.view(), &take_back, nullptr);
      if (i % 10 == 3) f.give_back();
      session.push(std::move(f));
      if (i >= 6) pop();
    }
    for (int i = 0; i < 6; ++i) pop();
    CHECK(returned == count);
  }
  CHECK(returned == count);
  CHECK(failed == count / 10);
  CHECK(same == count - count / 10);
}

}  // namespace spirv_colours
