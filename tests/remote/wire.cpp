// SPDX-License-Identifier: Apache-2.0
// What goes between machines: the wire forms of items, the frames, and what both ends have to agree on.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <levada/levada.hpp>
#include <levada/remote/detail/frame.hpp>
#include <levada/remote/detail/identity.hpp>
#include <levada/remote/detail/wire.hpp>

#include "fuzz/frame_property.hpp"
#include "fuzz/mutate.hpp"

namespace remote_wire {

namespace lv = levada;
using levada_test::words;

struct reading {
  double value;
  std::int32_t sensor;
};
struct no_default {
  explicit no_default(int v) : value(v) {}
  int value;
};

static_assert(lv::has_wire_form<int> && lv::has_wire_form<lv::tensor<float, 3, 4>> && lv::has_wire_form<reading> &&
              lv::has_wire_form<std::array<reading, 3>> && lv::has_wire_form<words>);
static_assert(!lv::has_wire_form<std::string> && !lv::has_wire_form<std::unique_ptr<int>> &&
              !lv::has_wire_form<no_default>);
static_assert(!lv::has_wire_form<int*> && !lv::has_wire_form<std::string_view> && !lv::has_wire_form<std::span<int>> &&
              !lv::has_wire_form<lv::tensor_view<float, 3>> && !lv::has_wire_form<std::reference_wrapper<int>> &&
              !lv::has_wire_form<int reading::*>);

template <class T>
std::string form_of() {
  std::string text;
  lv::detail::append_wire_form<T>(text);
  return text;
}

// What both ends compare. The literal is the same for every compiler and every run.
using frame = lv::tensor<std::uint8_t, 1, 28, 28>;
constexpr auto part = [] {
  return lv::input<frame> | lv::transform<"normalise">([](auto px) { return to_float(px) / 255.0f; }) |
         lv::stage<"mean">([](const lv::tensor<float, 1, 28, 28>& t) {
           return reading{t[0], 3};
         });
};
template <lv::fixed_string Version>
using identity = lv::detail::remote_identity<"edge", Version, decltype(part()), frame, reading>;
static_assert(identity<"1">::hash == 8736788450448363724u);
static_assert(identity<"1">::hash != identity<"2">::hash);

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto raw = std::as_bytes(std::span(text));
  return {raw.begin(), raw.end()};
}

TEST_CASE("a wire form has words that no compiler chooses") {
  CHECK(form_of<int>() == "int32");
  CHECK(form_of<lv::tensor<float, 3, 4>>() == "float[3x4]");
  CHECK(form_of<reading>() == "16 bytes aligned 8");
  CHECK(form_of<words>() == "words, 1");
}

TEST_CASE("both ends compare lines of text") {
  CHECK(std::string(identity<"1">::text.view()) ==
        "wire format 4\n"
        "byte order little\n"
        "version 1\n"
        "device edge\n"
        "items uint8[1x28x28]\n"
        "results 16 bytes aligned 8\n"
        "stage normalise: transform normalise(uint8[1x28x28]) -> float[1x28x28], 784 FLOP\n"
        "stage mean: mean(float[1x28x28]) -> 16 bytes\n");
}

TEST_CASE("the first difference is one sentence") {
  CHECK(lv::detail::first_difference("a 1\nb 2\n", "a 1\nb 2\n").empty());
  CHECK(lv::detail::first_difference("a 1\nb 2\nc 3\n", "a 1\nb 3\nc 4\n") ==
        "the driver has `b 2`, and the node `b 3`");
  CHECK(lv::detail::first_difference("a 1\n", "a 1\nb 2\n") == "the driver has nothing more, and the node `b 2`");
  CHECK(lv::detail::first_difference("a\x1b[1m\n", "a\n") == "the driver has `a?[1m`, and the node `a`");
  CHECK(lv::detail::first_difference("", "a\n") == "the driver has nothing more, and the node `a`");
}

TEST_CASE("a header is written with the smallest byte first, and read back") {
  const lv::detail::frame_header header{lv::detail::frame_kind::item, 0x01020304, 0x1112131415161718};
  const std::array<std::byte, 16> raw = header.written();
  const unsigned char expected[] = {4, 0, 0, 0, 0x04, 0x03, 0x02, 0x01, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11};
  for (std::size_t i = 0; i < 16; ++i) CHECK(std::to_integer<unsigned char>(raw[i]) == expected[i]);
}

TEST_CASE("an item is read back as it was, whatever pieces it comes in") {
  const words item{{"", "a", "some words"}};
  std::vector<std::byte> bytes;
  lv::wire_writer to(bytes, 400);
  const lv::detail::wire_code& code = lv::detail::wire_code_of<words>;
  code.write(&item, to);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::span<const std::byte> all(bytes), pieces[] = {all.first(cut), {}, all.subspan(cut)};
    lv::wire_reader from(pieces);
    words back;
    code.construct(from, &back);  // over one that owns nothing
    CHECK(back == item);
  }
  CHECK((lv::detail::wire_code_of<reading>.write == nullptr));
  CHECK(lv::detail::wire_code_of<reading>.most_bytes == sizeof(reading));
}

TEST_CASE("what does not fit is refused") {
  std::vector<std::byte> bytes;
  const words long_one{{std::string(400, 'x')}};
  lv::wire_writer to(bytes, lv::wire<words>::most_bytes);
  CHECK_THROWS_WITH_AS(lv::wire<words>::write(to, long_one), "levada: an item is longer than its wire form may be",
                       lv::wire_error);

  const auto refusal = [](std::string_view raw) -> std::string {
    const std::vector<std::byte> kept = bytes_of(raw);
    const std::span<const std::byte> pieces[] = {kept};
    lv::wire_reader from(pieces);
    try {
      lv::detail::frame_header::read(from);
    } catch (const lv::wire_error& e) {
      return e.what();
    }
    return "";
  };
  using namespace std::literals;
  CHECK(refusal("\4\0\0\0\1\0\0\0\7\0\0\0\0\0\0\0x"sv) == "");
  CHECK(refusal("\4\0\0\0\1\0\0\0\7\0\0\0\0\0\0"sv) == "levada: a message ends before what it should hold");
  CHECK(refusal("\4\0\0\0\2\0\0\0\7\0\0\0\0\0\0\0x"sv) == "levada: a message of another length than it says");
  CHECK(refusal("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv) == "levada: a message of no known kind");
  CHECK(refusal("\13\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv) == "levada: a message of no known kind");
  CHECK(refusal("\4\1\0\0\1\0\0\0\7\0\0\0\0\0\0\0x"sv) == "");
  for (const std::string_view with : {"\4\2"sv, "\4\200"sv, "\5\1"sv, "\1\1"sv})
    CHECK(refusal(std::string(with) + std::string(14, '\0')) ==
          "levada: a message whose header says what is not known");
  CHECK(refusal("\4\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0"sv) == "levada: a message whose header says what is not known");
}

TEST_CASE("messages with random changes are read as they are, or refused") {
  std::mt19937 random(20261126);
  const std::string_view tokens[] = {"\x04\0\0\0", "\xff\xff\xff\xff"};
  int accepted = 0, refused = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    std::string bytes = static_cast<char>(i) + levada_test::message_of(i);
    if (i % 4 != 0) bytes = levada_test::mutated(std::move(bytes), tokens, random);
    ++(levada_test::reads_message(bytes) ? accepted : refused);
  }
  CHECK(accepted > 5'000);
  CHECK(refused > 5'000);
}

}  // namespace remote_wire
