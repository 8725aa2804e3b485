// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/builder.hpp: writes the instructions of a kernel while its lambda runs. Equal instructions become one,
// constants are folded where every device would compute the same, and what nothing needs is dropped at the end.

#include <levada/kernel/detail/evaluate.hpp>

namespace levada::ir {

/// An array that grows up to `Capacity`, also while compiling. What comes after that is dropped, and `is_full` says so.
template <class T, std::uint32_t Capacity>
struct constexpr_vector {
  T elements[Capacity];  // uninitialised: a kernel pays for what it uses
  std::uint32_t size = 0;
  bool is_full = false;

  constexpr constexpr_vector() {}

  constexpr void push(T element) {
    if (size == Capacity)
      is_full = true;
    else
      elements[size++] = element;
  }
};

inline constexpr std::uint32_t max_instructions = 2048, max_outputs = 16;

/// What a kernel's lambda can do wrong, found out while it is traced.
enum class mistake : std::uint8_t {
  none,
  value_left_its_loop,
  outer_value_assigned,
  barrier_in_divergent_code,
};

/// A kernel in room for any. `is_full`: more was asked for than there is room, and the rest is of no use.
struct scratch_program {
  instruction code[max_instructions];
  std::uint32_t outputs[max_outputs];
  std::uint32_t size, output_count;
  bool is_full;
  mistake found;
};

class builder {
 public:
  /// How many loops and branches are open. No function: each traced value asks.
  std::uint32_t depth = 0;

  /// `salt` tells the captures that are uniforms from those that are not, see kernel/detail/trace.hpp.
  constexpr explicit builder(std::uint32_t salt = 0) : salt_(salt) {}

  constexpr std::uint32_t input(scalar_type type, std::uint32_t index) {
    return find_or_add({opcode::input, type, index, 0, 0});
  }
  constexpr std::uint32_t constant(scalar_type type, std::uint32_t word) {
    return find_or_add({opcode::constant, type, word, 0, 0});
  }
  constexpr std::uint32_t uniform(scalar_type type, std::uint32_t word) {
    return find_or_add({opcode::uniform, type, word ^ salt_, 0, 0});
  }
  constexpr std::uint32_t built_in(built_in_number which) {
    return find_or_add({opcode::built_in, scalar_type::int32, which, 0, 0});
  }
  constexpr std::uint32_t add(opcode op, scalar_type type, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
    if (code_.is_full) return 0;
    const bool turned = b < a && commutes(op);
    const instruction wanted{op, type, turned ? b : a, turned ? a : b, c};
    if (has_left_) check_operands(wanted);
    // Two operands, neither of them a constant: nothing is simpler. Asked here, as a call costs more while compiling.
    if (op >= opcode::select || operand_counts[static_cast<int>(op)] == 1 || code_.elements[a].op == opcode::constant ||
        code_.elements[b].op == opcode::constant) {
      const std::uint32_t simpler = simplified(wanted);
      if (simpler != none) return simpler;
    }
    return find_or_add(wanted);
  }
  /// The element of a buffer that is only read: equal loads become one.
  constexpr std::uint32_t load(scalar_type type, std::uint32_t index, std::uint32_t buffer) {
    if (code_.is_full) return 0;
    const instruction wanted{opcode::load, type, index, buffer, 0};
    if (has_left_) check_operands(wanted);
    return find_or_add(wanted);
  }
  /// An instruction that happens here and now, whatever is equal to it.
  constexpr std::uint32_t effect(opcode op, scalar_type type, std::uint32_t a = 0, std::uint32_t b = 0,
                                 std::uint32_t c = 0) {
    if (code_.is_full) return 0;
    if (has_left_) check_operands({op, type, a, b, c});
    const std::uint32_t added = code_.size;
    if (added == max_instructions) {
      code_.is_full = true;
      return 0;
    }
    code_.elements[added] = {op, type, a, b, c};
    code_.size = added + 1;
    if (has_effect(op)) effects_[effect_count_++] = added;
    return added;
  }
  constexpr void output(std::uint32_t value) { outputs_.push(value); }

  // ---- structure ----

  /// Starts a loop: the counter, which is the last value to outlive `close`. Its phis come next.
  constexpr std::uint32_t open_loop(std::uint32_t from, std::uint32_t up_to) {
    const std::uint32_t counter = effect(opcode::loop, scalar_type::int32, from, up_to);
    enter(!is_uniform(from) || !is_uniform(up_to));
    return counter;
  }
  constexpr std::uint32_t phi(scalar_type type, std::uint32_t initial) {
    return effect(opcode::phi, type, initial, initial);
  }
  constexpr void set_next(std::uint32_t phi, std::uint32_t value) {
    if (is_full()) return;
    check_use_of(value);
    code_.elements[phi].b = value;
  }
  constexpr void open_branch(std::uint32_t condition) {
    effect(opcode::branch, scalar_type::boolean, condition);
    enter(!is_uniform(condition));
  }
  constexpr void otherwise() {
    forget_scope();
    effect(opcode::otherwise, scalar_type::boolean);
  }
  /// Ends the innermost loop or branch. Of its values the phis alone live on.
  constexpr void close() {
    if (is_full()) return;
    forget_scope();
    --depth;
    effect(opcode::end, scalar_type::boolean);
  }
  constexpr void barrier() {
    for (std::uint32_t i = 0; i < depth; ++i)
      if (divergent_[i]) mistaken(mistake::barrier_in_divergent_code);
    effect(opcode::barrier, scalar_type::boolean);
  }
  constexpr void mistaken(mistake what) {
    if (found_ == mistake::none) found_ = what;
  }
  constexpr mistake found() const { return found_; }
  constexpr bool is_full() const { return code_.is_full || outputs_.is_full || too_deep_; }

  // ---- the end ----

  /// Keeps what the outputs and effects need, and the first `inputs` instructions.
  constexpr void finish(std::uint32_t inputs) {
    bool needed[max_instructions]{};
    for (std::uint32_t i = 0; i < inputs; ++i) needed[i] = true;
    for (std::uint32_t i = 0; i < outputs_.size; ++i) needed[outputs_.elements[i]] = true;
    for (std::uint32_t e = 0; e < effect_count_; ++e) {
      const std::uint32_t i = effects_[e];
      needed[i] = true;
      if (code_.elements[i].op == opcode::phi) needed[code_.elements[i].b] = true;  // which comes later
    }
    bool all = true;
    for (std::uint32_t i = code_.size; i-- > inputs;) {
      const instruction& user = code_.elements[i];
      if (!needed[i]) {
        all = false;
        continue;
      }
      const int count = operand_counts[static_cast<int>(user.op)];
      if (count > 0) needed[user.a] = true;
      if (count > 1) needed[user.b] = true;
      if (count > 2) needed[user.c] = true;
    }
    if (!all) remove_others(needed);
  }

  constexpr scratch_program finished() const {
    scratch_program all{};
    all.size = code_.size;
    all.output_count = outputs_.size;
    all.is_full = is_full();
    all.found = found_;
    for (std::uint32_t i = 0; i < code_.size; ++i) all.code[i] = code_.elements[i];
    for (std::uint32_t i = 0; i < outputs_.size; ++i) all.outputs[i] = outputs_.elements[i];
    return all;
  }
  constexpr std::span<const instruction> code() const { return {code_.elements, code_.size}; }
  constexpr std::span<const std::uint32_t> outputs() const { return {outputs_.elements, outputs_.size}; }

 private:
  static constexpr std::uint32_t none = ~0u, buckets = 256;

  static constexpr bool commutes(opcode op) {
    return op == opcode::add || op == opcode::mul || op == opcode::equal || op == opcode::bit_and ||
           op == opcode::bit_or || op == opcode::bit_xor;
  }

  /// Plainly the same for all invocations of a workgroup.
  constexpr bool is_uniform(std::uint32_t value) const {
    const instruction& i = code_.elements[value];
    return i.op == opcode::constant || i.op == opcode::uniform || (i.op == opcode::built_in && i.a >= group_x);
  }

  /// The instruction that `wanted`, of one or three operands or with a constant, is equal to by the rules of
  /// arithmetic, or `none`.
  constexpr std::uint32_t simplified(const instruction& wanted) {
    const opcode op = wanted.op;
    const std::uint32_t a = wanted.a, b = wanted.b;
    const instruction& first = code_.elements[a];
    const bool number = first.op == opcode::constant;
    if (op >= opcode::select || operand_counts[static_cast<int>(op)] == 1) {
      if (op == opcode::select) return number ? (first.a != 0 ? b : wanted.c) : b == wanted.c ? b : none;
      if (op == opcode::bitcast && first.type == wanted.type) return a;
      return number ? folded(wanted) : none;
    }
    if (number && code_.elements[b].op == opcode::constant) {
      const std::uint32_t known = folded(wanted);
      if (known != none) return known;
    }
    return with_constant(wanted);
  }
  /// The same for operands that are constants.
  constexpr std::uint32_t folded(const instruction& wanted) {
    const instruction &first = code_.elements[wanted.a], &second = code_.elements[wanted.b];
    if (!folds(wanted.op, first.type, first.a, second.a)) return none;
    return constant(wanted.type, evaluate(wanted.op, first.type, wanted.type, first.a, second.a, 0));
  }
  /// The same for two operands, one of them a constant. Of two that commute it may stand first, if it was there first.
  constexpr std::uint32_t with_constant(const instruction& wanted) {
    const opcode op = wanted.op;
    const instruction &first = code_.elements[wanted.a], &second = code_.elements[wanted.b];
    const bool is_product = op == opcode::mul;
    if (is_product || op == opcode::div) {
      const std::uint32_t one = wanted.type == scalar_type::float32 ? 0x3f800000u : 1u;
      if (second.a == one && second.op == opcode::constant) return wanted.a;
      return is_product && first.a == one && first.op == opcode::constant ? wanted.b : none;
    }
    const bool is_whole = wanted.type == scalar_type::int32 || wanted.type == scalar_type::uint32;
    const bool is_sum = (is_whole && op == opcode::add) || op == opcode::bit_or || op == opcode::bit_xor;
    if (is_sum || op == opcode::sub || op == opcode::shift_left || op == opcode::shift_right) {
      if (second.a == 0 && second.op == opcode::constant) return wanted.a;
      if (is_sum && first.a == 0 && first.op == opcode::constant) return wanted.b;
    }
    return none;
  }

  constexpr void remove_others(const bool* needed) {
    std::uint32_t place[max_instructions];
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < code_.size; ++i)
      if (needed[i]) place[i] = kept++;
    for (std::uint32_t i = 0; i < code_.size; ++i) {
      if (!needed[i]) continue;
      instruction moved = code_.elements[i];
      const int count = operand_counts[static_cast<int>(moved.op)];
      if (count > 0) moved.a = place[moved.a];
      if (count > 1) moved.b = place[moved.b];
      if (count > 2) moved.c = place[moved.c];
      code_.elements[place[i]] = moved;
    }
    code_.size = kept;
    for (std::uint32_t i = 0; i < outputs_.size; ++i) outputs_.elements[i] = place[outputs_.elements[i]];
  }

  /// Its loop or branch has ended. Leaves stay, and phis of a loop live on behind it.
  constexpr bool has_left(std::uint32_t value) const {
    for (std::uint32_t s = 0; s < ended_count_; ++s)
      if (value >= ended_[s].first && value < ended_[s].behind) return !is_leaf(code_.elements[value].op);
    return false;
  }
  constexpr void check_use_of(std::uint32_t value) {
    if (has_left(value)) mistaken(mistake::value_left_its_loop);
  }
  constexpr void check_operands(const instruction& i) {
    const int count = operands(i.op);
    if (count > 0) check_use_of(i.a);
    if (count > 1) check_use_of(i.b);
    if (count > 2) check_use_of(i.c);
  }

  constexpr void enter(bool divergent) {
    if (depth == max_depth) {
      too_deep_ = true;
      return;
    }
    divergent_[depth] = divergent;
    starts_[depth++] = code_.size;
  }
  /// What was computed since the innermost `enter` is not to be found again. What ended inside is part of that.
  constexpr void forget_scope() {
    if (is_full()) return;
    std::uint32_t first = starts_[depth - 1];
    while (first < code_.size && code_.elements[first].op == opcode::phi) ++first;
    while (ended_count_ != 0 && ended_[ended_count_ - 1].first >= first) --ended_count_;
    ended_[ended_count_++] = {first, code_.size};
    has_left_ = true;
  }

  static constexpr std::uint32_t bucket(opcode op, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t mixed = a * 0x9e3779b1u + b * 0x85ebca77u + static_cast<std::uint32_t>(op) * 0x27d4eb2fu;
    static_assert(buckets == 256);
    return (mixed >> 24) + (op <= opcode::constant || op == opcode::built_in ? buckets : 0);
  }
  constexpr std::uint32_t find_or_add(const instruction& wanted) {
    const opcode op = wanted.op;
    const std::uint32_t a = wanted.a, b = wanted.b, slot = bucket(op, a, b), head = heads_[slot];
    for (std::uint32_t i = head; i != 0; i = next_[i - 1]) {
      const instruction& there = code_.elements[i - 1];
      if (there.a == a && there.b == b && there.op == op && there.c == wanted.c && there.type == wanted.type &&
          !(has_left_ && has_left(i - 1)))
        return i - 1;
    }
    const std::uint32_t added = code_.size;
    if (added == max_instructions) {
      code_.is_full = true;
      return 0;
    }
    code_.elements[added] = wanted;
    code_.size = added + 1;
    next_[added] = head;
    heads_[slot] = added + 1;
    return added;
  }

  constexpr_vector<instruction, max_instructions> code_;
  constexpr_vector<std::uint32_t, max_outputs> outputs_;
  // Chains of instructions with the same hash; their numbers count from one, as zeros cost nothing while compiling.
  // Leaves have chains of their own.
  std::uint32_t heads_[2 * buckets]{};
  std::uint32_t next_[max_instructions];
  // What is there for what it does.
  std::uint32_t effects_[max_instructions], effect_count_ = 0;
  // The insides of loops and branches that have ended, none in another.
  struct range {
    std::uint32_t first, behind;
  };
  range ended_[max_instructions];
  std::uint32_t ended_count_ = 0;
  bool has_left_ = false, too_deep_ = false;
  std::uint32_t starts_[max_depth];
  bool divergent_[max_depth];
  mistake found_ = mistake::none;
  std::uint32_t salt_;
};

}  // namespace levada::ir
