// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/protobuf.hpp: the wire format of Protocol Buffers, as far as messages of fixed definitions need it:
// https://protobuf.dev/programming-guides/encoding/. A program needs neither its compiler nor generated code.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

enum class protobuf_type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// The fields of a message, one after the other. Throws wire_error where the bytes are no message, or a field is not
/// written as it is asked for.
class protobuf_reader {
 public:
  explicit protobuf_reader(std::span<const std::byte> of) : left_(of) {}

  /// Goes to the next field. False: there is none.
  bool next() {
    if (left_.empty()) return false;
    const std::uint64_t tag = take_varint();
    field_ = static_cast<std::uint32_t>(tag >> 3);
    type_ = static_cast<protobuf_type>(tag & 7);
    switch (type_) {
      case protobuf_type::varint:
        number_ = take_varint();
        return true;
      case protobuf_type::fixed64:
        number_ = take_fixed<std::uint64_t>();
        return true;
      case protobuf_type::fixed32:
        number_ = take_fixed<std::uint32_t>();
        return true;
      case protobuf_type::bytes:
        bytes_ = take(take_varint());
        return true;
    }
    throw wire_error("levada: a message has a field of no known kind");
  }

  std::uint32_t field() const { return field_; }
  protobuf_type type() const { return type_; }

  std::uint64_t number() const {
    if (type_ != protobuf_type::varint) refuse();
    return number_;
  }
  std::span<const std::byte> bytes() const {
    if (type_ != protobuf_type::bytes) refuse();
    return bytes_;
  }
  std::string_view text() const {
    const std::span<const std::byte> raw = bytes();
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }

  /// Calls `f` with each element of a repeated field of numbers of that type, packed or not.
  template <class F>
  void each_number(protobuf_type of, F f) const {
    if (type_ == of) return f(number_);
    if (type_ != protobuf_type::bytes) refuse();
    for (protobuf_reader packed(bytes_); !packed.left_.empty();) f(packed.take_number(of));
  }

 private:
  [[noreturn]] static void refuse() { throw wire_error("levada: a message has a field of another kind than defined"); }

  std::uint64_t take_number(protobuf_type of) {
    return of == protobuf_type::varint    ? take_varint()
           : of == protobuf_type::fixed32 ? take_fixed<std::uint32_t>()
                                          : take_fixed<std::uint64_t>();
  }
  std::uint64_t take_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(take(1)[0]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw wire_error("levada: a message has a number that does not end");
  }
  template <class T>
  T take_fixed() {
    const std::span<const std::byte> raw = take(sizeof(T));
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(raw[i]) << 8 * i));
    return value;
  }
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > left_.size()) throw wire_error("levada: a message ends before what it should hold");
    const auto taken = left_.first(static_cast<std::size_t>(count));
    left_ = left_.subspan(taken.size());
    return taken;
  }

  std::span<const std::byte> left_, bytes_;
  std::uint64_t number_ = 0;
  std::uint32_t field_ = 0;
  protobuf_type type_ = protobuf_type::varint;
};

/// Appends the fields of a message to a string. Those of no value are left out, as the format has it.
class protobuf_writer {
 public:
  explicit protobuf_writer(std::string& into) : into_(into) {}

  void number(std::uint32_t field, std::uint64_t value) {
    if (value != 0) present(field, value);
  }
  /// Of a field that is there even where it is 0.
  void present(std::uint32_t field, std::uint64_t value) {
    tag(field, protobuf_type::varint);
    varint(value);
  }
  void text(std::uint32_t field, std::string_view value) {
    if (!value.empty()) element(field, value);
  }
  /// Of a repeated field, an empty one too.
  void element(std::uint32_t field, std::string_view value) {
    begin_bytes(field, value.size());
    into_ += value;
  }
  /// The fields that `f(writer)` writes, as a message.
  template <class F>
  void message(std::uint32_t field, F f) {
    tag(field, protobuf_type::bytes);
    const std::size_t at = into_.size();
    f(*this);
    char length[10];
    into_.insert(at, length, write_varint(into_.size() - at, length));
  }
  /// What comes before so many bytes of a field, which the caller appends.
  void begin_bytes(std::uint32_t field, std::size_t count) {
    tag(field, protobuf_type::bytes);
    varint(count);
  }
  void varint(std::uint64_t value) {
    char raw[10];
    into_.append(raw, write_varint(value, raw));
  }

 private:
  void tag(std::uint32_t field, protobuf_type type) { varint(std::uint64_t{field} << 3 | static_cast<unsigned>(type)); }
  static std::size_t write_varint(std::uint64_t value, char (&to)[10]) {
    std::size_t size = 0;
    for (; value >= 0x80; value >>= 7) to[size++] = static_cast<char>(value | 0x80);
    to[size++] = static_cast<char>(value);
    return size;
  }

  std::string& into_;
};

}  // namespace levada::detail
