// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/infer_request.hpp: a ModelInferRequest of the Open Inference Protocol, read from its message. Numbers
// in typed contents become the bytes that raw contents are, so that behind this there is one form.

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <levada/service/detail/model.hpp>
#include <levada/service/detail/protobuf.hpp>

namespace levada::detail {

/// Its memory is used again by the next. It refers to the message.
class infer_request {
 public:
  std::size_t items() const { return items_; }
  std::string_view id() const { return id_; }
  /// The bytes of all items of each input of the model.
  std::span<const std::span<const std::byte>> inputs() const { return contents_; }
  /// Which outputs of the model are asked for, in that order.
  std::span<const std::size_t> outputs() const { return outputs_; }
  /// Of the sequence that it belongs to; empty: to none.
  std::string_view sequence() const { return sequence_; }
  bool starts_sequence() const { return starts_; }
  bool ends_sequence() const { return ends_; }

  /// Throws refusal, and wire_error where that is no such message.
  void read(std::span<const std::byte> message, const served_model& model) {
    id_ = sequence_ = {};
    starts_ = ends_ = false;
    given_.clear();
    raw_.clear();
    outputs_.clear();
    std::string_view name, version;
    for (protobuf_reader from(message); from.next();) switch (from.field()) {
        case 1:
          name = from.text();
          break;
        case 2:
          version = from.text();
          break;
        case 3:
          id_ = from.text();
          break;
        case 4:
          read_parameter(from.bytes());
          break;
        case 5:
          read_input(from.bytes());
          break;
        case 6:
          read_output(from.bytes(), model);
          break;
        case 7:
          raw_.push_back(from.bytes());
          break;
        default:
          break;
      }
    model.check(name, version);
    if (outputs_.empty())
      for (std::size_t i = 0; i < model.outputs.size(); ++i) outputs_.push_back(i);
    match_inputs(model);
  }

 private:
  /// An input as it came.
  struct given_input {
    std::string_view name, datatype;
    std::array<std::int64_t, shape::max_rank + 1> extents{};
    std::size_t rank = 0;
    std::span<const std::byte> contents;
    bool has_contents = false;
  };

  [[noreturn]] static void refuse(std::string why) { throw refusal{status_code::invalid_argument, std::move(why)}; }
  static std::string quoted(std::string_view name) { return '"' + std::string(name) + '"'; }

  void read_parameter(std::span<const std::byte> entry) {
    std::string_view key;
    std::span<const std::byte> value;
    for (protobuf_reader from(entry); from.next();) {
      if (from.field() == 1) key = from.text();
      if (from.field() == 2) value = from.bytes();
    }
    if (!key.starts_with("sequence_")) return;
    for (protobuf_reader from(value); from.next();) {
      if (key == "sequence_id") {
        if (from.field() == 3) sequence_ = from.text();
        if (from.field() == 2 || from.field() == 5) name_sequence(from.number());
      } else if (from.field() == 1) {
        if (key == "sequence_start") starts_ = from.number() != 0;
        if (key == "sequence_end") ends_ = from.number() != 0;
      }
    }
  }
  /// By a number; 0 is none.
  void name_sequence(std::uint64_t number) {
    const auto end = std::to_chars(number_text_.data(), number_text_.data() + number_text_.size(), number).ptr;
    sequence_ = number == 0
                    ? std::string_view()
                    : std::string_view(number_text_.data(), static_cast<std::size_t>(end - number_text_.data()));
  }
  void read_output(std::span<const std::byte> message, const served_model& model) {
    std::string_view name;
    for (protobuf_reader from(message); from.next();)
      if (from.field() == 1) name = from.text();
    for (std::size_t i = 0; i < model.outputs.size(); ++i)
      if (model.outputs[i].name == name) {
        if (std::find(outputs_.begin(), outputs_.end(), i) != outputs_.end())
          refuse("output " + quoted(name) + " is asked for twice");
        return outputs_.push_back(i);
      }
    std::string known;
    for (const item_tensor& o : model.outputs) known += (known.empty() ? "" : ", ") + quoted(o.name);
    refuse("the model has no output " + quoted(name) + ": it has " + known);
  }
  void read_input(std::span<const std::byte> message) {
    given_input& in = given_.emplace_back();
    for (protobuf_reader from(message); from.next();) switch (from.field()) {
        case 1:
          in.name = from.text();
          break;
        case 2:
          in.datatype = from.text();
          break;
        case 3:
          from.each_number(protobuf_type::varint, [&](std::uint64_t extent) {
            if (in.rank < in.extents.size()) in.extents[in.rank] = static_cast<std::int64_t>(extent);
            ++in.rank;
          });
          break;
        case 5:
          in.contents = from.bytes();
          in.has_contents = true;
          break;
        default:
          break;
      }
  }

  void match_inputs(const served_model& model) {
    if (given_.size() != model.inputs.size())
      refuse("the model takes " + std::to_string(model.inputs.size()) + " inputs, and the request has " +
             std::to_string(given_.size()));
    if (!raw_.empty() && raw_.size() != given_.size())
      refuse("the request has raw contents of " + std::to_string(raw_.size()) + " inputs, and " +
             std::to_string(given_.size()) + " inputs");
    contents_.resize(model.inputs.size());
    converted_.resize(model.inputs.size());
    items_ = 0;
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      const item_tensor& tensor = model.inputs[i];
      const auto found =
          std::find_if(given_.begin(), given_.end(), [&](const auto& g) { return g.name == tensor.name; });
      if (found == given_.end())
        refuse("the request has no input " + quoted(tensor.name) + ": it has " + quoted(given_.front().name));
      check_type(*found, tensor);
      const std::size_t count = count_items(*found, tensor, model.most_items);
      if (items_ != 0 && count != items_)
        refuse("input " + quoted(tensor.name) + " has " + std::to_string(count) + " items, and others have " +
               std::to_string(items_));
      items_ = count;
      if (raw_.empty()) {
        convert(*found, tensor, converted_[i]);
        contents_[i] = converted_[i];
      } else {
        if (found->has_contents) refuse("input " + quoted(tensor.name) + " has raw contents, and others beside them");
        contents_[i] = raw_[static_cast<std::size_t>(found - given_.begin())];
      }
      check_contents(contents_[i], tensor);
    }
  }
  static void check_type(const given_input& in, const item_tensor& tensor) {
    if (in.datatype != datatype_of(tensor.type))
      refuse("input " + quoted(in.name) + " is " + std::string(in.datatype) + ", and the model takes " +
             std::string(datatype_of(tensor.type)));
  }
  static std::size_t count_items(const given_input& in, const item_tensor& tensor, std::size_t most) {
    bool fits = in.rank == tensor.extents.rank + 1 && in.extents[0] > 0;
    for (std::size_t a = 0; fits && a < tensor.extents.rank; ++a)
      fits = static_cast<std::uint64_t>(in.extents[a + 1]) == tensor.extents.extents[a];
    if (!fits) {
      std::string given = "[";
      for (std::size_t a = 0; a < std::min(in.rank, in.extents.size()); ++a)
        given += (a != 0 ? "," : "") + std::to_string(in.extents[a]);
      refuse("input " + quoted(in.name) + " has the shape " + given + (in.rank > in.extents.size() ? ",...]" : "]") +
             ", and the model takes " + text_of_shape(tensor) + ", whose first axis counts items");
    }
    if (static_cast<std::uint64_t>(in.extents[0]) > most)
      refuse("input " + quoted(in.name) + " has " + std::to_string(in.extents[0]) + " items, and a request may have " +
             std::to_string(most));
    return static_cast<std::size_t>(in.extents[0]);
  }
  void check_contents(std::span<const std::byte> bytes, const item_tensor& tensor) const {
    if (bytes.size() != items_ * tensor.bytes())
      refuse("input " + quoted(tensor.name) + " has " + std::to_string(bytes.size()) + " bytes of contents, and " +
             std::to_string(items_ * tensor.bytes()) + " by its shape");
    if (tensor.type == element::boolean)
      for (const std::byte b : bytes)
        if (std::to_integer<unsigned>(b) > 1) refuse("input " + quoted(tensor.name) + " has a BOOL that is not 0 or 1");
  }

  /// Typed contents, as the bytes of their numbers.
  static void convert(const given_input& in, const item_tensor& tensor, std::vector<std::byte>& to) {
    to.clear();
    const auto numbers = [&]<class T>(std::uint32_t field, T) {
      for (protobuf_reader from(in.contents); from.next();)
        if (from.field() == field) append_numbers<T>(from, tensor, to);
    };
    switch (tensor.type) {
      case element::boolean:
        return numbers(1, bool{});
      case element::i8:
        return numbers(2, std::int8_t{});
      case element::i16:
        return numbers(2, std::int16_t{});
      case element::i32:
        return numbers(2, std::int32_t{});
      case element::i64:
        return numbers(3, std::int64_t{});
      case element::u8:
        return numbers(4, std::uint8_t{});
      case element::u16:
        return numbers(4, std::uint16_t{});
      case element::u32:
        return numbers(4, std::uint32_t{});
      case element::u64:
        return numbers(5, std::uint64_t{});
      case element::f32:
        return numbers(6, float{});
      case element::f64:
        return numbers(7, double{});
      case element::f16:
      case element::bf16:
      case element::other:
        break;
    }
    refuse("input " + quoted(tensor.name) + " is " + std::string(datatype_of(tensor.type)) +
           ", whose contents the protocol has as raw bytes only");
  }
  template <class T>
  static void append_numbers(const protobuf_reader& from, const item_tensor& tensor, std::vector<std::byte>& to) {
    constexpr auto type = std::is_same_v<T, float>    ? protobuf_type::fixed32
                          : std::is_same_v<T, double> ? protobuf_type::fixed64
                                                      : protobuf_type::varint;
    from.each_number(type, [&](std::uint64_t raw) {
      T value;
      if constexpr (std::is_same_v<T, float>) {
        value = std::bit_cast<float>(static_cast<std::uint32_t>(raw));
      } else if constexpr (std::is_same_v<T, double>) {
        value = std::bit_cast<double>(raw);
      } else if constexpr (std::is_same_v<T, bool>) {
        value = raw != 0;
      } else {
        value = static_cast<T>(raw);
        if (static_cast<std::uint64_t>(value) != raw)
          refuse("input " + quoted(tensor.name) + " has a number that is no " + std::string(datatype_of(tensor.type)));
      }
      const auto* const first = reinterpret_cast<const std::byte*>(&value);
      to.insert(to.end(), first, first + sizeof value);
    });
  }

  std::size_t items_ = 0;
  std::string_view id_, sequence_;
  bool starts_ = false, ends_ = false;
  std::array<char, 20> number_text_{};
  std::vector<given_input> given_;
  std::vector<std::span<const std::byte>> raw_, contents_;
  std::vector<std::vector<std::byte>> converted_;
  std::vector<std::size_t> outputs_;
};

}  // namespace levada::detail
