// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/saved_plan.hpp: the JSON of a saved plan, read by nlohmann-json. Any bytes at all are a plan's JSON or a
// levada::error.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <levada/core/error.hpp>

namespace levada::detail {

/// What of a plan's JSON is compared.
struct saved_plan {
  std::string line;
  std::optional<std::string> machine;
  std::string costs;
};

/// Takes the texts of the outer object from the parser, and nothing of the report: what a hostile file makes grow is no
/// more than its own text.
class saved_plan_json {
 public:
  static constexpr std::size_t deepest = 64;

  explicit saved_plan_json(std::string_view file) : file_(file) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw error("levada: plan: \"" + std::string(file_) + "\" " + why);
  }
  saved_plan found() && {
    if (!texts_[0]) fail("is no saved plan: it has no text \"plan\"");
    return {std::move(*texts_[0]), std::move(texts_[1]), std::move(texts_[2]).value_or("")};
  }

  // The names and types of these are nlohmann-json's.
  bool null() { return other(); }
  bool boolean(bool) { return other(); }
  bool number_integer(std::int64_t) { return other(); }
  bool number_unsigned(std::uint64_t) { return other(); }
  bool number_float(double, const std::string&) { return other(); }
  bool binary(nlohmann::json::binary_t&) { return other(); }
  bool string(std::string& value) {
    if (depth_ != 1 || !field_) return other();
    if (texts_[*field_]) fail("has the text \"" + std::string(names[*field_]) + "\" twice");
    texts_[*field_] = std::move(value);
    return true;
  }
  bool start_object(std::size_t) { return enter(); }
  bool start_array(std::size_t) { return enter(); }
  bool end_object() { return --depth_, true; }
  bool end_array() { return --depth_, true; }
  bool key(const std::string& name) {
    if (depth_ != 1) return true;
    const auto at = std::find(std::begin(names), std::end(names), name);
    field_ = at == std::end(names) ? std::nullopt : std::optional(static_cast<std::size_t>(at - std::begin(names)));
    return true;
  }
  template <class Error>
  bool parse_error(std::size_t position, const std::string&, const Error&) {
    fail("is no JSON from its byte " + std::to_string(position) + " on");
  }

 private:
  static constexpr std::string_view names[] = {"plan", "machine", "costs"};

  bool enter() {
    other();
    if (++depth_ > deepest) fail("is nested deeper than " + std::to_string(deepest));
    return true;
  }
  bool other() const {
    if (depth_ == 0) return true;
    if (depth_ == 1 && field_) fail("is no saved plan: its \"" + std::string(names[*field_]) + "\" is no text");
    return true;
  }

  std::string_view file_;
  std::size_t depth_ = 0;
  std::optional<std::size_t> field_;  // of the outer object, where its name is one of ours
  std::optional<std::string> texts_[std::size(names)];
};

/// What a plan's JSON says. Throws levada::error that names the file and what is wrong for all else.
inline saved_plan read_saved_plan(std::string_view json, std::string_view file) {
  saved_plan_json reader(file);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  return std::move(reader).found();
}

}  // namespace levada::detail
