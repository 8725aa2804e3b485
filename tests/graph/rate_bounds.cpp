// SPDX-License-Identifier: Apache-2.0
// Generated rate graphs as values: branches in a line and in forks inside each other. A simulation that counts items says whether they
// can meet, what they give, and how many wait; the bounds say the same, or no less.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/rate_bounds.hpp>

using namespace levada;

namespace {

/// A part of a branch: a rate, or a fork of branches that are joined.
struct part {
  enum { groups, firsts, windows, fork } kind = groups;
  std::int64_t takes = 1, gives = 1, chunk = 1;  ///< of windows: step, size, and the chunk's samples
  bool short_at_end = false;
  std::vector<std::vector<part>> branches;
};
using branch = std::vector<part>;

// ---- by bounds ----

struct verdict {
  bool balanced = true;
  rate_bounds bounds{};
  std::vector<std::size_t> rooms;  ///< of all forks, in order of their parts
};

verdict judged(const branch& of) {
  verdict all;
  for (const part& p : of) {
    rate_bounds here;
    if (p.kind == part::groups) here = bounds_of_groups(p.takes, p.gives, p.short_at_end);
    if (p.kind == part::firsts) here = bounds_of_firsts(p.takes);
    if (p.kind == part::windows) here = bounds_of_windows(p.gives, p.takes, p.chunk, p.short_at_end);
    if (p.kind == part::fork) {
      std::vector<rate_bounds> each;
      std::vector<std::size_t> inner;
      for (const branch& b : p.branches) {
        const verdict v = judged(b);
        all.balanced = all.balanced && v.balanced;
        each.push_back(v.bounds);
        inner.insert(inner.end(), v.rooms.begin(), v.rooms.end());
      }
      all.balanced = all.balanced && unbalanced_branch(each) == each.size();
      for (std::size_t i = 0; i < each.size(); ++i) all.rooms.push_back(waiting_room(each, i));
      all.rooms.insert(all.rooms.end(), inner.begin(), inner.end());
      here = joined(each);
    }
    all.bounds = behind(all.bounds, here);
  }
  return all;
}

// ---- by counting ----

class counted_part {
 public:
  explicit counted_part(const part& of) : of_(of) {
    for (const branch& b : of.branches) {
      lines_.emplace_back();
      for (const part& p : b) lines_.back().emplace_back(p);
    }
    waiting_.resize(lines_.size());
    most_.resize(lines_.size());
  }

  /// How many it gives for one more item.
  std::int64_t take() {
    if (of_.kind == part::groups) {
      if (++have_ < of_.takes) return 0;
      have_ = 0;
      return of_.gives;
    }
    if (of_.kind == part::firsts) return have_++ % of_.takes == 0 ? 1 : 0;
    if (of_.kind == part::windows) {
      std::int64_t given = 0;
      for (std::int64_t i = 0; i < of_.chunk; ++i) {
        if (skip_ > 0) {
          --skip_;
        } else if (++have_ == of_.gives) {
          ++given;
          gave_ = true;
          have_ = std::max<std::int64_t>(0, of_.gives - of_.takes);
          skip_ = std::max<std::int64_t>(0, of_.takes - of_.gives);
        }
      }
      return given;
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) wait(i, pass(lines_[i], 1));
    return meet();
  }
  /// How many it gives short.
  std::int64_t end() {
    if (of_.kind == part::groups) return of_.short_at_end && have_ > 0 ? 1 : 0;
    if (of_.kind == part::firsts) return 0;
    if (of_.kind == part::windows)
      return of_.short_at_end && have_ > (gave_ ? std::max<std::int64_t>(0, of_.gives - of_.takes) : 0) ? 1 : 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) wait(i, end(lines_[i]));
    return meet();
  }
  static std::int64_t pass(std::vector<counted_part>& line, std::int64_t count, std::size_t from = 0) {
    if (from == line.size()) return count;
    std::int64_t given = 0;
    for (; count > 0; --count) given += pass(line, line[from].take(), from + 1);
    return given;
  }
  static std::int64_t end(std::vector<counted_part>& line) {
    std::int64_t given = 0;
    for (std::size_t p = 0; p < line.size(); ++p) given += pass(line, line[p].end(), p + 1);
    return given;
  }
  void add_most(std::vector<std::size_t>& to) const {
    for (const std::int64_t m : most_) to.push_back(static_cast<std::size_t>(m));
    for (const auto& line : lines_)
      for (const counted_part& p : line) p.add_most(to);
  }

 private:
  void wait(std::size_t i, std::int64_t more) {
    waiting_[i] += more;
    most_[i] = std::max(most_[i], waiting_[i]);
  }
  std::int64_t meet() {
    const std::int64_t together = *std::min_element(waiting_.begin(), waiting_.end());
    for (std::int64_t& w : waiting_) w -= together;
    return together;
  }

  part of_;
  std::int64_t have_ = 0, skip_ = 0;
  bool gave_ = false;  ///< a window
  std::vector<std::vector<counted_part>> lines_;
  std::vector<std::int64_t> waiting_, most_;
};

/// Some room is fuller each time that twice as many items have come.
bool piles_up(std::vector<counted_part>& line) {
  std::vector<std::size_t> before, last;
  for (int n = 64; n <= 1 << 16; n *= 2) {
    for (int i = n / 2; i < n; ++i) static_cast<void>(counted_part::pass(line, 1));
    std::vector<std::size_t> now;
    for (const counted_part& p : line) p.add_most(now);
    for (std::size_t i = 0; n >= 256 && i < now.size(); ++i)
      if (now[i] > last[i] && last[i] > before[i]) return true;
    before = std::exchange(last, std::move(now));
  }
  return false;
}

// ---- generated ----

class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}

  branch line(int depth) {
    branch b;
    for (std::int64_t parts = below(4); parts > 0; --parts) b.push_back(some_part(depth));
    return b;
  }

 private:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<unsigned>(n)); }

  part some_part(int depth) {
    part p;
    const std::int64_t which = below(depth > 0 ? 4 : 3);
    if (which == 0) p = {part::groups, 1 + below(4), 1 + below(4), 1, below(2) == 0, {}};
    if (which == 0 && p.gives != 1) p.short_at_end = false;
    if (which == 1) p = {part::firsts, 1 + below(4), 1, 1, false, {}};
    if (which == 2) p = {part::windows, 1 + below(5), 1 + below(8), 1 + below(5), below(2) == 0, {}};
    if (which == 3) {
      p.kind = part::fork;
      for (std::int64_t branches = 2 + below(2); branches > 0; --branches) p.branches.push_back(line(depth - 1));
      if (below(4) != 0) make_equal(p.branches);
    }
    return p;
  }
  /// Brings the branches to one rate, where each by itself has one.
  void make_equal(std::vector<branch>& branches) {
    const verdict first = judged(branches[0]);
    if (!first.balanced) return;
    for (branch& b : branches) {
      const verdict own = judged(b);
      if (!own.balanced) return;
      const rational missing = first.bounds.slope * rational(own.bounds.slope.d, own.bounds.slope.n);
      if (!(missing == rational(1))) b.push_back({part::groups, missing.d, missing.n, 1, false, {}});
    }
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("5,000 generated rate graphs are accepted, give and wait as a simulation of them does") {
  int accepted = 0, refused = 0, wrong = 0;
  std::int64_t exact = 0, rooms = 0;
  for (unsigned seed = 1; accepted + refused < 5000; ++seed) {
    const branch all = generator(seed).line(2);
    const verdict said = judged(all);
    if (said.rooms.empty()) continue;  // no fork
    std::vector<counted_part> line;
    for (const part& p : all) line.emplace_back(p);

    std::int64_t given = 0, off = 0;
    for (int n = 1; n <= 600 && given < 20'000; ++n) {
      given += counted_part::pass(line, 1);
      const rational at(given), slope = said.bounds.slope * rational(n);
      off += at + said.bounds.lag < slope || slope + said.bounds.lead < at ? 1 : 0;
    }
    if (!said.balanced) {
      ++refused;
      wrong += piles_up(line) ? 0 : 1;
      continue;
    }
    ++accepted;
    given += counted_part::end(line);
    std::vector<std::size_t> most;
    for (const counted_part& p : line) p.add_most(most);
    REQUIRE(most.size() == said.rooms.size());
    bool fits = off == 0;
    for (std::size_t i = 0; i < most.size(); ++i) {
      fits = fits && most[i] <= said.rooms[i];
      exact += most[i] == said.rooms[i] ? 1 : 0;
      ++rooms;
    }
    wrong += fits ? 0 : 1;
  }
  CHECK(wrong == 0);
  MESSAGE(accepted << " accepted, " << refused << " refused; of " << rooms << " rooms " << exact
                   << " filled to the last place");
  CHECK(accepted > 1000);
  CHECK(refused > 500);
}
