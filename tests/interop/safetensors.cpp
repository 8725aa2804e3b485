// SPDX-License-Identifier: Apache-2.0
// The safetensors reader: good files are read exactly; everything else is refused with a sentence of its own.

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <levada/interop/safetensors.hpp>
#include <nlohmann/json.hpp>

#include <files.hpp>

#include "../fuzz/mutate.hpp"
#include "../fuzz/safetensors_property.hpp"

namespace interop_safetensors {

namespace lv = levada;

static_assert(lv::parameter_source<lv::safetensors>);
static_assert(std::is_nothrow_move_constructible_v<lv::safetensors> && !std::is_copy_constructible_v<lv::safetensors>);

using bytes = std::vector<std::byte>;

bytes file_of(const std::string& header, const std::string& data, std::uint64_t announced) {
  bytes file(sizeof announced + header.size() + data.size());
  std::memcpy(file.data(), &announced, sizeof announced);
  std::memcpy(file.data() + sizeof announced, header.data(), header.size());
  std::memcpy(file.data() + sizeof announced + header.size(), data.data(), data.size());
  return file;
}
bytes file_of(const std::string& header, const std::string& data = {}) { return file_of(header, data, header.size()); }

template <class... T>
std::string raw(T... values) {
  std::string data;
  ((data.append(reinterpret_cast<const char*>(&values), sizeof values)), ...);
  return data;
}

/// The message of the error that a file is refused with, "" when it is accepted.
std::string refusal(const bytes& file) {
  try {
    (void)lv::safetensors::from_bytes(file, "f");
    return "";
  } catch (const lv::error& e) {
    return e.what();
  }
}
std::string refusal(const std::string& header, const std::string& data = {}) { return refusal(file_of(header, data)); }

template <class T>
std::vector<T> values_of(const lv::stored_tensor& tensor) {
  std::vector<T> values(tensor.extents.elements());
  std::memcpy(values.data(), tensor.data, values.size() * sizeof(T));
  return values;
}

const std::filesystem::path weights_file = LEVADA_SOURCE_DIR "/examples/fashion_mnist/weights.safetensors";

bytes contents(const std::filesystem::path& path) {
  const std::string text = levada::test::contents_of(path);
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

/// A file with that in it.
struct written_file : levada::test::temporary_file {
  explicit written_file(const bytes& content) : temporary_file("written.safetensors") {
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(content.data()), std::ssize(content));
  }
};

// Every feature of the format: types, ranks 0 to 8, an empty tensor, metadata, escapes, spaces, data not in
// the order of names.
const std::string rich_header = R"({ "__metadata__" : {"format":"pt","\u00fc\n":"\ud83d\ude00 \"x\""},
    "scalar":{"dtype":"F64","shape":[],"data_offsets":[8,16]},
    "b":{"data_offsets":[0,8],"shape":[2,1],"dtype":"F32"},
    "none":{"dtype":"I64","shape":[3,0],"data_offsets":[16,16]},
    "mask":{"dtype":"BOOL","shape":[1,1,1,1,1,1,1,3],"data_offsets":[16,19]},
    "h\u00e4lf":{"dtype":"F16","shape":[2],"data_offsets":[19,23]} }   )";
const std::string rich_data =
    raw(1.5f, -2.0f) + raw(0.1) + std::string("\1\0\1", 3) + raw(lv::half(0.5f).bits, lv::half(-4.0f).bits);

TEST_CASE("a file with every feature of the format is read exactly") {
  const bytes file = file_of(rich_header, rich_data);
  const auto source = lv::safetensors::from_bytes(file);
  CHECK(source.names() == std::vector<std::string_view>{"b", "h\u00e4lf", "mask", "none", "scalar"});
  CHECK(source.metadata().size() == 2);
  CHECK(source.metadata().at("format") == "pt");
  CHECK(source.metadata().at("\u00fc\n") == "\U0001F600 \"x\"");

  CHECK(source.find("b")->type == lv::element::f32);
  CHECK(source.find("b")->extents == lv::shape(2, 1));
  CHECK(values_of<float>(*source.find("b")) == std::vector{1.5f, -2.0f});
  CHECK(source.find("scalar")->extents == lv::shape());
  CHECK(values_of<double>(*source.find("scalar")) == std::vector{0.1});
  CHECK(source.find("none")->extents == lv::shape(3, 0));
  CHECK(source.find("mask")->extents == lv::shape(1, 1, 1, 1, 1, 1, 1, 3));
  CHECK(values_of<std::uint8_t>(*source.find("mask")) == std::vector<std::uint8_t>{1, 0, 1});
  CHECK(source.find("h\u00e4lf")->type == lv::element::f16);
  CHECK(values_of<lv::half>(*source.find("h\u00e4lf")) == std::vector{lv::half(0.5f), lv::half(-4.0f)});
  CHECK_FALSE(source.find("c").has_value());
  CHECK_FALSE(source.find("").has_value());
  CHECK_FALSE(source.find("__metadata__").has_value());
}

TEST_CASE("every element type of the format has its size and its levada type") {
  const std::pair<const char*, lv::element> types[] = {
      {"F16", lv::element::f16},     {"BF16", lv::element::bf16}, {"F32", lv::element::f32}, {"F64", lv::element::f64},
      {"U8", lv::element::u8},       {"I8", lv::element::i8},     {"U16", lv::element::u16}, {"I16", lv::element::i16},
      {"U32", lv::element::u32},     {"I32", lv::element::i32},   {"U64", lv::element::u64}, {"I64", lv::element::i64},
      {"BOOL", lv::element::boolean}};
  for (const auto& [name, type] : types) {
    const std::size_t size = 3 * lv::size_of(type);
    const std::string header =
        std::string(R"({"t":{"dtype":")") + name + R"(","shape":[3],"data_offsets":[0,)" + std::to_string(size) + "]}}";
    const bytes file = file_of(header, std::string(size, '\1'));
    CHECK(lv::safetensors::from_bytes(file).find("t")->type == type);
    CHECK(refusal(header, std::string(size - 1, '\1')) != "");
  }
}

TEST_CASE("a file without tensors is a file") {
  CHECK(refusal("{}") == "");
  CHECK(refusal("{}    ") == "");
  CHECK(refusal(R"({"__metadata__":{}})") == "");
}

TEST_CASE("a file from disk stays valid when its object moves, and when the file is gone") {
  std::optional<lv::safetensors> moved;
  {
    const written_file file(file_of(rich_header, rich_data));
    lv::safetensors source(file.path);
    moved.emplace(std::move(source));
  }
  CHECK(values_of<float>(*moved->find("b")) == std::vector{1.5f, -2.0f});
  CHECK(moved->names().size() == 5);
}

TEST_CASE("a file that cannot be read is refused by name") {
  const auto refused = [](const std::filesystem::path& path) -> std::string {
    try {
      lv::safetensors{path};
    } catch (const lv::error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(refused("no/such/file.safetensors") == "no/such/file.safetensors: No such file or directory");
  CHECK(refused("/") == "/: Is a directory");
  const levada::test::temporary_file fifo("fifo");
  REQUIRE(::mkfifo(fifo.path.c_str(), 0600) == 0);
  CHECK(refused(fifo.path) == fifo.path + ": is no regular file");
  const written_file empty(bytes{});
  CHECK(refused(empty.path) == empty.path + ": is only 0 bytes long, too short for a safetensors file");
}

TEST_CASE("of a file of a terabyte the header is looked at first, and then what is named") {
  constexpr std::uintmax_t terabyte = std::uintmax_t{1} << 40;
  const auto read = [](const std::string& path) -> std::string {
    try {
      (void)lv::safetensors{path};
      return "";
    } catch (const lv::error& e) {
      return e.what();
    }
  };
  const written_file empty(bytes(8));
  std::filesystem::resize_file(empty.path, terabyte);
  CHECK(read(empty.path) == empty.path + ": its header does not start with '{'");
  const written_file small(file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", raw(1.5f, -2.0f)));
  std::filesystem::resize_file(small.path, terabyte);
  CHECK(read(small.path).ends_with(" bytes at its end belong to no tensor"));

  const std::uintmax_t large = terabyte - 4096;
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
      "mask":{"dtype":"BOOL","shape":[2],"data_offsets":[8,10]},
      "large":{"dtype":"U8","shape":[)" +
                             std::to_string(large) + R"(],"data_offsets":[10,)" + std::to_string(10 + large) + "]}}";
  const written_file file(file_of(header, raw(1.5f, -2.0f) + std::string("\0\2", 2)));
  std::filesystem::resize_file(file.path, 8 + header.size() + 10 + large);
  const lv::safetensors source(file.path);
  CHECK(source.names() == std::vector<std::string_view>{"a", "large", "mask"});
  CHECK(values_of<float>(*source.find("a")) == std::vector{1.5f, -2.0f});
  const std::optional<lv::stored_tensor> held = source.find("a");
  CHECK(held->owner.use_count() == 1);  // the source keeps nothing of it
  CHECK(source.find("a")->data != held->data);
  CHECK_THROWS_WITH_AS((void)source.find("mask"),
                       (file.path + ": tensor \"mask\": contains a BOOL that is neither 0 nor 1").c_str(), lv::error);
  CHECK_THROWS_WITH_AS(
      (void)source.find("large"),
      (file.path + ": tensor \"large\": there is no memory for its " + std::to_string(large) + " bytes").c_str(),
      lv::error);
}

TEST_CASE("a file that loses its end while it is read is an error that names the tensor") {
  const written_file file(file_of(rich_header, rich_data));
  const lv::safetensors source(file.path);
  CHECK(values_of<float>(*source.find("b")) == std::vector{1.5f, -2.0f});
  const std::optional<lv::stored_tensor> held = source.find("scalar");
  std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) - 10);
  CHECK(values_of<double>(*held) == std::vector{0.1});
  CHECK(values_of<float>(*source.find("b")) == std::vector{1.5f, -2.0f});
  CHECK_THROWS_WITH_AS((void)source.find("scalar"),
                       (file.path + ": tensor \"scalar\": cannot be read to its end").c_str(), lv::error);
}

TEST_CASE("a header size that cannot be is refused before anything is allocated for it") {
  CHECK(refusal(bytes(7)) == "f: is only 7 bytes long, too short for a safetensors file");
  CHECK(refusal(bytes(8)) == "f: its header does not start with '{'");
  CHECK(refusal(file_of("{}", "", 3)) == "f: announces a header of 3 bytes but has only 2 left");
  CHECK(refusal(file_of("{}", "", 100'000'001)) ==
        "f: announces a header of 100000001 bytes; at most 100000000 are accepted");
  CHECK(refusal(file_of("{}", "", ~std::uint64_t{0})) ==
        "f: announces a header of 18446744073709551615 bytes; at most 100000000 are accepted");
}

TEST_CASE("a header that is not the JSON of the format is refused with the place") {
  const auto place = [](const std::string& header) { return refusal(header, std::string(4, '\0')); };
  CHECK(place(" {}") == "f: its header does not start with '{'");
  CHECK(place("{") == "f: header byte 1: expected '\"'");
  CHECK(place("{}x") == "f: header byte 2: there is text after the header's end");
  CHECK(place("{} {}") == "f: header byte 3: there is text after the header's end");
  CHECK(place(R"({"a")") == "f: header byte 4: expected ':'");
  CHECK(place(R"({"a)") == "f: header byte 3: a string does not end");
  CHECK(place(R"({"a":)") == "f: header byte 5: expected '{'");
  CHECK(place(R"({"a":1})") == "f: header byte 5: expected '{'");
  CHECK(place(R"({"a":null})") == "f: header byte 5: expected '{'");
  CHECK(place(R"({"a":{"dtype":1}})") == "f: header byte 14: expected '\"'");
  CHECK(place(R"({"a":{"shape":4}})") == "f: header byte 14: expected '['");
  CHECK(place(R"({"a":{"shape":[1,]}})") == "f: header byte 17: expected a whole number, not negative");
  CHECK(place(R"({"a":{"shape":[-1]}})") == "f: header byte 15: expected a whole number, not negative");
  CHECK(place(R"({"a":{"shape":[1.0]}})") == "f: header byte 16: expected ']'");
  CHECK(place(R"({"a":{"shape":[1e2]}})") == "f: header byte 16: expected ']'");
  CHECK(place(R"({"a":{"shape":[01]}})") == "f: header byte 16: a number starts with 0");
  CHECK(place(R"({"a":{"shape":[18446744073709551616]}})") == "f: header byte 34: a number is out of range");
  CHECK(place(R"({"a":{"shape":[1)") == "f: header byte 16: expected ']'");
  CHECK(place(R"({"__metadata__":{"a":1}})") == "f: header byte 21: expected '\"'");
  CHECK(place(R"({"__metadata__":"a"})") == "f: header byte 16: expected '{'");
  CHECK(place(R"({"__metadata__":{},})") == "f: header byte 19: expected '\"'");
}

TEST_CASE("a name that is not text is refused") {
  const auto named = [](const std::string& name) { return refusal("{\"__metadata__\":{\"" + name + "\":\"\"}}"); };
  CHECK(named(R"(\"\\\/\b\f\n\r\t\u0041\u0000)") == "");
  CHECK(named("\u00e9\u20ac\U0001F600") == "");
  for (const std::string bad : {"\xff", "\x80", "\xc0\xaf", "\xc1\xbf", "\xc3", "\xe0\x80\xaf", "\xe0\x9f\xbf",
                                "\xed\xa0\x80", "\xe2\x82", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"})
    CHECK_MESSAGE(named(bad) == "f: header byte 18: a string is not UTF-8", bad.size());
  CHECK(named("\n") == "f: header byte 18: a string contains a control character");
  CHECK(named(std::string(1, '\0')) == "f: header byte 18: a string contains a control character");
  CHECK(named(R"(\x)") == "f: header byte 20: unknown escape in a string");
  CHECK(named(R"(\u12g4)") == "f: header byte 22: expected four hexadecimal digits");
  CHECK(named(R"(\ud800)") == "f: header byte 24: half of a surrogate pair is missing");
  CHECK(named(R"(\ud800\u0041)") == "f: header byte 30: half of a surrogate pair is missing");
  CHECK(named(R"(\udc00)") == "f: header byte 24: half of a surrogate pair is missing");
}

TEST_CASE("what occurs twice is refused") {
  const std::string t = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  CHECK(refusal(R"({"a":)" + t + R"(,"a":)" + t + "}") == "f: header byte 56: the name \"a\" occurs twice");
  CHECK(refusal(R"({"a":)" + t + R"(,"\u0061":)" + t + "}") == "f: header byte 61: the name \"a\" occurs twice");
  CHECK(refusal(R"({"__metadata__":{},"__metadata__":{}})") ==
        "f: header byte 33: the name \"__metadata__\" occurs twice");
  CHECK(refusal(R"({"__metadata__":{"k":"1","k":"1"}})") == "f: header byte 28: the name \"k\" occurs twice");
  CHECK(refusal(R"({"a":{"dtype":"U8","dtype":"U8"}})") == "f: header byte 26: the name \"dtype\" occurs twice");
}

TEST_CASE("a tensor whose description is wrong is refused by its name") {
  const auto tensor = [](const std::string& fields, std::size_t data = 4) {
    return refusal("{\"w\":{" + fields + "}}", std::string(data, '\0'));
  };
  CHECK(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])") == "");
  CHECK(tensor(R"("shape":[1],"data_offsets":[0,4])") == "f: tensor \"w\": has no dtype");
  CHECK(tensor(R"("dtype":"F32","data_offsets":[0,4])") == "f: tensor \"w\": has no shape");
  CHECK(tensor(R"("dtype":"F32","shape":[1])") == "f: tensor \"w\": has no data_offsets");
  CHECK(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1)") ==
        "f: tensor \"w\": has the unknown field \"x\"");
  CHECK(tensor(R"("dtype":"BF16","shape":[2],"data_offsets":[0,4])") == "");
  CHECK(tensor(R"("dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4])") ==
        "f: tensor \"w\": is of type \"F8_E4M3\", which is not supported");
  CHECK(tensor(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])") ==
        "f: tensor \"w\": is of type \"f32\", which is not supported");
  CHECK(tensor(R"("dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4])") ==
        "f: tensor \"w\": has 9 dimensions; at most 8 are supported");
  CHECK(tensor(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,4])") ==
        "f: tensor \"w\": its size in bytes is out of range");
  CHECK(tensor(R"("dtype":"F32","shape":[4294967296,4294967297],"data_offsets":[0,4])") ==
        "f: tensor \"w\": its size in bytes is out of range");
  CHECK(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[])") ==
        "f: tensor \"w\": its data_offsets are not two numbers");
  CHECK(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,2,4])") ==
        "f: tensor \"w\": its data_offsets are not two numbers");
  CHECK(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])") ==
        "f: tensor \"w\": data_offsets [4, 0] end before they begin");
  CHECK(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[1,5])") ==
        "f: tensor \"w\": data_offsets [1, 5] lie outside the 4 bytes of data that the file has");
  CHECK(
      tensor(R"("dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,18446744073709551615])") ==
      "f: tensor \"w\": data_offsets [18446744073709551612, 18446744073709551615] lie outside the 4 bytes of data that "
      "the file has");
  CHECK(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])") ==
        "f: tensor \"w\": data_offsets [0, 4] do not hold the 8 bytes that its shape and type need");
  CHECK(tensor(R"("dtype":"F64","shape":[],"data_offsets":[0,4])") ==
        "f: tensor \"w\": data_offsets [0, 4] do not hold the 8 bytes that its shape and type need");
  CHECK(refusal(R"({"w":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", std::string("\1\2")) ==
        "f: tensor \"w\": contains a BOOL that is neither 0 nor 1");
  CHECK(refusal("{\"" + std::string(100, 'n') + R"(\n":{}})") ==
        "f: tensor \"" + std::string(80, 'n') + "...\": has no dtype");
  CHECK(refusal(R"({"a\nb":{}})") == "f: tensor \"a?b\": has no dtype");
}

TEST_CASE("data that overlaps, has holes or is left over is refused") {
  const auto two = [](const std::string& a, const std::string& b, std::size_t data) {
    return refusal(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + a +
                       R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + b + "}}",
                   std::string(data, '\0'));
  };
  CHECK(two("[0,2]", "[2,4]", 4) == "");
  CHECK(two("[2,4]", "[0,2]", 4) == "");
  CHECK(two("[0,2]", "[1,3]", 3) ==
        "f: tensor \"b\": its data starts at byte 1 inside the data before it, which ends at byte 2");
  CHECK(two("[0,2]", "[0,2]", 2) ==
        "f: tensor \"b\": its data starts at byte 0 inside the data before it, which ends at byte 2");
  CHECK(two("[0,2]", "[3,5]", 5) ==
        "f: tensor \"b\": its data starts at byte 3, after a hole behind the data before it, which ends at byte 2");
  CHECK(two("[1,3]", "[3,5]", 5) ==
        "f: tensor \"a\": its data starts at byte 1, after a hole behind the data before it, which ends at byte 0");
  CHECK(two("[0,2]", "[2,4]", 5) == "f: 1 bytes at its end belong to no tensor");
  CHECK(refusal("{}", "x") == "f: 1 bytes at its end belong to no tensor");
}

TEST_CASE("the demo's weights are what train.py's network holds, as another JSON reader finds them") {
  const bytes whole = contents(weights_file);
  const lv::safetensors source(weights_file);
  const std::pair<std::string_view, lv::shape> expected[] = {
      {"conv1.bias", lv::shape(8)},  {"conv1.weight", lv::shape(8, 1, 5, 5)},
      {"conv2.bias", lv::shape(16)}, {"conv2.weight", lv::shape(16, 8, 5, 5)},
      {"dense.bias", lv::shape(10)}, {"dense.weight", lv::shape(10, 256)}};
  CHECK(source.names().size() == std::size(expected));
  for (const auto& [name, extents] : expected) {
    REQUIRE(source.find(name).has_value());
    CHECK(source.find(name)->type == lv::element::f32);
    CHECK(source.find(name)->extents == extents);
  }
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, whole.data(), 8);
  const auto* text = reinterpret_cast<const char*>(whole.data()) + 8;
  const auto header = nlohmann::json::parse(text, text + header_size);
  CHECK(header.size() == source.names().size());
  for (const auto& [name, tensor] : header.items()) {
    const auto values = values_of<float>(*source.find(name));
    const std::size_t begin = tensor["data_offsets"][0], end = tensor["data_offsets"][1];
    REQUIRE(values.size() * sizeof(float) == end - begin);
    CHECK(std::memcmp(values.data(), text + header_size + begin, end - begin) == 0);
    CHECK(std::ranges::all_of(values, [](float v) { return std::isfinite(v) && std::abs(v) < 100; }));
  }
}

TEST_CASE("the demo's weights cut at any byte, or one byte longer, are refused") {
  bytes whole = contents(weights_file);
  REQUIRE(levada_test::accepts_safetensors(whole));
  for (std::size_t length = 0; length < whole.size(); length += length < 1000 ? 1 : 97)
    CHECK_FALSE(levada_test::accepts_safetensors(std::span(whole).first(length)));
  CHECK_FALSE(levada_test::accepts_safetensors(std::span(whole).first(whole.size() - 1)));
  whole.push_back({});
  CHECK_FALSE(levada_test::accepts_safetensors(whole));
}

TEST_CASE("100,000 mutated files are each read within their bounds or refused by a levada::error") {
  const bytes original = file_of(rich_header, rich_data);
  constexpr std::string_view tokens[] = {"{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         "\"",
                                         ":",
                                         "0",
                                         "9999999",
                                         "-1",
                                         "1e9",
                                         "\\ud800",
                                         "\\u",
                                         "18446744073709551615",
                                         "{}",
                                         "[0,0]",
                                         "BF16",
                                         "shape",
                                         "\xf0\x9f\x98",
                                         " ",
                                         "__metadata__"};
  const std::string_view whole(reinterpret_cast<const char*>(original.data()), original.size());
  std::mt19937 random(1);
  int accepted = 0, disagreements = 0;
  for (int round = 0; round < 100'000; ++round) {
    const std::string changed = levada_test::mutated(std::string(whole), tokens, random);
    const auto* const first = reinterpret_cast<const std::byte*>(changed.data());
    bytes file(first, first + changed.size());
    // Half of the files get a header size that fits again, or the first check would see nearly all of them.
    if (const std::uint64_t size = file.size() - std::min(file.size(), 8 + rich_data.size());
        round % 2 == 0 && file.size() > 8)
      std::memcpy(file.data(), &size, sizeof size);

    if (!levada_test::accepts_safetensors(file)) continue;
    ++accepted;
    std::uint64_t header_size = 0;
    std::memcpy(&header_size, file.data(), sizeof header_size);
    const auto* text = reinterpret_cast<const char*>(file.data()) + 8;
    disagreements += !nlohmann::json::accept(text, text + header_size);
  }
  CHECK(disagreements == 0);  // what is accepted here is JSON for another reader too
  CHECK(accepted > 1'000);    // else the mutations are too wild to reach the later checks
  CHECK(accepted < 50'000);
}

}  // namespace interop_safetensors
