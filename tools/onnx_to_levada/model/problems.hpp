// SPDX-License-Identifier: Apache-2.0
#pragma once
// model/problems.hpp: everything that is wrong with a model, in one message.

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "error.hpp"

namespace levada::onnx {

class problems {
 public:
  /// The first 64 are kept.
  void add(const std::string& text) {
    ++count_;
    if (lines_.size() < 64) lines_.push_back(text);
  }
  /// A node of an op that is not supported: said once for all of that op, with their number and the first.
  void add_op(const std::string& op, const std::string& node) {
    ++count_;
    auto& [count, first] = ops_[op];
    if (count++ == 0) first = node;
  }
  std::size_t count() const { return count_; }
  bool empty() const { return count_ == 0; }

  /// Throws a `conversion_error` of all of them; `behind` stands behind the names of ops.
  void throw_any(const std::string& behind = "") const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    for (const auto& [op, where] : ops_)
      text += "unsupported op " + op + behind + ", " + std::to_string(where.first) +
              (where.first == 1 ? " time: \"" : " times, first: \"") + where.second + "\"\n";
    if (text.empty()) return;
    text.pop_back();
    throw conversion_error(text);
  }

 private:
  std::size_t count_ = 0;
  std::vector<std::string> lines_;
  std::map<std::string, std::pair<std::size_t, std::string>> ops_;
};

}  // namespace levada::onnx
