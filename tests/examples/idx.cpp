// SPDX-License-Identifier: Apache-2.0
// The IDX reader of the examples: good files exactly, every other with a sentence.

#include <doctest/doctest.h>

#include <filesystem>
#include <numeric>
#include <string>

#include <zlib.h>
#include "../../examples/common/fashion_mnist.hpp"
#include "../files.hpp"

namespace {

using levada::tensor;
using levada::test::temporary_folder;
namespace fs = std::filesystem;

std::string header(char type, std::initializer_list<unsigned> extents) {
  std::string bytes{'\0', '\0', type, static_cast<char>(extents.size())};
  for (const unsigned extent : extents)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(extent >> shift & 0xff);
  return bytes;
}

void write(const fs::path& path, const std::string& bytes, const char* mode = "wb") {
  const gzFile file = gzopen(path.c_str(), mode);
  REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  REQUIRE(gzclose(file) == Z_OK);
}

template <class F>
std::string error_of(F f) {
  try {
    f();
    return "";
  } catch (const levada::error& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("an IDX file is read the same gzipped and plain, and a grey channel may be unwritten") {
  const temporary_folder folder;
  const fs::path path = folder.path / "f";
  std::string bytes = header(8, {2, 3, 4});
  for (char i = 0; i < 24; ++i) bytes += i;
  for (const char* mode : {"wb", "wbT"}) {
    write(path, bytes, mode);
    const auto pictures = example::read_idx_tensors<tensor<std::uint8_t, 1, 3, 4>>(path);
    REQUIRE(pictures.size() == 2);
    CHECK(pictures[0](0, 1, 2) == 6);
    CHECK(pictures[1](0, 2, 3) == 23);
    CHECK(example::read_idx_tensors<tensor<std::uint8_t, 3, 4>>(path)[1](0, 0) == 12);
  }
}

TEST_CASE("a file that is not exactly IDX is refused with its name and what is wrong") {
  const temporary_folder folder;
  const fs::path path = folder.path / "f";
  const auto refusal = [&](const std::string& bytes) {
    write(path, bytes);
    const std::string message = error_of([&] { (void)example::read_idx(path); });
    return message.starts_with(path.string() + ": ") ? message.substr(path.string().size() + 2) : message;
  };
  CHECK(refusal(header(8, {2}) + "ab") == "");
  CHECK(refusal("") == "is not an IDX file");
  CHECK(refusal("abcdefgh") == "is not an IDX file");
  CHECK(refusal(header(13, {1}) + "abcd") == "holds IDX values of type 13; only bytes (8) are read");
  CHECK(refusal(header(8, {})) == "has no extents");
  CHECK(refusal(header(8, {2, 3}).substr(0, 10)) == "ends within its extents");
  CHECK(refusal(header(8, {3}) + "ab") == "announces 3 values but holds 2");
  CHECK(refusal(header(8, {3}) + "abcd") == "holds more than the 3 values it announces");
  CHECK(refusal(header(8, {65536, 65536})) == "announces more than 1 GiB of values");
  CHECK(refusal(header(8, {0, 4294967295u, 4294967295u})) == "announces more than 1 GiB of values");
  CHECK(error_of([] { (void)example::read_idx("no/such/file"); }) == "no/such/file: cannot be opened for reading");
}

TEST_CASE("a gzip file that is cut or damaged is refused") {
  const temporary_folder folder;
  const fs::path path = folder.path / "f";
  std::string bytes = header(8, {1000});
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(random());
  write(path, bytes);
  const auto size = fs::file_size(path);
  fs::resize_file(path, size - 4);
  CHECK(error_of([&] { (void)example::read_idx(path); }).find("cannot be unpacked") != std::string::npos);
  fs::resize_file(path, size / 2);
  CHECK(error_of([&] { (void)example::read_idx(path); }).find("cannot be unpacked") != std::string::npos);
}

TEST_CASE("pictures of another size than the tensor's are refused") {
  const temporary_folder folder;
  const fs::path path = folder.path / "f";
  write(path, header(8, {1, 2, 3}) + "abcdef");
  CHECK(error_of([&] { (void)example::read_idx_tensors<tensor<std::uint8_t, 1, 3, 2>>(path); }) ==
        path.string() + ": holds 1 x 2 x 3 values, which is not the shape expected");
}

TEST_CASE("a missing data set says which package brings it") {
  const temporary_folder folder;
  const std::string message = error_of([&] { (void)example::fashion_mnist::read(folder.path, "t10k"); });
  CHECK(message.find("apt-get install dataset-fashion-mnist") != std::string::npos);
  CHECK(message.find((folder.path / "t10k-images-idx3-ubyte.gz").string()) == 0);
}

TEST_CASE("Debian's data set has 10,000 pictures, a thousand of each kind") {
  const fs::path folder = example::fashion_mnist::folder("");
  if (!fs::exists(folder)) return;
  const auto test = example::fashion_mnist::read(folder, "t10k");
  CHECK(test.pictures.size() == 10'000);
  for (std::uint8_t label = 0; label < 10; ++label)
    CHECK(std::count(test.labels.begin(), test.labels.end(), label) == 1'000);
}
