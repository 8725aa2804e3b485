// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plays a plan with labelled bytes instead of data, in the order in which it says its units run: whoever reads a value must
// find every byte of it as it was written for that item.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <levada/plan/plan.hpp>

namespace levada::test {

template <std::size_t N>
class plan_checker {
 public:
  explicit plan_checker(const plan_info<N>& plan) : plan_(plan) {}

  /// The first thing found wrong, or nothing.
  std::string first_fault() {
    slots_.assign(items, arena(plan_.slot_bytes, nothing));
    if (plan_.value[0].where != placement::slot) return "the input is in no slot";
    for (std::size_t i = 0; i < items; ++i) write(0, i, {});
    for (const planned_segment& s : plan_.segment) {
      segment_ = &s;
      // Items beyond the grain come in another grain: they only must not disturb each other's slots.
      for (std::size_t first = 0; first < items; first += s.grain) run_segment(first, std::min(items, first + s.grain));
    }
    if (plan_.has_result) {
      const std::size_t result = plan_.graph.result;
      if (plan_.value[result].where != placement::slot) return "the result is in no slot";
      for (std::size_t i = 0; i < items; ++i) expect(result, i);
    }
    return fault_;
  }

 private:
  static constexpr std::size_t items = 4;
  using label = std::pair<std::size_t, std::size_t>;  // value, item
  using arena = std::vector<label>;
  static constexpr label nothing{~std::size_t{0}, ~std::size_t{0}};

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

  void write(std::size_t v, std::size_t item, label) {
    const location to = locate(v, item);
    if (!fault_.empty()) return;
    std::fill_n(to.memory->begin() + static_cast<std::ptrdiff_t>(to.offset), plan_.value[v].bytes, label{v, item});
  }

  void expect(std::size_t v, std::size_t item) {
    const location from = locate(v, item);
    if (!fault_.empty()) return;
    const auto begin = from.memory->begin() + static_cast<std::ptrdiff_t>(from.offset);
    const auto size = static_cast<std::ptrdiff_t>(plan_.value[v].bytes);
    if (!std::all_of(begin, begin + size, [&](label l) { return l == label{v, item}; })) blame("a value was lost", v);
  }

  void run_unit(const planned_unit& unit, std::size_t item) {
    const auto expect_inputs = [&] { for_each_input(unit, [&](std::size_t v) { expect(v, item); }); };
    expect_inputs();
    if (unit.how == form::in_place) {
      const location in = locate(unit.in, item), out = locate(unit.out, item);
      if (in.memory != out.memory || in.offset != out.offset) blame("an in-place stage would have to move", unit.out);
    }
    // The kernel may use its scratch before it reads, between, and after: written first and last, it must harm nothing.
    scratch(unit);
    if (unit.how != form::in_place) expect_inputs();
    if (unit.how == form::sink) return;
    write(unit.out, item, {});
    if (unit.how != form::in_place) expect_inputs();
    scratch(unit);
    expect(unit.out, item);
  }

  void scratch(const planned_unit& unit) {
    const std::size_t first = segment_->grain * segment_->item_bytes + segment_->kernel_offset;
    if (first + unit.scratch_bytes > scratchpad_.size()) return blame("a kernel's scratch does not fit", unit.out);
    if (unit.scratch_bytes > 0 && first % plan_.alignment != 0) blame("a kernel's scratch is not aligned", unit.out);
    std::fill_n(scratchpad_.begin() + static_cast<std::ptrdiff_t>(first), unit.scratch_bytes, nothing);
  }

  void run_segment(std::size_t first, std::size_t behind) {
    first_item_ = first;
    scratchpad_.assign(segment_->scratch_bytes(), nothing);
    const std::size_t end = segment_->first + segment_->count;
    for (std::size_t u = segment_->first; u < end && fault_.empty(); u = plan_.unit[u].group_end) {
      const std::size_t group_end = plan_.unit[u].group_end;
      if (group_end <= u || group_end > end) return blame("a group does not end", plan_.unit[u].out);
      if (plan_.unit[u].item_by_item) {
        for (std::size_t i = first; i < behind; ++i)
          for (std::size_t g = u; g < group_end; ++g) run_unit(plan_.unit[g], i);
      } else {
        for (std::size_t g = u; g < group_end; ++g)
          for (std::size_t i = first; i < behind; ++i) run_unit(plan_.unit[g], i);
      }
    }
  }

  const plan_info<N>& plan_;
  const planned_segment* segment_ = nullptr;
  std::size_t first_item_ = 0;
  std::vector<arena> slots_;
  arena scratchpad_;
  std::string fault_;
};

template <std::size_t N>
std::string first_fault(const plan_info<N>& plan) {
  return plan_checker<N>(plan).first_fault();
}

}  // namespace levada::test
