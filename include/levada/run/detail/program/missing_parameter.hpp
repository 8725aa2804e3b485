// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/missing_parameter.hpp: the message for a parameter that its source lacks: the names that are
// nearest, and all, as far as they go on a page.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <levada/graph/detail/parameters.hpp>
#include <levada/plan/detail/words.hpp>

namespace levada::detail {

/// A stored name in a message: short, on one line.
template <class = void>
inline std::string quoted_name(std::string_view name) {
  constexpr std::size_t longest = 80;
  std::string text = "\"";
  append_printable(text, name.substr(0, longest));
  return text += name.size() > longest ? "...\"" : "\"";
}

/// The names of a source, looked through for those that are nearest to a missing one and for all, as far as they go on
/// a page.
template <class = void>
class basic_names_of_source {
 public:
  basic_names_of_source(const parameter_source_ref& source, std::string_view wanted, std::string_view other)
      : wanted_(wanted), other_(other) {
    known_ = source.each_name(
        this, [](void* to, std::string_view name) { static_cast<basic_names_of_source*>(to)->take(name); });
  }

  /// `; nearest: "a", "b", "c"; all 40: "a", ... and 8 more`; nothing where the source cannot tell.
  std::string text() const {
    if (!known_) return "";
    if (count_ == 0) return "; it has none";
    std::string text = "; nearest: ";
    for (std::size_t i = 0; i < std::min(nearest, count_); ++i) text += (i != 0 ? ", " : "") + quoted_name(near_[i]);
    text += "; all " + std::to_string(count_) + ": " + all_;
    return count_ <= spelled ? text : text + " and " + std::to_string(count_ - spelled) + " more";
  }

 private:
  static constexpr std::size_t nearest = 3, spelled = 32, compared = 80;

  void take(std::string_view name) {
    const std::size_t distance = std::min(distance_from(wanted_, name), distance_from(other_, name));
    std::size_t place = std::min(nearest, count_);
    while (place > 0 && distances_[place - 1] > distance) --place;
    for (std::size_t k = std::min(nearest - 1, count_); k > place; --k)
      distances_[k] = distances_[k - 1], near_[k] = near_[k - 1];
    if (place < nearest) distances_[place] = distance, near_[place] = name;
    if (count_++ < spelled) all_ += (count_ != 1 ? ", " : "") + quoted_name(name);
  }

  /// How many characters have to be changed, added or left out to make one of the other (Levenshtein), of the first
  /// `compared`. The same with something before it ("model.fc.weight" for "fc.weight") is nearest.
  static std::size_t distance_from(std::string_view wanted, std::string_view name) {
    const std::string_view outer = wanted.size() < name.size() ? name : wanted;
    const std::string_view inner = wanted.size() < name.size() ? wanted : name;
    if (inner.empty()) return outer.size();
    if (outer.size() > inner.size() && outer.ends_with(inner) && outer[outer.size() - inner.size() - 1] == '.')
      return 1;
    const std::string_view a = outer.substr(0, compared), b = inner.substr(0, compared);
    std::size_t row[compared + 1];
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= b.size(); ++j) {
        const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min(changed, std::min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.size()];
  }

  std::string_view wanted_, other_;
  bool known_ = false;
  std::size_t count_ = 0, distances_[nearest]{};
  std::string near_[nearest], all_;
};
using names_of_source = basic_names_of_source<>;

}  // namespace levada::detail
