// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/message.hpp: what a message of a fleet holds: who it is of, and behind that frames as between remote
// devices, one for each item.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <levada/remote/detail/frame.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

enum class fleet_message : std::uint8_t {
  items = 1,  ///< from the driver, to be worked on
  outcomes,   ///< what became of them; behind the envelope the name of the worker
  question,   ///< of a worker, whether the item of its one frame may run once more
  begin,      ///< by key: of a session, whose items come behind it
  mark,       ///< by key: a worker takes the partition
  state,      ///< by key: what it has to know that goes on behind this
  session,    ///< how far a session with a name is, and whose
};

/// The begin of a message, its numbers with the smallest byte first.
struct fleet_envelope {
  static constexpr std::size_t size = 32;

  fleet_message kind = fleet_message::items;
  std::uint8_t name_bytes = 0;  ///< of the worker's name, right behind
  std::uint32_t frames = 0;     ///< behind that
  std::uint64_t program = 0;    ///< what both ends compare, as a number
  std::uint64_t session = 0;    ///< of the driver
  /// Of outcomes the nanoseconds that they took the worker, of questions the delivery, of items whose ids theirs are;
  /// by key: of messages; of a session before which item its outcomes are done.
  std::uint64_t number = 0;

  void write(std::byte* to) const {
    std::fill_n(to, size, std::byte{});
    to[0] = static_cast<std::byte>(kind);
    to[1] = static_cast<std::byte>(name_bytes);
    put(to + 4, frames);
    put(to + 8, program);
    put(to + 16, session);
    put(to + 24, number);
  }
  /// Throws wire_error where it is none.
  static fleet_envelope read(wire_reader& from) {
    const auto raw = from.read<std::array<std::byte, size>>();
    fleet_envelope e;
    e.kind = static_cast<fleet_message>(raw[0]);
    if (e.kind < fleet_message::items || e.kind > fleet_message::session || raw[2] != std::byte{} ||
        raw[3] != std::byte{})
      throw wire_error("levada: a message of no known kind");
    e.name_bytes = std::to_integer<std::uint8_t>(raw[1]);
    e.frames = get<std::uint32_t>(raw.data() + 4);
    e.program = get<std::uint64_t>(raw.data() + 8);
    e.session = get<std::uint64_t>(raw.data() + 16);
    e.number = get<std::uint64_t>(raw.data() + 24);
    return e;
  }

 private:
  template <class T>
  static void put(std::byte* to, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> 8 * i);
  }
  template <class T>
  static T get(const std::byte* from) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(from[i]) << 8 * i));
    return value;
  }
};

/// A message as it came, read frame by frame. Its bytes stay where they are.
class fleet_reader {
 public:
  /// Throws wire_error where it is no message.
  explicit fleet_reader(std::span<const std::byte> all) : left_(all) {
    const std::span<const std::byte> pieces[] = {all};
    wire_reader from(pieces);
    envelope_ = fleet_envelope::read(from);
    left_ = all.subspan(fleet_envelope::size);
    if (envelope_.name_bytes > left_.size()) throw wire_error("levada: a message ends before what it should hold");
    name_ = {reinterpret_cast<const char*>(left_.data()), envelope_.name_bytes};
    left_ = left_.subspan(envelope_.name_bytes);
    frames_ = envelope_.frames;
  }

  const fleet_envelope& envelope() const { return envelope_; }
  std::string_view name() const { return name_; }

  struct frame {
    frame_header header;
    std::span<const std::byte> payload;
  };
  /// False behind the last. Throws wire_error where the rest is something else.
  bool next(frame& to) {
    if (frames_ == 0) {
      if (!left_.empty()) throw wire_error("levada: a message goes on behind its items");
      return false;
    }
    --frames_;
    const std::span<const std::byte> pieces[] = {left_};
    wire_reader from(pieces);
    to.header = frame_header::read_one(from);
    to.payload = left_.subspan(frame_header::size, to.header.bytes);
    left_ = left_.subspan(frame_header::size + to.header.bytes);
    return true;
  }

 private:
  fleet_envelope envelope_;
  std::string_view name_;
  std::span<const std::byte> left_;
  std::uint32_t frames_ = 0;
};

/// Where a message is put together. It keeps its memory.
class fleet_writer {
 public:
  void begin(std::string_view name = {}) {
    bytes_.resize(fleet_envelope::size);
    name_bytes_ = static_cast<std::uint8_t>(std::min<std::size_t>(name.size(), 255));
    append(std::as_bytes(std::span(name)).first(name_bytes_));
    frames_ = 0;
  }
  void add(frame_kind kind, std::uint64_t item, std::span<const std::byte> payload) {
    append(frame_header{kind, static_cast<std::uint32_t>(payload.size()), item}.written());
    append(payload);
    ++frames_;
  }
  std::span<const std::byte> end(fleet_envelope as) {
    as.name_bytes = name_bytes_;
    as.frames = frames_;
    as.write(bytes_.data());
    return bytes_;
  }
  std::uint32_t frames() const { return frames_; }
  std::size_t size() const { return bytes_.size(); }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

 private:
  void append(std::span<const std::byte> some) { bytes_.insert(bytes_.end(), some.begin(), some.end()); }

  std::vector<std::byte> bytes_;
  std::uint8_t name_bytes_ = 0;
  std::uint32_t frames_ = 0;
};

/// The bytes around the items of a message, with the longest name and the headers that the servers see.
inline constexpr std::size_t fleet_bytes_around = fleet_envelope::size + 255 + 256;
/// How many items and results of these sizes go in one message at most: small ones share what a message costs.
constexpr std::size_t fleet_grain(std::size_t item, std::size_t result) {
  constexpr std::size_t worth_sharing = (16 << 10) - fleet_bytes_around, most_items = 64;
  return std::clamp<std::size_t>(worth_sharing / (std::max(item, result) + frame_header::size), 1, most_items);
}
/// The longest message of such items, with its headers: a power of two, so that it outlives small changes of the items.
constexpr std::size_t longest_fleet_message(std::size_t item, std::size_t result) {
  const std::size_t each = std::max(item, result) + frame_header::size;
  return std::bit_ceil(fleet_grain(item, result) * each + fleet_bytes_around);
}

/// The longest message that says how far a session with a name is.
inline constexpr std::size_t longest_session_message = 1024;

}  // namespace levada::detail
