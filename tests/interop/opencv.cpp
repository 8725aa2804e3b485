// SPDX-License-Identifier: Apache-2.0
// Pictures of OpenCV and of levada over the same memory; OpenCV's colours beside ours.

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <doctest/doctest.h>
#include <opencv2/imgproc.hpp>

#include <levada/interop/opencv.hpp>
#include <levada/levada.hpp>

#include "image/picture.hpp"

namespace interop_opencv {

using namespace levada;
using namespace levada::testing;

template <class Format, std::size_t Height, std::size_t Width>
std::unique_ptr<tensor<std::uint8_t, Height, Width, 3>> converted(const image_view<Format, Height, Width>& view) {
  auto app = deploy<target<cpu<1>>>(input<image_view<Format, Height, Width>> | image::to_rgb<>);
  return std::make_unique<tensor<std::uint8_t, Height, Width, 3>>(app(view));
}

int largest_difference(const cv::Mat& a, const cv::Mat& b) {
  REQUIRE(a.size() == b.size());
  REQUIRE(a.type() == b.type());
  int largest = 0;
  for (int y = 0; y < a.rows; ++y)
    for (int i = 0; i < a.cols * a.channels(); ++i) largest = std::max(largest, std::abs(a.ptr(y)[i] - b.ptr(y)[i]));
  return largest;
}

TEST_CASE("a cv::Mat and the rectangle of a larger one are views of the same memory") {
  cv::Mat large(20, 30, CV_8UC3);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 90; ++x) large.ptr(y)[x] = static_cast<std::uint8_t>(y * 90 + x);
  const auto whole = as_image_view<pixel::bgr, 20, 30>(large);
  CHECK(whole.row(0, 7) == large.ptr(7));
  const cv::Mat part = large(cv::Rect(3, 5, 10, 8));
  const auto rectangle = as_image_view<pixel::bgr, 8, 10>(part);
  CHECK(rectangle.row(0, 2) == large.ptr(7) + 9);
  CHECK(rectangle.plane(0).pitch == 90);

  const cv::Mat back = as_mat(rectangle);
  CHECK(back.data == part.data);
  CHECK(back.type() == CV_8UC3);
  CHECK(back.size() == part.size());
  CHECK(back.step[0] == 90);
}

TEST_CASE("a cv::Mat of another size or type is refused") {
  CHECK_THROWS_WITH_AS((as_image_view<pixel::bgr, 4, 5>(cv::Mat(4, 6, CV_8UC3))),
                       "levada: as_image_view<bgr, 4, 5>: the cv::Mat has 4 rows, 6 columns, 3 channels of depth 0",
                       error);
  CHECK_THROWS_AS((as_image_view<pixel::gray, 4, 6>(cv::Mat(4, 6, CV_8UC3))), error);
  CHECK_THROWS_AS((as_image_view<pixel::gray, 4, 6>(cv::Mat(4, 6, CV_32FC1))), error);
  CHECK_THROWS_AS((as_image_view<pixel::gray, 4, 6>(cv::Mat())), error);
  CHECK_THROWS_AS((as_image_buffer<pixel::gray, 4, 6>(cv::Mat())), error);
}

TEST_CASE("yuyv and nv12 go over to OpenCV and back") {
  const picture_memory<image_view<pixel::yuyv, 4, 6>> packed(3);
  const auto yuyv = as_image_view<pixel::yuyv, 4, 6>(as_mat(packed.view()));
  CHECK(yuyv.row(0, 3) == packed.view().row(0, 3));
  CHECK(yuyv.plane(0).pitch == packed.view().plane(0).pitch);
  CHECK_THROWS_AS((as_image_view<pixel::yuyv, 4, 6>(cv::Mat(4, 3, CV_8UC4))), error);

  const picture_memory<image_view<pixel::nv12, 4, 6>> planes(3);
  const auto nv12 = as_image_view<pixel::nv12, 4, 6>(as_mat<0>(planes.view()), as_mat<1>(planes.view()));
  for (const std::size_t p : {0u, 1u}) {
    CHECK(nv12.row(p, 1) == planes.view().row(p, 1));
    CHECK(nv12.plane(p).pitch == planes.view().plane(p).pitch);
  }
  CHECK_THROWS_WITH_AS((as_image_view<pixel::nv12, 4, 6>(cv::Mat(4, 6, CV_8UC1), cv::Mat(4, 6, CV_8UC2))),
                       "levada: as_image_view<nv12, 4, 6>: the cv::Mat of the second plane has 4 rows, 6 columns, 2 "
                       "channels of depth 0",
                       error);
}

TEST_CASE("a buffer of two planes keeps the memory of both") {
  // As decoders give it: the chroma below the luma.
  cv::Mat whole(6, 6, CV_8UC1, cv::Scalar(128));
  auto buffer = as_image_buffer<pixel::nv12, 4, 6>(whole.rowRange(0, 4), whole.rowRange(4, 6).reshape(2));
  CHECK(whole.u->refcount == 3);
  CHECK(buffer->row(1, 1) == whole.ptr(5));
  auto app = deploy<target<cpu<1>>>(input<image_buffer<pixel::nv12, 4, 6>> | image::to_rgb<>);
  auto session = app.open();
  session.push(std::move(buffer));
  CHECK(session.pop()->value()(3, 5, 2) == 130);  // 1.164 times 112
  CHECK(whole.u->refcount == 1);
}

TEST_CASE("a buffer made of a cv::Mat keeps its memory, and gives it back in a pipeline") {
  cv::Mat mat(4, 6, CV_8UC1, cv::Scalar(9));
  const std::uint8_t* const bytes = mat.data;
  auto buffer = as_image_buffer<pixel::gray, 4, 6>(mat);
  CHECK(mat.u->refcount == 2);
  CHECK(buffer->row(0, 0) == bytes);
  auto app = deploy<target<cpu<1>>>(input<image_buffer<pixel::gray, 4, 6>> | image::to_rgb<>);
  auto session = app.open();
  session.push(std::move(buffer));
  CHECK(session.pop()->value()(3, 5, 2) == 9);
  CHECK(mat.u->refcount == 1);
}

TEST_CASE("tensors of bytes are cv::Mats over the same memory") {
  tensor<std::uint8_t, 4, 5, 3> picture{};
  cv::Mat mat = as_mat(picture);
  mat.at<cv::Vec3b>(2, 3)[1] = 77;
  CHECK(picture(2, 3, 1) == 77);
  const auto& constant = picture;
  CHECK(as_mat(constant).data == picture.data());
}

TEST_CASE("colours are those of OpenCV, within one level") {
  // OpenCV takes luma below black for black before it adds the chroma, the standards do not: none is shown here.
  const auto from_black = [](std::vector<std::uint8_t>& bytes, std::size_t step) {
    for (std::size_t i = 0; i < bytes.size(); i += step) bytes[i] = std::max<std::uint8_t>(bytes[i], 16);
  };
  cv::Mat expected;
  {
    picture_memory<image_view<pixel::nv12, 48, 64>> memory(13);
    from_black(memory.plane(0), 1);
    const auto view = memory.view();
    cv::cvtColorTwoPlane(as_mat<0>(view), as_mat<1>(view), expected, cv::COLOR_YUV2RGB_NV12);
    auto computed = converted(view);
    CHECK(largest_difference(as_mat(*computed), expected) <= 1);
  }
  {
    picture_memory<image_view<pixel::yuyv, 48, 64>> memory(12);
    from_black(memory.plane(0), 2);
    cv::cvtColor(as_mat(memory.view()), expected, cv::COLOR_YUV2RGB_YUYV);
    auto computed = converted(memory.view());
    CHECK(largest_difference(as_mat(*computed), expected) <= 1);
  }
}

TEST_CASE("bgr, rgba and gray are turned as OpenCV turns them") {
  cv::Mat expected;
  const auto check = [&]<class View>(const picture_memory<View>& memory, int code) {
    cv::cvtColor(as_mat(memory.view()), expected, code);
    auto computed = converted(memory.view());
    CHECK(largest_difference(as_mat(*computed), expected) == 0);
  };
  check(picture_memory<image_view<pixel::bgr, 31, 37>>(5), cv::COLOR_BGR2RGB);
  check(picture_memory<image_view<pixel::rgba, 31, 37>>(5), cv::COLOR_RGBA2RGB);
  check(picture_memory<image_view<pixel::gray, 31, 37>>(5), cv::COLOR_GRAY2RGB);
}

}  // namespace interop_opencv
