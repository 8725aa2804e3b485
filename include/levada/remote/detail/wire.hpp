// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/wire.hpp: the form of items between machines. Plain items and tensors go as they lie in memory; for
// others a program says how they are written and read:
//
//   template <>
//   struct lv::wire<detections> {
//     static constexpr std::string_view name = "detections, 2";  // compared by both ends: changed with the form
//     static constexpr std::size_t most_bytes = 4096;            // of one item
//     static void write(lv::wire_writer& to, const detections& item);
//     static detections read(lv::wire_reader& from);
//   };

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/text.hpp>

namespace levada {

/// Bytes from another machine are not what they should be.
class wire_error : public error {
 public:
  using error::error;
};

/// What came, in the pieces in which the engine has it, read from front to back. Reading beyond the end throws
/// wire_error.
class wire_reader {
 public:
  using pieces = std::span<const std::span<const std::byte>>;

  explicit wire_reader(pieces of) : pieces_(of) {
    for (const auto& piece : of) left_ += piece.size();
  }

  std::size_t left() const { return left_; }

  void read(void* to, std::size_t bytes) {
    if (bytes > left_) throw wire_error("levada: a message ends before what it should hold");
    left_ -= bytes;
    for (auto* into = static_cast<std::byte*>(to); bytes != 0;) {
      const std::span<const std::byte> piece = pieces_.front().subspan(at_);
      const std::size_t some = bytes < piece.size() ? bytes : piece.size();
      if (some != 0) std::memcpy(into, piece.data(), some);
      into += some;
      bytes -= some;
      at_ += some;
      if (at_ != pieces_.front().size()) continue;
      pieces_ = pieces_.subspan(1);
      at_ = 0;
    }
  }
  /// A value that lies there as in memory.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && std::default_initializable<T>)
  T read() {
    T value;
    read(&value, sizeof value);
    return value;
  }
  /// A number of things, written as `write_count` does. Throws where it is more than `most`.
  std::size_t read_count(std::size_t most) {
    const auto count = read<std::uint32_t>();
    if (count > most) throw wire_error("levada: a message has more of something than it may");
    return count;
  }

 private:
  pieces pieces_;
  std::size_t at_ = 0;  ///< in the first piece
  std::size_t left_ = 0;
};

/// Where an item is written. Writing more than its wire form may have throws wire_error.
class wire_writer {
 public:
  wire_writer(std::vector<std::byte>& into, std::size_t most) : into_(into), most_(most) { into_.clear(); }

  void write(const void* from, std::size_t bytes) {
    if (bytes > most_ - into_.size()) throw wire_error("levada: an item is longer than its wire form may be");
    const auto* const first = static_cast<const std::byte*>(from);
    into_.insert(into_.end(), first, first + bytes);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void write(const T& value) {
    write(&value, sizeof value);
  }
  void write_count(std::size_t count) {
    if (count > 0xffff'ffffu) throw wire_error("levada: an item has more of something than a message may");
    write(static_cast<std::uint32_t>(count));
  }

 private:
  std::vector<std::byte>& into_;
  std::size_t most_;
};

namespace detail {

/// It says where something is, which is nowhere on another machine. (That a member does, nobody can see.)
template <class T>
inline constexpr bool points_elsewhere =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::same_as<T, std::nullptr_t>;
template <class T, std::size_t Extent>
inline constexpr bool points_elsewhere<std::span<T, Extent>> = true;
template <class Char, class Traits>
inline constexpr bool points_elsewhere<std::basic_string_view<Char, Traits>> = true;
template <class T>
inline constexpr bool points_elsewhere<std::reference_wrapper<T>> = true;
template <class T, std::size_t... Dims>
inline constexpr bool points_elsewhere<tensor_view<T, Dims...>> = true;

/// It goes as it lies in memory.
template <class T>
concept plain_on_the_wire = std::is_trivially_copyable_v<T> && std::default_initializable<T> && !points_elsewhere<T>;

}  // namespace detail

/// The wire form of an item; none where nothing says so.
template <class T>
struct wire {};

template <detail::plain_on_the_wire T>
struct wire<T> {
  static constexpr std::size_t most_bytes = sizeof(T);
  static constexpr bool as_it_lies = true;
};

/// Items of that type can go to another machine.
template <class T>
concept has_wire_form =
    requires {
      { wire<T>::most_bytes } -> std::convertible_to<std::size_t>;
    } &&
    (
        requires { wire<T>::as_it_lies; } ||
        requires(wire_writer& to, wire_reader& from, const T& item) {
          { wire<T>::name } -> std::convertible_to<std::string_view>;
          wire<T>::write(to, item);
          { wire<T>::read(from) } -> std::same_as<T>;
        });

namespace detail {

template <class T>
inline constexpr bool goes_as_it_lies = requires { wire<T>::as_it_lies; };

template <has_wire_form T>
  requires(!goes_as_it_lies<T>)
inline constexpr std::size_t wire_form_bytes<T> = wire<T>::most_bytes;

/// Appends the wire form of an item in words that do not depend on how a compiler spells types: "float[3x4]", "uint8",
/// "24 bytes aligned 8", or the name that a program gave it.
template <has_wire_form T, class Text>
constexpr void append_wire_form(Text& text) {
  if constexpr (!goes_as_it_lies<T>) {
    text += wire<T>::name;
  } else if constexpr (any_tensor<T>) {
    text += name_of(element_of<typename T::value_type>);
    text += '[';
    for (std::size_t i = 0; i < T::rank; ++i) {
      if (i != 0) text += 'x';
      append_number(text, T::extents[i]);
    }
    text += ']';
  } else if constexpr (tensor_element<T>) {
    text += name_of(element_of<T>);
  } else {
    append_number(text, sizeof(T));
    text += " bytes aligned ";
    append_number(text, alignof(T));
  }
}

/// How an item of a known type is written and read where its type is not known.
struct wire_code {
  std::size_t most_bytes = 0;
  void (*write)(const void* item, wire_writer& to) = nullptr;  ///< null: as it lies, `most_bytes` of it
  void (*construct)(wire_reader& from, void* at) = nullptr;

  /// The bytes of an item that cross: itself where it goes as it lies, else its wire form in `room`. Throws wire_error
  /// where that is too long.
  std::span<const std::byte> bytes_of(const void* item, std::vector<std::byte>& room) const {
    if (write == nullptr) return {static_cast<const std::byte*>(item), most_bytes};
    wire_writer to(room, most_bytes);
    write(item, to);
    return room;
  }
};

/// Constructs the item in its place. Throws wire_error where bytes are left. Two functions: g++ 12 copies a result that
/// is named in a nested block.
template <class T>
  requires goes_as_it_lies<T>
T item_from_wire(wire_reader& from) {
  if (from.left() != sizeof(T)) throw wire_error("levada: an item has another number of bytes than its type");
  return from.template read<T>();
}
template <class T>
T item_from_wire(wire_reader& from) {
  T item = wire<T>::read(from);
  if (from.left() != 0) throw wire_error("levada: a message goes on behind its item");
  return item;
}

template <has_wire_form T>
inline constexpr wire_code wire_code_of = [] {
  wire_code code{wire<T>::most_bytes, nullptr,
                 [](wire_reader& from, void* at) { ::new (at) T(item_from_wire<T>(from)); }};
  if constexpr (!goes_as_it_lies<T>)
    code.write = [](const void* item, wire_writer& to) { wire<T>::write(to, *static_cast<const T*>(item)); };
  return code;
}();

}  // namespace detail
}  // namespace levada
