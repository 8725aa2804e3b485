// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/safetensors.hpp: weights from a safetensors file, a source of parameters for `deploy`.
// The format: a u64 little-endian header size, a JSON header, then the data of all tensors without holes. Any file that
// is not exactly that is refused; the JSON reader knows what such a header may contain and nothing else.

#include <unistd.h>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/detail/shape.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/core/detail/whole_file.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/detail/parameters.hpp>
#include <levada/graph/detail/renamed.hpp>

namespace levada {

namespace detail {

/// A name from a file as a message can print it: short, and without control characters.
inline std::string printable(std::string_view name) {
  constexpr std::size_t longest = 80;
  std::string text = "\"";
  for (const char c : name.substr(0, longest)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text += name.size() > longest ? "...\"" : "\"";
}

/// The bytes of the UTF-8 sequence that `text` starts with; 0 where there is none (RFC 3629, table 3-7 of Unicode).
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0, too_large = first == 0xf4 && second >= 0x90;
  return too_long || surrogate || too_large ? 0 : length;
}

inline void append_utf8(std::string& text, std::uint32_t code) {
  const auto last = [&](int bits) { text += static_cast<char>(0x80u | ((code >> bits) & 0x3fu)); };
  if (code < 0x80)
    text += static_cast<char>(code);
  else if (code < 0x800)
    text += static_cast<char>(0xc0u | (code >> 6)), last(0);
  else if (code < 0x10000)
    text += static_cast<char>(0xe0u | (code >> 12)), last(6), last(0);
  else
    text += static_cast<char>(0xf0u | (code >> 18)), last(12), last(6), last(0);
}

/// The JSON of a safetensors header: objects, arrays, strings and whole numbers. No recursion; every byte is checked.
class safetensors_json {
 public:
  safetensors_json(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  [[noreturn]] void fail(std::string_view what) const {
    throw error(std::string(file_) + ": header byte " + std::to_string(at_) + ": " + std::string(what));
  }

  /// `{"key": ...}`: calls `member(key)` before each value, which it must read.
  template <class Member>
  void object(Member member) {
    std::set<std::string> keys;
    expect('{');
    if (take('}')) return;
    do {
      std::string key = string();
      if (!keys.insert(key).second) fail("the name " + printable(key) + " occurs twice");
      expect(':');
      member(std::move(key));
    } while (take(','));
    expect('}');
  }

  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> values;
    expect('[');
    if (take(']')) return values;
    do values.push_back(number());
    while (take(','));
    expect(']');
    return values;
  }

  std::string string() {
    expect('"');
    std::string value;
    while (peek() != '"') {
      const std::size_t length = utf8_length(text_.substr(at_));
      if (at_ == text_.size()) fail("a string does not end");
      if (length == 0) fail("a string is not UTF-8");
      if (static_cast<unsigned char>(peek()) < 0x20) fail("a string contains a control character");
      if (peek() == '\\') {
        ++at_;
        escape(value);
      } else {
        value += text_.substr(at_, length);
        at_ += length;
      }
    }
    ++at_;
    return value;
  }

  void end() {
    skip_space();
    if (at_ != text_.size()) fail("there is text after the header's end");
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  }
  bool take(char c) {
    skip_space();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }

  std::uint64_t number() {
    skip_space();
    const auto is_digit = [&] { return peek() >= '0' && peek() <= '9'; };
    if (!is_digit()) fail("expected a whole number, not negative");
    const bool zero = peek() == '0';
    std::uint64_t value = 0;
    for (const std::size_t start = at_; is_digit(); ++at_) {
      const auto digit = static_cast<std::uint64_t>(peek() - '0');
      if (zero && at_ != start) fail("a number starts with 0");
      if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) fail("a number is out of range");
      value = value * 10 + digit;
    }
    return value;
  }

  void escape(std::string& value) {
    constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    const char c = peek();
    ++at_;
    if (const auto i = names.find(c); i != names.npos) {
      value += values[i];
    } else if (c == 'u') {
      std::uint32_t code = hex4();
      if (code >= 0xd800 && code < 0xdc00) {
        if (text_.substr(at_, 2) != "\\u") fail("half of a surrogate pair is missing");
        at_ += 2;
        const std::uint32_t low = hex4();
        if (low < 0xdc00 || low > 0xdfff) fail("half of a surrogate pair is missing");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      } else if (code >= 0xdc00 && code < 0xe000) {
        fail("half of a surrogate pair is missing");
      }
      append_utf8(value, code);
    } else {
      fail("unknown escape in a string");
    }
  }

  std::uint32_t hex4() {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) fail("expected four hexadecimal digits");
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    return code;
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
};

}  // namespace detail

/// The tensors of one safetensors file, found by name. Movable. Of a file on disk the header is read and checked at
/// once. A tensor is read each time that it is found, and kept by what `find` returns: `deploy` never holds more of the
/// file than the part of one kernel.
///
/// Every way in which a file can be wrong, short or corrupt is a `levada::error` that names the file, the tensor and
/// what is wrong. Element types that it does not read (F8_*) are such an error too.
class safetensors {
 public:
  /// The largest header that is accepted, in bytes; the limit of the format's own library.
  static constexpr std::uint64_t largest_header = 100'000'000;

  /// Reads the header. The file stays open; it may be replaced or removed, and is not to be written into.
  explicit safetensors(const std::filesystem::path& path) : disk_(std::make_unique<on_disk>()) {
    disk_->name = path.string();
    const auto fail = [&](const std::string& what) { throw error(disk_->name + ": " + what); };
    auto [file, size] = detail::open_regular(disk_->name, fail);
    disk_->file = std::move(file);
    std::byte first[sizeof(std::uint64_t)];
    const std::size_t head = std::min<std::size_t>(size, sizeof first);
    if (!disk_->read(first, head, 0)) fail("cannot be read to its end");
    const std::uint64_t header_size = announced_header({first, head}, size, disk_->name);
    std::string header(header_size, '\0');
    if (!disk_->read(header.data(), header_size, sizeof first)) fail("cannot be read to its end");
    disk_->data_at = sizeof first + header_size;
    parse(header, nullptr, size - disk_->data_at, disk_->name);
  }

  /// The same from memory, which is not copied and must outlive the object; `file` names it in messages.
  static safetensors from_bytes(std::span<const std::byte> bytes, std::string_view file = "safetensors in memory") {
    safetensors source;
    const std::uint64_t header_size = announced_header(bytes, bytes.size(), file);
    const std::span<const std::byte> behind = bytes.subspan(sizeof header_size);
    source.parse({reinterpret_cast<const char*>(behind.data()), header_size}, behind.data() + header_size,
                 behind.size() - header_size, file);
    return source;
  }

  safetensors(safetensors&&) = default;
  safetensors& operator=(safetensors&&) = default;

  /// The tensor of that name. Its data need not be aligned. It is valid as long as the tensor returned or a copy of it
  /// is; from memory, as long as that memory. Throws levada::error where the file cannot be read. Several threads may
  /// ask at once.
  std::optional<stored_tensor> find(std::string_view name) const {
    const auto at = tensors_.find(name);
    if (at == tensors_.end()) return std::nullopt;
    stored_tensor tensor = at->second.tensor;
    if (disk_) {
      tensor.owner = disk_->values_of(at->first, at->second);
      tensor.data = tensor.owner.get();
    }
    return tensor;
  }

  /// The names of all tensors, sorted.
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> all;
    for (const auto& [name, tensor] : tensors_) all.push_back(name);
    return all;
  }

  /// The text pairs under "__metadata__"; empty where the file has none.
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }

 private:
  struct range {
    std::uint64_t begin, end;
    std::string_view name;
  };
  struct stored_place {
    stored_tensor tensor;
    std::uint64_t begin, size;  ///< in the data
  };
  struct on_disk {
    std::string name;
    detail::open_file file;
    std::uint64_t data_at = 0;

    bool read(void* to, std::size_t count, std::uint64_t at) const {
      return file.read(to, count, at) == static_cast<ssize_t>(count);
    }
    std::shared_ptr<const std::byte> values_of(const std::string& tensor, const stored_place& where) const {
      const auto fail = [&](const std::string& what) {
        throw error(name + ": tensor " + detail::printable(tensor) + ": " + what);
      };
      const std::shared_ptr<detail::arena_bytes> memory = memory_of(where.size);
      if (!memory) fail("there is no memory for its " + std::to_string(where.size) + " bytes");
      if (!read(memory->get(), where.size, data_at + where.begin)) fail("cannot be read to its end");
      if (!are_values(where.tensor.type, {memory->get(), where.size})) fail(wrong_bool);
      return {memory, memory->get()};
    }
    /// Null where there is none.
    static std::shared_ptr<detail::arena_bytes> memory_of(std::uint64_t size) {
      // Where the system promises more than it has, the file of a terabyte that takes no room would take all there is.
      const auto all =
          static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
      if (size > all) return nullptr;
      try {
        return std::make_shared<detail::arena_bytes>(size, parameter_alignment);  // `deploy` copies nothing
      } catch (const std::bad_alloc&) {
        return nullptr;
      }
    }
  };

  static constexpr const char* wrong_bool = "contains a BOOL that is neither 0 nor 1";

  safetensors() = default;

  /// Any other value would be undefined behaviour when it is read as a bool.
  static bool are_values(element type, std::span<const std::byte> values) {
    return type != element::boolean || std::ranges::all_of(values, [](std::byte b) { return b <= std::byte{1}; });
  }

  /// The header's size, which the first bytes of a file of `size` bytes say.
  static std::uint64_t announced_header(std::span<const std::byte> first, std::uint64_t size, std::string_view file) {
    static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");
    const auto fail = [&](const std::string& what) { throw error(std::string(file) + ": " + what); };

    std::uint64_t header_size = 0;
    if (size < sizeof header_size)
      fail("is only " + std::to_string(size) + " bytes long, too short for a safetensors file");
    std::memcpy(&header_size, first.data(), sizeof header_size);
    if (header_size > largest_header)
      fail("announces a header of " + std::to_string(header_size) + " bytes; at most " +
           std::to_string(largest_header) + " are accepted");
    if (header_size > size - sizeof header_size)
      fail("announces a header of " + std::to_string(header_size) + " bytes but has only " +
           std::to_string(size - sizeof header_size) + " left");
    return header_size;
  }

  /// `data` is null where it is on disk.
  void parse(std::string_view header, const std::byte* data, std::uint64_t data_size, std::string_view file) {
    if (!header.starts_with('{')) throw error(std::string(file) + ": its header does not start with '{'");
    std::vector<range> ranges;
    detail::safetensors_json json(header, file);
    json.object([&](std::string name) {
      if (name == "__metadata__")
        json.object([&](std::string key) { metadata_.emplace(std::move(key), json.string()); });
      else
        ranges.push_back(read_tensor(json, std::move(name), data, data_size, file));
    });
    json.end();
    check_no_holes(std::move(ranges), data_size, file);
  }

  /// Reads one `{"dtype": ..., "shape": [...], "data_offsets": [begin, end]}`.
  range read_tensor(detail::safetensors_json& json, std::string name, const std::byte* data, std::uint64_t data_size,
                    std::string_view file) {
    const auto fail = [&](const std::string& what) {
      throw error(std::string(file) + ": tensor " + detail::printable(name) + ": " + what);
    };
    std::optional<std::string> type_name;
    std::optional<std::vector<std::uint64_t>> extents, offsets;
    json.object([&](const std::string& key) {
      if (key == "dtype")
        type_name = json.string();
      else if (key == "shape")
        extents = json.numbers();
      else if (key == "data_offsets")
        offsets = json.numbers();
      else
        fail("has the unknown field " + detail::printable(key));
    });
    if (!type_name) fail("has no dtype");
    if (!extents) fail("has no shape");
    if (!offsets) fail("has no data_offsets");

    stored_tensor tensor;
    tensor.type = element_named(*type_name);
    if (tensor.type == element::other) fail("is of type " + detail::printable(*type_name) + ", which is not supported");
    if (extents->size() > shape::max_rank)
      fail("has " + std::to_string(extents->size()) + " dimensions; at most " + std::to_string(shape::max_rank) +
           " are supported");
    std::uint64_t size = size_of(tensor.type);
    tensor.extents.rank = extents->size();
    for (std::size_t axis = 0; axis < extents->size(); ++axis) {
      const std::uint64_t extent = tensor.extents.extents[axis] = (*extents)[axis];
      if (extent != 0 && size > std::numeric_limits<std::uint64_t>::max() / extent)
        fail("its size in bytes is out of range");
      size *= extent;
    }
    if (offsets->size() != 2) fail("its data_offsets are not two numbers");
    const std::uint64_t begin = (*offsets)[0], end = (*offsets)[1];
    const std::string place = "data_offsets [" + std::to_string(begin) + ", " + std::to_string(end) + "]";
    if (begin > end) fail(place + " end before they begin");
    if (end > data_size)
      fail(place + " lie outside the " + std::to_string(data_size) + " bytes of data that the file has");
    if (end - begin != size)
      fail(place + " do not hold the " + std::to_string(size) + " bytes that its shape and type need");
    if (data != nullptr) {
      tensor.data = data + begin;
      if (!are_values(tensor.type, {data + begin, size})) fail(wrong_bool);
    }
    const auto at = tensors_.emplace(std::move(name), stored_place{tensor, begin, size}).first;
    return {begin, end, at->first};
  }

  static void check_no_holes(std::vector<range> ranges, std::uint64_t size, std::string_view file) {
    std::ranges::sort(
        ranges, [](const range& a, const range& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
    std::uint64_t end = 0;
    for (const range& r : ranges) {
      if (r.begin != end)
        throw error(std::string(file) + ": tensor " + detail::printable(r.name) + ": its data starts at byte " +
                    std::to_string(r.begin) + (r.begin < end ? " inside" : ", after a hole behind") +
                    " the data before it, which ends at byte " + std::to_string(end));
      end = r.end;
    }
    if (end != size)
      throw error(std::string(file) + ": " + std::to_string(size - end) + " bytes at its end belong to no tensor");
  }

  static element element_named(std::string_view name) {
    constexpr std::pair<std::string_view, element> names[] = {
        {"F16", element::f16},     {"BF16", element::bf16}, {"F32", element::f32}, {"F64", element::f64},
        {"U8", element::u8},       {"I8", element::i8},     {"U16", element::u16}, {"I16", element::i16},
        {"U32", element::u32},     {"I32", element::i32},   {"U64", element::u64}, {"I64", element::i64},
        {"BOOL", element::boolean}};
    const auto at = std::ranges::find(names, name, &std::pair<std::string_view, element>::first);
    return at == std::end(names) ? element::other : at->second;
  }

  std::map<std::string, stored_place, std::less<>> tensors_;
  std::unique_ptr<on_disk> disk_;  // null where it is in memory
  std::map<std::string, std::string, std::less<>> metadata_;
};

}  // namespace levada
