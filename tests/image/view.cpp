// SPDX-License-Identifier: Apache-2.0
// Views of pictures in foreign memory: where their bytes are, and what is refused.

#include <string>
#include <type_traits>

#include <doctest/doctest.h>

#include <levada/image.hpp>

using namespace levada;

namespace {

using nv12 = image_view<pixel::nv12, 4, 6>;
using yuyv = image_view<pixel::yuyv, 3, 6>;

static_assert(nv12::planes == 2 && nv12::row_bytes(0) == 6 && nv12::row_bytes(1) == 6);
static_assert(nv12::rows(0) == 4 && nv12::rows(1) == 2);
static_assert(yuyv::planes == 1 && yuyv::row_bytes(0) == 12 && yuyv::rows(0) == 3);
static_assert(image_view<pixel::rgb, 1, 1>::row_bytes(0) == 3 && image_view<pixel::bgr, 1, 5>::row_bytes(0) == 15);
static_assert(image_view<pixel::rgba, 1, 5>::row_bytes(0) == 20 && image_view<pixel::gray, 7, 5>::row_bytes(0) == 5);
static_assert(std::is_trivially_copyable_v<nv12>);

constexpr std::uint8_t bytes[64]{};

template <class Make>
std::string refusal(Make make) {
  try {
    static_cast<void>(make());
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

static_assert(image_item<nv12> && image_item<image_buffer<pixel::gray, 1, 1>> && !image_item<tensor<std::uint8_t, 3>>);
static_assert(!image_item<foreign<int>>);
static_assert(
    std::same_as<to_rgb_op<ycbcr_matrix::bt601, ycbcr_range::limited>::output<image_buffer<pixel::nv12, 4, 6>>,
                 tensor<std::uint8_t, 4, 6, 3>>);
static_assert(!op_takes<to_rgb_op<ycbcr_matrix::bt601, ycbcr_range::limited>, tensor<std::uint8_t, 4, 6, 3>>);

}  // namespace

TEST_CASE("a view finds the rows of its planes by their pitches") {
  constexpr nv12 view({bytes, 8}, {bytes + 32, 7});
  static_assert(view.row(0, 0) == bytes && view.row(0, 3) == bytes + 24);
  static_assert(view.row(1, 0) == bytes + 32 && view.row(1, 1) == bytes + 39);
  static_assert(view.plane(1).pitch == 7);
}

TEST_CASE("a plane that is null or whose rows overlap is refused, with its place") {
  CHECK(refusal([] { return nv12({nullptr, 6}, {bytes, 6}); }) == "levada: image_view<nv12, 4, 6>: plane 0 is null");
  CHECK(refusal([] { return nv12({bytes, 6}, {nullptr, 6}); }) == "levada: image_view<nv12, 4, 6>: plane 1 is null");
  CHECK(refusal([] {
          return nv12({bytes, 6}, {bytes, 5});
        }) == "levada: image_view<nv12, 4, 6>: plane 1 has a pitch of 5 bytes, less than its row of 6");
  CHECK(refusal([] {
          return yuyv({bytes, 0});
        }) == "levada: image_view<yuyv, 3, 6>: plane 0 has a pitch of 0 bytes, less than its row of 12");
  CHECK(refusal([] { return yuyv({bytes, 12}); }).empty());
}
