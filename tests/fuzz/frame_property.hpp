// SPDX-License-Identifier: Apache-2.0
#pragma once
// fuzz/frame_property.hpp: what must hold for any bytes at all that come as a message, in whatever pieces.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <levada/remote/detail/far_clock.hpp>
#include <levada/remote/detail/frame.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada_test {

/// An item with a wire form of its own.
struct words {
  std::vector<std::string> all;
  bool operator==(const words&) const = default;
};

}  // namespace levada_test

template <>
struct levada::wire<levada_test::words> {
  static constexpr std::string_view name = "words, 1";
  static constexpr std::size_t most_bytes = 400;
  static void write(wire_writer& to, const levada_test::words& item) {
    to.write_count(item.all.size());
    for (const std::string& word : item.all) {
      to.write_count(word.size());
      to.write(word.data(), word.size());
    }
  }
  static levada_test::words read(wire_reader& from) {
    levada_test::words item;
    item.all.resize(from.read_count(50));
    for (std::string& word : item.all) {
      word.resize(from.read_count(from.left()));
      from.read(word.data(), word.size());
    }
    return item;
  }
};

namespace levada_test {

/// A message that is right, for most numbers.
inline std::string message_of(unsigned seed) {
  words item;
  for (unsigned i = 0; i < seed % 5; ++i) item.all.emplace_back(seed / 5 % 9 + i, static_cast<char>('a' + i));
  std::vector<std::byte> bytes;
  levada::wire_writer to(bytes, levada::wire<words>::most_bytes);
  levada::wire<words>::write(to, item);
  const auto kind = static_cast<levada::detail::frame_kind>(1 + seed % 10);
  std::string text;
  const auto append = [&](std::span<const std::byte> head) {
    text.append(reinterpret_cast<const char*>(head.data()), head.size());
  };
  if (kind == levada::detail::frame_kind::item) {
    levada::detail::item_head head(seed, bytes.size());
    if (seed / 10 % 2 != 0) head.add_capture(std::uint64_t{seed} << seed % 32);
    append(head.written());
  } else if (kind == levada::detail::frame_kind::trace) {
    levada::trace_context of;
    for (std::uint8_t& b : of.trace)
      b = static_cast<std::uint8_t>(seed / 10 % 7 + static_cast<unsigned>(&b - &of.trace[0]));
    of.parent[seed % 8] = static_cast<std::uint8_t>(seed / 70);
    append(levada::detail::trace_message(of));
    return text;
  } else {
    append(levada::detail::frame_header{kind, static_cast<std::uint32_t>(bytes.size()), seed}.written());
  }
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text;
}

/// Reads `bytes` as a message of two items: true when one was accepted, false when both were refused by a wire_error.
/// Every other exception gets out, and so does std::logic_error where what was read is not what is there.
inline bool reads_message(std::string_view bytes) {
  if (bytes.empty()) return false;
  // The first byte says into what pieces the rest comes; some of them have nothing in them.
  const std::size_t each = 1 + static_cast<unsigned char>(bytes.front()) % 40;
  const auto raw = std::as_bytes(std::span(bytes)).subspan(1);
  std::vector<std::vector<std::byte>> kept;  // each in memory of its own, for who looks over their ends
  for (std::size_t at = 0; at < raw.size(); at += each) {
    const auto piece = raw.subspan(at, std::min(each, raw.size() - at));
    kept.emplace_back(piece.begin(), piece.end());
    if (each % 3 == 0) kept.emplace_back();
  }
  const std::vector<std::span<const std::byte>> pieces(kept.begin(), kept.end());

  bool any = false;
  try {
    levada::wire_reader from(pieces);
    if (from.left() != raw.size()) throw std::logic_error("another number of bytes");
    const auto header = levada::detail::frame_header::read(from);
    if (std::memcmp(header.written().data(), raw.data(), levada::detail::frame_header::size) != 0)
      throw std::logic_error("another header than is there");
    const auto captured = levada::detail::capture_from_wire(header, from);
    std::size_t behind_head = levada::detail::frame_header::size;
    if ((header.with & levada::detail::with_capture) != 0) {
      levada::detail::item_head again(header.item, 0);
      again.add_capture(levada::detail::time_on_wire(captured));
      const auto head = again.written();
      if (std::memcmp(head.data() + behind_head, raw.data() + behind_head, head.size() - behind_head) != 0)
        throw std::logic_error("another capture time than is there");
      behind_head = head.size();
    }
    if (header.kind == levada::detail::frame_kind::trace) {
      const auto again = levada::detail::trace_message(levada::detail::trace_from_wire(from));
      if (again.size() != raw.size() ||
          std::memcmp(again.data() + behind_head, raw.data() + behind_head, again.size() - behind_head) != 0)
        throw std::logic_error("another trace than is there");
      return true;
    }
    const std::size_t length = raw.size() - behind_head;
    const levada::wire_reader behind = from;
    try {
      levada::wire_reader of(behind);
      const words item = levada::detail::item_from_wire<words>(of);
      std::vector<std::byte> again;
      levada::wire_writer to(again, raw.size());
      levada::wire<words>::write(to, item);
      if (again.size() != length || std::memcmp(again.data(), raw.data() + behind_head, length) != 0)
        throw std::logic_error("another item than is there");
      any = true;
    } catch (const levada::wire_error&) {
    }
    levada::wire_reader of(behind);
    const auto plain = levada::detail::item_from_wire<levada::tensor<std::uint16_t, 3>>(of);
    if (std::memcmp(plain.data(), raw.data() + behind_head, 6) != 0)
      throw std::logic_error("another tensor than is there");
    any = true;
  } catch (const levada::wire_error&) {
  }
  return any;
}

}  // namespace levada_test
