// SPDX-License-Identifier: Apache-2.0
// The messages of a fleet: what is written is read, and what is none is refused, whatever its bytes.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <levada/fleet/detail/member_traits.hpp>
#include <levada/fleet/detail/message.hpp>

namespace fleet_messages {

using namespace levada::detail;

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::vector<std::byte> written() {
  fleet_writer to;
  to.begin("host:1");
  to.add(frame_kind::value, 7, bytes("seven"));
  to.add(frame_kind::filtered, 8, {});
  to.add(frame_kind::failure, 1'000'000'000'000, bytes("no"));
  const auto all = to.end({fleet_message::outcomes, 0, 0, 0x0123456789abcdef, 42, 5});
  return {all.begin(), all.end()};
}
/// All frames; empty: it is a message.
std::string refusal(std::span<const std::byte> raw) {
  try {
    fleet_reader from(raw);
    fleet_reader::frame f;
    while (from.next(f)) {
    }
    return {};
  } catch (const levada::wire_error& e) {
    return e.what();
  }
}

TEST_CASE("a message is read as it was written") {
  const auto raw = written();
  fleet_reader from(raw);
  CHECK(from.name() == "host:1");
  CHECK(from.envelope().kind == fleet_message::outcomes);
  CHECK(from.envelope().frames == 3);
  CHECK(from.envelope().program == 0x0123456789abcdef);
  CHECK(from.envelope().session == 42);
  CHECK(from.envelope().number == 5);
  fleet_reader::frame f;
  REQUIRE(from.next(f));
  CHECK(f.header.item == 7);
  CHECK(std::string_view(reinterpret_cast<const char*>(f.payload.data()), f.payload.size()) == "seven");
  REQUIRE(from.next(f));
  CHECK(f.header.kind == frame_kind::filtered);
  REQUIRE(from.next(f));
  CHECK(f.header.item == 1'000'000'000'000);
  CHECK(!from.next(f));
}

TEST_CASE("what is no message is refused") {
  auto raw = written();
  CHECK(refusal({}) == "levada: a message ends before what it should hold");
  for (std::size_t n = 0; n < raw.size(); ++n) CHECK(!refusal(std::span(raw).first(n)).empty());
  raw.push_back({});
  CHECK(refusal(raw) == "levada: a message goes on behind its items");
  raw = written();
  raw[0] = std::byte{9};
  CHECK(refusal(raw) == "levada: a message of no known kind");
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    auto other = written();
    for (int n = 0; n < 3; ++n) other[random() % other.size()] = static_cast<std::byte>(random());
    static_cast<void>(refusal(other));  // the sanitizers look
  }
}

TEST_CASE("small items share a message, and no message is longer than its bound") {
  CHECK(fleet_grain(4, 4) == 64);
  CHECK(fleet_grain(64, 8) == 64);
  CHECK(fleet_grain(1000, 10) == 15);
  CHECK(fleet_grain(100'000, 10) == 1);
  for (std::size_t item = 1; item < 3'000'000; item += 1 + item / 3) {
    const std::size_t longest = longest_fleet_message(item, 8), grain = fleet_grain(item, 8);
    CHECK(grain * (item + 16) + fleet_bytes_around <= longest);
    CHECK((grain == 1 || longest <= 16 << 10));
  }
}

TEST_CASE("how often a message was delivered stands in the subject of its acknowledgement") {
  CHECK(delivery_of("$JS.ACK.stream.consumer.3.17.21.1700000000000000000.0") == 3);
  CHECK(delivery_of("$JS.ACK.domain.account.stream.consumer.2.17.21.1700000000000000000.0.token") == 2);
  CHECK(delivery_of("_INBOX.abc.1") == 0);
  CHECK(delivery_of("") == 0);
}

}  // namespace fleet_messages
