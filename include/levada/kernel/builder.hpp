// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/builder.hpp: writes the instructions of a kernel while its lambda runs. Equal instructions become one,
// constants are folded where every device would compute the same, and what nothing needs is dropped at the end.

#include <utility>

#include <levada/kernel/evaluate.hpp>

namespace levada::ir {

/// An array that grows up to `Capacity`, also while compiling. What comes after that is dropped, and `is_full` says so.
template <class T, std::uint32_t Capacity>
struct growing {
  T elements[Capacity];  // uninitialised: a kernel pays for what it uses
  std::uint32_t size = 0;
  bool is_full = false;

  constexpr growing() {}

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
  /// `salt` tells the captures that are uniforms from those that are not, see kernel/trace.hpp.
  constexpr explicit builder(std::uint32_t salt = 0) : salt_(salt) {}

  constexpr std::uint32_t input(scalar_type type, std::uint32_t index) {
    return find_or_add({opcode::input, type, index});
  }
  constexpr std::uint32_t constant(scalar_type type, std::uint32_t word) {
    return find_or_add({opcode::constant, type, word});
  }
  constexpr std::uint32_t uniform(scalar_type type, std::uint32_t word) {
    return find_or_add({opcode::uniform, type, word ^ salt_});
  }
  constexpr std::uint32_t built_in(built_in_number which) {
    return find_or_add({opcode::built_in, scalar_type::int32, which});
  }
  constexpr std::uint32_t add(opcode op, scalar_type type, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
    if (code_.is_full) return 0;
    if (commutes(op) && b < a) std::swap(a, b);
    const instruction wanted{op, type, a, b, c};
    check_operands(wanted);
    const std::uint32_t simpler = simplified(wanted);
    return simpler == none ? find_or_add(wanted) : simpler;
  }
  /// The element of a buffer that is only read: equal loads become one.
  constexpr std::uint32_t load(scalar_type type, std::uint32_t index, std::uint32_t buffer) {
    if (code_.is_full) return 0;
    const instruction wanted{opcode::load, type, index, buffer};
    check_operands(wanted);
    return find_or_add(wanted);
  }
  /// An instruction that happens here and now, whatever is equal to it.
  constexpr std::uint32_t effect(opcode op, scalar_type type, std::uint32_t a = 0, std::uint32_t b = 0,
                                 std::uint32_t c = 0) {
    if (code_.is_full) return 0;
    const instruction wanted{op, type, a, b, c};
    check_operands(wanted);
    code_.push(wanted);
    return code_.size - 1;
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
    for (std::uint32_t i = starts_[depth_ - 1]; i < code_.size && code_.elements[i].op == opcode::phi; ++i)
      left_[i] = false;
    --depth_;
    effect(opcode::end, scalar_type::boolean);
  }
  constexpr void barrier() {
    for (std::uint32_t i = 0; i < depth_; ++i)
      if (divergent_[i]) mistaken(mistake::barrier_in_divergent_code);
    effect(opcode::barrier, scalar_type::boolean);
  }
  /// How many loops and branches are open.
  constexpr std::uint32_t depth() const { return depth_; }
  constexpr void mistaken(mistake what) {
    if (found_ == mistake::none) found_ = what;
  }
  constexpr mistake found() const { return found_; }
  constexpr bool is_full() const { return code_.is_full || outputs_.is_full || too_deep_; }

  // ---- the end ----

  /// Keeps what the outputs and effects need, and the first `inputs` instructions.
  constexpr void finish(std::uint32_t inputs) {
    bool needed[max_instructions];
    for (std::uint32_t i = 0; i < code_.size; ++i) needed[i] = i < inputs;
    for (std::uint32_t i = 0; i < outputs_.size; ++i) needed[outputs_.elements[i]] = true;
    for (std::uint32_t i = inputs; i < code_.size; ++i) {
      const opcode op = code_.elements[i].op;
      if (!has_effect(op)) continue;
      needed[i] = true;
      if (op == opcode::phi) needed[code_.elements[i].b] = true;  // which comes later
    }
    bool all = true;
    for (std::uint32_t i = code_.size; i-- > inputs;) {
      const instruction& user = code_.elements[i];
      if (!needed[i]) {
        all = false;
        continue;
      }
      const int count = operands(user.op);
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

  constexpr bool is_constant(std::uint32_t value) const { return code_.elements[value].op == opcode::constant; }
  constexpr bool is_constant(std::uint32_t value, std::uint32_t word) const {
    return is_constant(value) && code_.elements[value].a == word;
  }
  /// Plainly the same for all invocations of a workgroup.
  constexpr bool is_uniform(std::uint32_t value) const {
    const instruction& i = code_.elements[value];
    return i.op == opcode::constant || i.op == opcode::uniform || (i.op == opcode::built_in && i.a >= group_x);
  }

  /// The instruction that `wanted` is equal to by the rules of arithmetic, or `none`.
  constexpr std::uint32_t simplified(const instruction& wanted) {
    const auto [op, type, a, b, c] = wanted;
    const scalar_type operand = code_.elements[a].type;
    if (op == opcode::bitcast && operand == type) return a;
    if (op == opcode::select) {
      if (is_constant(a)) return code_.elements[a].a != 0 ? b : c;
      return b == c ? b : none;
    }
    const bool constants = is_constant(a) && (operands(op) < 2 || is_constant(b));
    if (constants && folds(op, operand, code_.elements[a].a, code_.elements[b].a))
      return constant(type, evaluate(op, operand, type, code_.elements[a].a, code_.elements[b].a, 0));
    const std::uint32_t one = type == scalar_type::float32 ? 0x3f800000u : 1u;
    // Of two operands that commute the constant may stand first, if it was there first.
    const bool whole = type == scalar_type::int32 || type == scalar_type::uint32;
    if (op == opcode::mul)
      return is_constant(b, one) ? a : is_constant(a, one) ? b : whole ? product(type, a, b) : none;
    if (op == opcode::div) return is_constant(b, one) ? a : none;
    if (whole && op == opcode::sub && is_constant(b)) return add(opcode::add, type, a, constant(type, 0u - word(b)));
    if (op == opcode::sub) return is_constant(b, 0) ? a : none;
    if (op == opcode::shift_left || op == opcode::shift_right) return is_constant(b, 0) ? a : none;
    if ((whole && op == opcode::add) || op == opcode::bit_or || op == opcode::bit_xor) {
      if (is_constant(b, 0)) return a;
      if (is_constant(a, 0)) return b;
    }
    return whole && op == opcode::add ? sum(type, a, b) : none;
  }

  // Integers wrap, so that sums and products may be rearranged. Constants come last: the indices of neighbours in a buffer
  // are then one sum, each plus a number.

  constexpr std::uint32_t word(std::uint32_t constant) const { return code_.elements[constant].a; }
  /// Which operand of `value` is a constant, where it is `op` of one: the other comes back in `rest`.
  constexpr bool has_constant(opcode op, std::uint32_t value, std::uint32_t& rest, std::uint32_t& number) const {
    const instruction& i = code_.elements[value];
    if (i.op != op) return false;
    if (!is_constant(i.a) && !is_constant(i.b)) return false;
    const bool first = is_constant(i.a);
    rest = first ? i.b : i.a;
    number = word(first ? i.a : i.b);
    return true;
  }
  constexpr std::uint32_t sum(scalar_type type, std::uint32_t a, std::uint32_t b) {
    if (is_constant(a)) std::swap(a, b);
    std::uint32_t rest = 0, number = 0;
    if (has_constant(opcode::add, a, rest, number)) {
      if (is_constant(b)) return add(opcode::add, type, rest, constant(type, number + word(b)));
      return add(opcode::add, type, add(opcode::add, type, rest, b), constant(type, number));
    }
    if (!is_constant(b) && has_constant(opcode::add, b, rest, number))
      return add(opcode::add, type, add(opcode::add, type, a, rest), constant(type, number));
    return none;
  }
  constexpr std::uint32_t product(scalar_type type, std::uint32_t a, std::uint32_t b) {
    if (is_constant(a)) std::swap(a, b);
    if (!is_constant(b)) return none;
    std::uint32_t rest = 0, number = 0;
    if (has_constant(opcode::add, a, rest, number))
      return add(opcode::add, type, add(opcode::mul, type, rest, b), constant(type, number * word(b)));
    if (has_constant(opcode::mul, a, rest, number))
      return add(opcode::mul, type, rest, constant(type, number * word(b)));
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
      const int count = operands(moved.op);
      if (count > 0) moved.a = place[moved.a];
      if (count > 1) moved.b = place[moved.b];
      if (count > 2) moved.c = place[moved.c];
      code_.elements[place[i]] = moved;
    }
    code_.size = kept;
    for (std::uint32_t i = 0; i < outputs_.size; ++i) outputs_.elements[i] = place[outputs_.elements[i]];
  }

  constexpr void check_use_of(std::uint32_t value) {
    if (left_[value]) mistaken(mistake::value_left_its_loop);
  }
  constexpr void check_operands(const instruction& i) {
    if (!has_left_) return;
    const int count = operands(i.op);
    if (count > 0) check_use_of(i.a);
    if (count > 1) check_use_of(i.b);
    if (count > 2) check_use_of(i.c);
  }

  constexpr void enter(bool divergent) {
    if (depth_ == max_depth) {
      too_deep_ = true;
      return;
    }
    divergent_[depth_] = divergent;
    starts_[depth_++] = code_.size;
  }
  /// What was computed since the innermost `enter` is not to be found again, leaves apart.
  constexpr void forget_scope() {
    if (is_full()) return;
    for (std::uint32_t i = code_.size; i-- > starts_[depth_ - 1];) {
      const opcode op = code_.elements[i].op;
      if (is_leaf(op) || left_[i]) continue;
      left_[i] = true;
      if (!has_effect(op) && op != opcode::load_shared && op != opcode::load_local)
        heads_[bucket(code_.elements[i])] = next_[i];
    }
    has_left_ = true;
  }

  static constexpr std::uint32_t bucket(const instruction& wanted) {
    const std::uint32_t mixed = (wanted.a * 0x9e3779b1u) ^ (wanted.b * 0x85ebca77u) ^ (wanted.c * 0xc2b2ae3du) ^
                                (static_cast<std::uint32_t>(wanted.op) * 0x27d4eb2fu);
    return (mixed ^ (mixed >> 15)) % buckets + (is_leaf(wanted.op) ? buckets : 0);
  }
  constexpr std::uint32_t find_or_add(const instruction& wanted) {
    std::uint32_t& head = heads_[bucket(wanted)];
    for (std::uint32_t i = head; i != 0; i = next_[i - 1])
      if (code_.elements[i - 1] == wanted) return i - 1;
    const std::uint32_t added = code_.size;
    code_.push(wanted);
    if (added == max_instructions) return 0;
    next_[added] = head;
    head = added + 1;
    return added;
  }

  growing<instruction, max_instructions> code_;
  growing<std::uint32_t, max_outputs> outputs_;
  // Chains of instructions with the same hash; their numbers count from one, as zeros cost nothing while compiling.
  // Leaves have chains of their own, from which nothing is taken away.
  std::uint32_t heads_[2 * buckets]{};
  std::uint32_t next_[max_instructions];
  bool left_[max_instructions]{};  // its loop or branch has ended
  bool has_left_ = false, too_deep_ = false;
  std::uint32_t starts_[max_depth];
  bool divergent_[max_depth];
  std::uint32_t depth_ = 0;
  mistake found_ = mistake::none;
  std::uint32_t salt_;
};

}  // namespace levada::ir
