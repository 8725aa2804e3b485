// SPDX-License-Identifier: Apache-2.0
#pragma once
// common/idx.hpp: the file format of MNIST and Fashion-MNIST, gzipped or plain: two zero bytes, a type byte (8: bytes),
// the rank, big-endian extents, then the values. Anything else is a levada::error that names the file.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <zlib.h>
#include <levada/core/error.hpp>
#include <levada/core/tensor.hpp>

namespace example {

/// The bytes of one IDX file and their extents, outermost first.
struct idx {
  std::vector<std::size_t> extents;
  std::vector<std::uint8_t> values;
};

inline idx read_idx(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& what) { throw levada::error(path.string() + ": " + what); };
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail("cannot be opened for reading");
  const auto read = [&](void* to, std::size_t size) {
    const int count = gzread(file.get(), to, static_cast<unsigned>(size));
    int code = Z_OK;
    const char* const message = gzerror(file.get(), &code);
    if (count < 0 || (code != Z_OK && code != Z_STREAM_END)) fail(std::string("cannot be unpacked: ") + message);
    return static_cast<std::size_t>(count);
  };

  std::array<std::uint8_t, 4> magic{};
  if (read(magic.data(), magic.size()) != magic.size() || magic[0] != 0 || magic[1] != 0) fail("is not an IDX file");
  if (magic[2] != 8) fail("holds IDX values of type " + std::to_string(magic[2]) + "; only bytes (8) are read");
  if (magic[3] == 0) fail("has no extents");

  idx result;
  constexpr std::size_t largest = 1 << 30;
  std::size_t size = 1;
  for (unsigned axis = 0; axis < magic[3]; ++axis) {
    std::array<std::uint8_t, 4> big_endian{};
    if (read(big_endian.data(), big_endian.size()) != big_endian.size()) fail("ends within its extents");
    std::size_t extent = 0;
    for (const std::uint8_t byte : big_endian) extent = extent << 8 | byte;
    if (extent > largest / std::max<std::size_t>(size, 1)) fail("announces more than 1 GiB of values");
    size *= extent;
    result.extents.push_back(extent);
  }
  result.values.resize(size);
  if (const std::size_t count = read(result.values.data(), size); count != size)
    fail("announces " + std::to_string(size) + " values but holds " + std::to_string(count));
  if (char more = 0; read(&more, 1) != 0) fail("holds more than the " + std::to_string(size) + " values it announces");
  return result;
}

/// The tensors of one IDX file: N, Dims... or, as the channel of a grey picture is not written, N and all but the first
/// of Dims where that is 1.
template <class Tensor>
std::vector<Tensor> read_idx_tensors(const std::filesystem::path& path) {
  static_assert(levada::element_of<typename Tensor::value_type> == levada::element::u8, "IDX is read as bytes");
  const idx file = read_idx(path);
  const auto same = [&](std::size_t skipped) {
    return std::equal(file.extents.begin() + 1, file.extents.end(), Tensor::extents.begin() + skipped,
                      Tensor::extents.end());
  };
  if (!same(0) && !(Tensor::rank > 0 && Tensor::extents[0] == 1 && same(1))) {
    std::string extents;
    for (const std::size_t extent : file.extents) extents += (extents.empty() ? "" : " x ") + std::to_string(extent);
    throw levada::error(path.string() + ": holds " + extents + " values, which is not the shape expected");
  }
  std::vector<Tensor> tensors(file.extents[0]);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    std::copy_n(file.values.begin() + static_cast<std::ptrdiff_t>(i * Tensor::elements), Tensor::elements,
                tensors[i].begin());
  return tensors;
}

}  // namespace example
