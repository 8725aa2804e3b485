// SPDX-License-Identifier: Apache-2.0
// Generated rate graphs as values: branches in a line and in forks inside each other. A simulation that counts items
// says whether they can meet, what they give, and how many wait; the bounds say the same, or no less, and the rings are
// not larger than they have to be.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/detail/buffer_capacity.hpp>

#include <sanitizer.hpp>

using namespace levada;

namespace {

/// A part of a branch: a rate, or a fork of branches that are joined.
struct part {
  rate_rule rule;
  std::vector<std::vector<part>> branches;  ///< none: a rate
};
using branch = std::vector<part>;

// ---- by bounds ----

struct verdict {
  bool balanced = true;
  rate_bounds bounds{};
  std::vector<ring_size> rings;        ///< of all forks, in order of their parts
  std::vector<std::size_t> bounded;    ///< the same by bounds alone
  std::vector<std::int64_t> horizons;  ///< items of each ring's fork until all repeats itself
};

std::int64_t given_by(const branch& of, std::int64_t n, bool ended) {
  for (const part& p : of) {
    if (p.branches.empty()) {
      n = p.rule.given(n, ended);
      continue;
    }
    std::int64_t least = given_by(p.branches[0], n, ended);
    for (const branch& b : p.branches) least = std::min(least, given_by(b, n, ended));
    n = least;
  }
  return n;
}

void append(verdict& to, const verdict& inner) {
  to.rings.insert(to.rings.end(), inner.rings.begin(), inner.rings.end());
  to.bounded.insert(to.bounded.end(), inner.bounded.begin(), inner.bounded.end());
  to.horizons.insert(to.horizons.end(), inner.horizons.begin(), inner.horizons.end());
}

verdict judged(const branch& of) {
  verdict all;
  for (const part& p : of) {
    if (p.branches.empty()) {
      all.bounds = behind(all.bounds, p.rule.bounds());
      continue;
    }
    std::vector<rate_bounds> each;
    verdict inner;
    for (const branch& b : p.branches) {
      const verdict v = judged(b);
      all.balanced = all.balanced && v.balanced;
      each.push_back(v.bounds);
      append(inner, v);
    }
    const bool balanced = unbalanced_branch(each) == each.size();
    all.balanced = all.balanced && balanced;
    for (std::size_t i = 0; i < each.size(); ++i) {
      all.bounded.push_back(waiting_room(each, i));
      all.horizons.push_back(levada::detail::counted_items(joined(each)));
      all.rings.push_back(!balanced ? ring_size{}
                                    : ring_of_branch(each, i, [&](std::size_t k, std::int64_t n, bool ended) {
                                        return given_by(p.branches[k], n, ended);
                                      }));
    }
    append(all, inner);
    all.bounds = behind(all.bounds, joined(each));
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
    const auto& [kind, takes, gives, size, short_at_end] = of_.rule;
    if (lines_.empty()) {
      if (kind == rate_rule::groups) {
        if (++have_ < takes) return 0;
        have_ = 0;
        return gives;
      }
      if (kind == rate_rule::firsts) return have_++ % takes == 0 ? 1 : 0;
      std::int64_t given = 0;
      for (std::int64_t i = 0; i < gives; ++i) {
        if (skip_ > 0) {
          --skip_;
        } else if (++have_ == size) {
          ++given;
          gave_ = true;
          have_ = std::max<std::int64_t>(0, size - takes);
          skip_ = std::max<std::int64_t>(0, takes - size);
        }
      }
      return given;
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) wait(i, pass(lines_[i], 1));
    return meet();
  }
  /// How many it gives short.
  std::int64_t end() {
    const auto& [kind, takes, gives, size, short_at_end] = of_.rule;
    if (lines_.empty()) {
      if (!short_at_end) return 0;
      if (kind == rate_rule::groups) return have_ > 0 ? 1 : 0;
      return have_ > (gave_ ? std::max<std::int64_t>(0, size - takes) : 0) ? 1 : 0;
    }
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

// ---- with rings of a given size, pausing where they are full ----

class paused_part {
 public:
  paused_part(const part& of, std::vector<std::size_t>& rings) : of_(of) {
    first_ring_ = rings.size();
    rings.resize(rings.size() + of.branches.size());
    waiting_.resize(of.branches.size());
    for (const branch& b : of.branches) lines_.push_back(line_of(b, rings));
  }
  static std::vector<paused_part> line_of(const branch& of, std::vector<std::size_t>& rings) {
    // As `judged` does: the rings of a fork before those inside it, and both before those of a later part.
    std::vector<paused_part> line;
    for (const part& p : of) line.emplace_back(p, rings);
    if (of.empty()) line.emplace_back(part(), rings);  // gives what it takes
    return line;
  }

  bool is_idle() const {
    if (pending_ != 0 || meets()) return false;
    for (const auto& line : lines_)
      for (const paused_part& p : line)
        if (!p.is_idle()) return false;
    return true;
  }
  void take() {
    ++taken_;
    if (lines_.empty()) pending_ = of_.rule.given(taken_, false) - of_.rule.given(taken_ - 1, false);
    for (auto& line : lines_) line[0].take();
  }
  /// Does what can be done inside; says how much that was.
  int move(const std::vector<std::size_t>& rooms) {
    int moves = 0;
    for (std::size_t b = 0; b < lines_.size(); ++b)
      moves += move(lines_[b], rooms, [&] { return waiting_[b] < rooms[first_ring_ + b] && ++waiting_[b] != 0; });
    if (pending_ == 0 && meets()) {
      for (std::size_t& w : waiting_) --w;
      pending_ = 1;
      ++moves;
    }
    return moves;
  }
  template <class Last>
  static int move(std::vector<paused_part>& line, const std::vector<std::size_t>& rooms, const Last& last) {
    int moves = 0;
    for (std::size_t p = line.size(); p-- > 0;) {
      moves += line[p].move(rooms);
      if (line[p].pending_ == 0) continue;
      if (p + 1 == line.size() ? !last() : !line[p + 1].is_idle()) continue;
      if (p + 1 < line.size()) line[p + 1].take();
      --line[p].pending_;
      ++moves;
    }
    return moves;
  }
  void add_taken(std::vector<std::int64_t>& to) const {
    for (std::size_t b = 0; b < lines_.size(); ++b) to.push_back(taken_);
    for (const auto& line : lines_)
      for (const paused_part& p : line) p.add_taken(to);
  }

 private:
  bool meets() const {
    return !lines_.empty() && std::all_of(waiting_.begin(), waiting_.end(), [](std::size_t w) { return w != 0; });
  }

  part of_;
  std::int64_t taken_ = 0, pending_ = 0;
  std::vector<std::vector<paused_part>> lines_;
  std::vector<std::size_t> waiting_;
  std::size_t first_ring_ = 0;
};

/// Some items go in until nothing moves any more, or as many as can be looked at. Says whether they are stuck inside,
/// and how many each ring's fork has taken.
bool gets_stuck(const branch& of, const std::vector<std::size_t>& rooms, std::vector<std::int64_t>& taken) {
  std::vector<std::size_t> rings;
  std::vector<paused_part> line = paused_part::line_of(of, rings);
  int left = 40, more = 1;
  for (int moves = 0; more != 0 && moves < 20'000; moves += more) {
    more = paused_part::move(line, rooms, [] { return true; });
    if (left == 0 || !line[0].is_idle()) continue;
    line[0].take();
    --left, ++more;
  }
  taken.clear();
  for (const paused_part& p : line) p.add_taken(taken);
  return more == 0 &&
         (left != 0 || !std::all_of(line.begin(), line.end(), [](const paused_part& p) { return p.is_idle(); }));
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
    if (which == 0) p.rule = {rate_rule::groups, 1 + below(4), 1 + below(4), 1, below(2) == 0};
    if (p.rule.gives != 1) p.rule.short_at_end = false;
    if (which == 1) p.rule = {rate_rule::firsts, 1 + below(4), 1, 1, false};
    if (which == 2) p.rule = {rate_rule::windows, 1 + below(5), 1 + below(5), 1 + below(8), below(2) == 0};
    if (which == 3) {
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
      if (!(missing == rational(1))) b.push_back({{rate_rule::groups, missing.d, missing.n, 1, false}, {}});
    }
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("5,000 generated rate graphs are accepted, give and wait as a simulation of them does") {
  constexpr unsigned count = 5000 / levada::test::sparse;
  unsigned accepted = 0, refused = 0, wrong = 0, stuck = 0;
  std::size_t rings = 0, full = 0, smaller = 0, least = 0;
  for (unsigned seed = 1; accepted + refused < count; ++seed) {
    const branch all = generator(seed).line(2);
    const verdict said = judged(all);
    if (said.rings.empty()) continue;  // no fork
    CAPTURE(seed);
    std::vector<counted_part> line;
    for (const part& p : all) line.emplace_back(p);

    std::int64_t given = 0, off = 0;
    std::vector<std::size_t> most(said.rings.size());
    const auto note = [&](const std::vector<counted_part>& of) {
      std::vector<std::size_t> now;
      for (const counted_part& p : of) p.add_most(now);
      for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], now[i]);
    };
    for (int n = 1; n <= 600 && given < 20'000; ++n) {
      given += counted_part::pass(line, 1);
      const rational at(given), slope = said.bounds.slope * rational(n);
      off += at + said.bounds.lag < slope || slope + said.bounds.lead < at ? 1 : 0;
      off += given_by(all, n, false) != given;
      if (!said.balanced || n > 64) continue;
      std::vector<counted_part> ends = line;
      off += given_by(all, n, true) != given + counted_part::end(ends);
      note(ends);
    }
    if (!said.balanced) {
      ++refused;
      wrong += piles_up(line) ? 0 : 1;
      continue;
    }
    ++accepted;
    note(line);
    bool fits = off == 0;
    for (std::size_t i = 0; i < most.size(); ++i) {
      const std::size_t room = said.rings[i].room;
      fits = fits && most[i] <= room && room <= said.bounded[i] && said.rings[i].least <= room;
      full += most[i] == room;
      smaller += room < said.bounded[i];
      // A fork at the head has had every number of items: nothing is larger than it has to be.
      if (!all[0].branches.empty() && i < all[0].branches.size() && said.horizons[i] <= 64)
        fits = fits && most[i] == room;
      ++rings;
    }
    wrong += fits ? 0 : 1;

    std::vector<std::size_t> rooms;
    for (const ring_size& r : said.rings) rooms.push_back(r.least);
    std::vector<std::int64_t> taken, other;
    stuck += gets_stuck(all, rooms, taken);
    for (std::size_t i = 0; i < rooms.size(); ++i) {
      if (rooms[i] == 1 || taken[i] < said.horizons[i]) continue;
      ++least;
      --rooms[i];
      stuck += !gets_stuck(all, rooms, other);
      ++rooms[i];
    }
  }
  CHECK(stuck == 0);
  CHECK(wrong == 0);
  MESSAGE(accepted << " accepted, " << refused << " refused; of " << rings << " rings " << full
                   << " filled to the last place, " << smaller << " smaller than their bounds; " << least
                   << " of more than one place get stuck with one less");
  CHECK(accepted > count / 5);
  CHECK(refused > count / 10);
  CHECK(least > count / 10);
}
