// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plays a plan with labelled bytes instead of data, in the order in which it says its units run: whoever reads a value
// must find every byte of it as it was written for that item. Views and joined values have the bytes of those they are
// made of, copied only where the plan has not let them lie there. Branches that may run at once are played in other
// orders, too.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <levada/plan/detail/plan_info.hpp>
#include <levada/plan/detail/sharing.hpp>

namespace levada::test {

template <std::size_t N>
class plan_checker {
 public:
  explicit plan_checker(const plan_info<N>& plan) : plan_(plan) {}

  /// The first thing found wrong, or nothing.
  std::string first_fault() {
    for (const branch_turns turns : {in_order, backwards, in_turn}) {
      turns_ = turns;
      if (play(); !fault_.empty()) break;
    }
    return fault_;
  }

 private:
  enum branch_turns { in_order, backwards, in_turn };

  std::string play() {
    slots_.assign(items, arena(plan_.slot_bytes, nothing));
    if (plan_.value[0].where != placement::slot) return "the input is in no slot";
    contents_.resize(plan_.value.size());
    for (std::size_t v = 0; v < plan_.value.size(); ++v)
      for (std::size_t byte = 0; byte < plan_.value[v].bytes; ++byte) contents_[v].push_back(v << 24 | byte);
    for (std::size_t i = 0; i < items; ++i) write(0, i);
    for (const planned_segment& s : plan_.segment) {
      segment_ = &s;
      // Items beyond the grain come in another grain: they only must not disturb each other's slots.
      // Branches of an item run at once where it is alone.
      const std::size_t grain = turns_ == in_order ? s.grain : 1;
      for (std::size_t first = 0; first < items; first += grain) run_segment(first, std::min(items, first + grain));
    }
    if (plan_.has_result) {
      const std::size_t result = plan_.graph.result;
      if (plan_.value[result].where != placement::slot) return "the result is in no slot";
      for (std::size_t i = 0; i < items; ++i) expect(result, i);
    }
    return fault_;
  }

  static constexpr std::size_t items = 4;
  using label = std::uint64_t;  // item, the value that it was computed for, byte of it
  using arena = std::vector<label>;
  static constexpr label nothing = ~label{0};
  static label of_item(label content, std::size_t item) { return content | label{item} << 56; }

  /// The arena a value of an item lies in, and where.
  struct location {
    arena* memory;
    std::size_t offset;
  };

  location locate(std::size_t v, std::size_t item) {
    const planned_value& value = plan_.value[v];
    const std::size_t at = item - first_item_, shared = segment_ ? segment_->grain * segment_->item_bytes : 0;
    std::size_t base = 0, room = 0;
    switch (value.where) {
      case placement::slot:
        base = 0, room = plan_.slot_bytes;
        break;
      case placement::item:
        base = at * segment_->item_bytes, room = segment_->item_bytes;
        break;
      case placement::grain:
        base = shared, room = segment_->kernel_offset;
        break;
      case placement::none:
        blame("a value is used that is nowhere", v);
        break;
    }
    if (value.offset + value.bytes > room) blame("a value does not fit where it is", v);
    if ((base + value.offset) % value.alignment != 0) blame("a value is not aligned", v);
    return {value.where == placement::slot ? &slots_[item] : &scratchpad_, base + value.offset};
  }

  void blame(const std::string& what, std::size_t v) {
    if (fault_.empty()) fault_ = what + ": value " + std::to_string(v);
  }

  /// The bytes of a value without what fills it up to its alignment.
  std::size_t used_bytes(std::size_t v) const {
    const value_info& value = plan_.graph.values[v];
    return value.type == element::other ? value.bytes : value.extents.elements() * size_of(value.type);
  }

  /// Calls `each(there, wanted)` for that many bytes of a value.
  template <class Each>
  void for_bytes(std::size_t v, std::size_t item, std::size_t count, Each each) {
    const location at = locate(v, item);
    for (std::size_t byte = 0; fault_.empty() && byte < count; ++byte)
      each((*at.memory)[at.offset + byte], of_item(contents_[v][byte], item));
  }
  void write(std::size_t v, std::size_t item) {
    for_bytes(v, item, plan_.value[v].bytes, [](label& there, label wanted) { there = wanted; });
  }
  void expect(std::size_t v, std::size_t item) {
    for_bytes(v, item, used_bytes(v), [&](label there, label wanted) {
      if (there != wanted) blame("a value was lost", v);
    });
  }

  bool same_place(std::size_t a, std::size_t item, std::size_t behind, std::size_t b) {
    const location x = locate(a, item), y = locate(b, item);
    return x.memory == y.memory && x.offset + behind == y.offset;
  }
  bool overlap(std::size_t a, std::size_t b, std::size_t item) {
    const location x = locate(a, item), y = locate(b, item);
    return x.memory == y.memory && x.offset < y.offset + plan_.value[b].bytes &&
           y.offset < x.offset + plan_.value[a].bytes;
  }

  void run_unit(std::size_t u, std::size_t item) {
    const planned_unit& unit = plan_.unit[u];
    const auto expect_inputs = [&] { for_each_input(unit, [&](std::size_t v) { expect(v, item); }); };
    expect_inputs();
    if (unit.how == form::in_place && !same_place(unit.in, item, 0, unit.out))
      blame("an in-place stage would have to move", unit.out);
    // The kernel may use its scratch before it reads, between, and after: written first and last, it must harm nothing.
    scratch(unit);
    switch (const reuse how = detail::reuse_of(plan_, u); how) {
      case reuse::view:
        copy_part(unit.in, plan_.graph.nodes[unit.first].view_offset, unit.out, 0, used_bytes(unit.out), item);
        expect_inputs();
        break;
      case reuse::joins: {
        std::size_t behind = 0;
        for_each_input(unit, [&](std::size_t v) {
          copy_part(v, 0, unit.out, behind, used_bytes(v), item);
          behind += used_bytes(v);
        });
        expect_inputs();
        break;
      }
      default: {
        // Element by element: an input either lies where the output does or apart from it.
        const bool changes = unit.how == form::in_place;
        if (!changes) expect_inputs();
        if (unit.how == form::sink) return;
        std::vector<std::size_t> kept;
        for_each_input(unit, [&](std::size_t v) {
          const bool taken = how == reuse::in_place && same_place(v, item, 0, unit.out) &&
                             plan_.value[v].bytes == plan_.value[unit.out].bytes;
          if (!changes && !taken) {
            if (overlap(v, unit.out, item)) blame("a unit would overwrite what it reads", v);
            kept.push_back(v);
          }
        });
        write(unit.out, item);
        for (const std::size_t v : kept) expect(v, item);
      }
    }
    scratch(unit);
    expect(unit.out, item);
  }

  /// Bytes of one value become some of another's, which are copied unless they lie there.
  void copy_part(std::size_t from, std::size_t first, std::size_t to, std::size_t at, std::size_t bytes,
                 std::size_t item) {
    const location source = locate(from, item), target = locate(to, item);
    if (!fault_.empty()) return;
    for (std::size_t byte = 0; byte < bytes; ++byte) {
      contents_[to][at + byte] = contents_[from][first + byte];
      (*target.memory)[target.offset + at + byte] = (*source.memory)[source.offset + first + byte];
    }
  }

  void scratch(const planned_unit& unit) {
    const std::size_t first = segment_->grain * segment_->item_bytes + segment_->kernel_offset + unit.scratch_offset;
    if (first + unit.scratch_bytes > scratchpad_.size()) return blame("a kernel's scratch does not fit", unit.out);
    if (unit.scratch_bytes > 0 && first % plan_.alignment != 0) blame("a kernel's scratch is not aligned", unit.out);
    std::fill_n(scratchpad_.begin() + static_cast<std::ptrdiff_t>(first), unit.scratch_bytes, nothing);
  }

  void run_segment(std::size_t first, std::size_t behind) {
    first_item_ = first;
    scratchpad_.assign(segment_->scratch_bytes(), nothing);
    const std::size_t end = segment_->first + segment_->count;
    for (std::size_t u = segment_->first; u < end && fault_.empty(); u = plan_.unit[u].group_end) {
      if (turns_ != in_order && plan_.unit[u].branch) {
        run_branches(plan_.fork[plan_.unit[u].branch.fork], first);
        if (plan_.unit[u].group_end !=
            plan_.fork[plan_.unit[u].branch.fork].first + plan_.fork[plan_.unit[u].branch.fork].count)
          blame("branches are no group of their own", plan_.unit[u].out);
        continue;
      }
      const std::size_t group_end = plan_.unit[u].group_end;
      if (group_end <= u || group_end > end) return blame("a group does not end", plan_.unit[u].out);
      if (plan_.unit[u].item_by_item) {
        for (std::size_t i = first; i < behind; ++i)
          for (std::size_t g = u; g < group_end; ++g) run_unit(g, i);
      } else {
        for (std::size_t g = u; g < group_end; ++g)
          for (std::size_t i = first; i < behind; ++i) run_unit(g, i);
      }
    }
  }

  void run_branches(const planned_fork& fork, std::size_t item) {
    std::vector<std::vector<std::size_t>> branches(fork.branches);
    for (std::size_t u = fork.first; u < fork.first + fork.count; ++u) {
      const planned_unit& unit = plan_.unit[u];
      branches[unit.branch.branch].push_back(u);
      for (std::size_t other = fork.first; other < u; ++other) {
        const planned_unit& before = plan_.unit[other];
        if (run_at_once(unit.branch, before.branch) &&
            unit.scratch_offset < before.scratch_offset + before.scratch_bytes &&
            before.scratch_offset < unit.scratch_offset + unit.scratch_bytes)
          blame("branches share their scratch", unit.out);
      }
    }
    if (turns_ == backwards) {
      for (std::size_t b = branches.size(); b-- > 0;)
        for (const std::size_t u : branches[b]) run_unit(u, item);
      return;
    }
    for (std::size_t i = 0, ran = 1; ran != 0; ++i) {
      ran = 0;
      for (std::size_t b = branches.size(); b-- > 0;)
        if (i < branches[b].size()) run_unit(branches[b][i], item), ++ran;
    }
  }

  const plan_info<N>& plan_;
  branch_turns turns_ = in_order;
  const planned_segment* segment_ = nullptr;
  std::size_t first_item_ = 0;
  std::vector<arena> slots_;
  arena scratchpad_;
  std::vector<arena> contents_;  ///< of each value
  std::string fault_;
};

template <std::size_t N>
std::string first_fault(const plan_info<N>& plan) {
  return plan_checker<N>(plan).first_fault();
}

}  // namespace levada::test
