// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/preemptions.hpp: all schedules with at most so many preemptions, one after the other (Musuvathi, Qadeer,
// PLDI 2007). Most faults of concurrent programs need two or three.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace levada::test {

/// A search through a tree of choices, depth first. An execution asks for each choice in turn; `next` makes the next
/// execution take another way.
class preemption_search {
 public:
  explicit preemption_search(int most) : most_(most) {}

  /// Which of `count` ready threads runs. `preempts`: all but the first do so in place of one that could go on.
  std::size_t choose(std::size_t count, bool preempts) {
    if (count == 1 || (preempts && used_ == most_)) return 0;
    if (at_ == path_.size()) path_.push_back({count, at_ < taken_again_.size() ? taken_again_[at_] : 0, preempts});
    const choice& c = path_[at_++];
    if (c.count != count || c.preempts != preempts) is_same_ = false;
    if (preempts && c.taken != 0) ++used_;
    return c.taken < count ? c.taken : 0;
  }
  /// The execution has met the same choices as the one before it, up to where they part.
  bool is_same() const { return is_same_ && at_ == path_.size(); }

  /// Goes to the next schedule; false: that was the last.
  bool next() {
    for (; !path_.empty(); path_.pop_back()) {
      choice& c = path_.back();
      if (c.preempts && c.taken != 0) --used_;
      if (c.taken + 1 < c.count && !(c.preempts && used_ == most_)) {
        ++c.taken;
        used_ = 0, at_ = 0;
        return true;
      }
    }
    return false;
  }

  /// How to come to this schedule again: what was taken at each choice.
  std::string text() const {
    std::string t;
    for (std::size_t i = 0; i < at_; ++i) t += static_cast<char>('0' + path_[i].taken);
    return t.substr(0, t.find_last_not_of('0') + 1);
  }
  void take_again(const std::string& text) {
    for (const char c : text) taken_again_.push_back(static_cast<std::size_t>(c - '0'));
  }

 private:
  struct choice {
    std::size_t count, taken;
    bool preempts;
  };

  const int most_;
  std::vector<choice> path_;
  std::vector<std::size_t> taken_again_;
  std::size_t at_ = 0;  ///< the choice that comes next
  int used_ = 0;        ///< preemptions before it
  bool is_same_ = true;
};

}  // namespace levada::test
