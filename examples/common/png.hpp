// SPDX-License-Identifier: Apache-2.0
#pragma once
// common/png.hpp: PNG files to and from tensors of bytes: height, width, channels (3: RGB).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "run.hpp"

#include <png.h>
#include <levada/core/error.hpp>
#include <levada/core/tensor.hpp>

namespace example {

namespace detail {

/// libpng's simplified interface, freed at the end of its scope.
struct png_image_scope : png_image {
  png_image_scope() : png_image{} { version = PNG_IMAGE_VERSION; }
  png_image_scope(const png_image_scope&) = delete;
  ~png_image_scope() { png_image_free(this); }
};

}  // namespace detail

/// Reads an RGB picture of exactly the tensor's size. Transparency is laid over black; other colours become RGB.
template <std::size_t Height, std::size_t Width>
void read_png(const std::filesystem::path& path, levada::tensor<std::uint8_t, Height, Width, 3>& picture) {
  const auto fail = [&](const std::string& what) { throw levada::error(path.string() + ": " + what); };
  detail::png_image_scope image;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) fail(image.message);
  if (image.height != Height || image.width != Width)
    fail("is " + std::to_string(image.width) + " x " + std::to_string(image.height) + " pixels, not the " +
         std::to_string(Width) + " x " + std::to_string(Height) + " that the pipeline was compiled for");
  image.format = PNG_FORMAT_RGB;
  const png_color black{0, 0, 0};
  if (png_image_finish_read(&image, &black, picture.data(), 0, nullptr) == 0) fail(image.message);
}

/// One of the photographs of python3-skimage, which the program has another one for by --picture.
template <class Picture>
std::unique_ptr<Picture> read_photograph(const std::filesystem::path& path) {
  constexpr auto size = Picture::extents;
  if (!std::filesystem::exists(path))
    throw missing_data(path.string() +
                       " is not there. The photograph is in Debian's package python3-skimage:\n"
                       "  apt-get install --no-install-recommends python3-skimage\n"
                       "or name any PNG of " +
                       std::to_string(size[1]) + " x " + std::to_string(size[0]) + " pixels with --picture.");
  auto picture = std::make_unique<Picture>();
  read_png(path, *picture);
  return picture;
}

/// Writes an RGB picture.
template <std::size_t Height, std::size_t Width>
void write_png(const std::filesystem::path& path, const levada::tensor<std::uint8_t, Height, Width, 3>& picture) {
  detail::png_image_scope image;
  image.height = Height;
  image.width = Width;
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, path.c_str(), 0, picture.data(), 0, nullptr) == 0)
    throw levada::error(path.string() + ": " + image.message);
}

}  // namespace example
