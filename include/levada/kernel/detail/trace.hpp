// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/trace.hpp: from a generic lambda to the instructions it is made of, while the program compiles.
// The lambda is called once with values that write down what is done with them.

#include <algorithm>
#include <bit>
#include <tuple>

#include <levada/kernel/detail/builder.hpp>
#include <levada/kernel/detail/captures.hpp>
#include <levada/kernel/detail/math.hpp>
#include <levada/kernel/detail/value.hpp>

namespace levada {

/// The machine that records: a value is the index of an instruction in a builder.
struct tracer {
  /// What stands for a value. To an int32 a number may be due, so that constants in sums and products come together:
  /// the indices of neighbours in a buffer are one sum, each plus a number. (Integers wrap, so that nothing else is
  /// rounded.)
  struct sum {
    ir::builder* kernel;
    std::uint32_t base;  // the instruction; none: the value is `plus`
    std::uint32_t plus;
  };
  struct node : sum {  // a sum is copied in one step while compiling
    static constexpr std::uint32_t none = ~0u;

    std::uint32_t depth;  // of the loops and branches where this C++ variable begins

    constexpr node() : sum{}, depth(0) {}
    constexpr node(ir::builder* where, std::uint32_t value, std::uint32_t number = 0)
        : sum{where, value, number}, depth(where->depth) {}
    constexpr node(const node& other) : sum(other), depth(other.kernel->depth) {}
    /// Is run once while tracing: from inside a loop or branch it must not reach out.
    constexpr node& operator=(const node& other) {
      if (kernel == nullptr) depth = other.kernel->depth;
      if (other.kernel->depth > depth) other.kernel->mistaken(ir::mistake::outer_value_assigned);
      static_cast<sum&>(*this) = other;
      return *this;
    }
    /// The instruction that is the value.
    constexpr std::uint32_t id() const {
      if (plus == 0 && base != none) return base;
      const std::uint32_t number = kernel->constant(ir::scalar_type::int32, plus);
      return base == none ? number : kernel->add(ir::opcode::add, ir::scalar_type::int32, base, number);
    }
  };
  template <class T>
  using representation = node;

  template <ir::opcode Op, class Result, class... Rest>
  static constexpr node apply(const node& a, const Rest&... rest) {
    using enum ir::opcode;
    if constexpr (std::is_same_v<Result, std::int32_t> && (Op == add || Op == sub || Op == mul)) {
      return linear<Op>(a, rest...);
    } else {
      return {a.kernel, a.kernel->add(Op, ir::scalar_type_of<Result>, a.id(), rest.id()...)};
    }
  }
  template <ir::opcode Op, class T>
  static constexpr node shift(const node& a, int amount) {
    return apply<Op, T>(a, literal<T, T>(a, static_cast<T>(amount)));
  }
  template <class T, class Like>
  static constexpr node literal(const node& like, T x) {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      return {like.kernel, node::none, static_cast<std::uint32_t>(x)};
    } else {
      return {like.kernel, like.kernel->constant(ir::scalar_type_of<T>, word_of(x))};
    }
  }
  template <class T, class Like>
  static constexpr node captured(const node& like, const uniform<T>& u) {
    return {like.kernel, like.kernel->uniform(ir::scalar_type_of<T>, word_of(u.value))};
  }

 private:
  /// Sums, differences and products of int32.
  template <ir::opcode Op>
  static constexpr node linear(const node& a, const node& b) {
    constexpr std::uint32_t none = node::none;
    ir::builder* const kernel = a.kernel;
    constexpr ir::scalar_type whole = ir::scalar_type::int32;
    if constexpr (Op == ir::opcode::mul) {
      if (a.base == none && b.base == none) return {kernel, none, a.plus * b.plus};
      if (b.base == none) return {kernel, kernel->add(Op, whole, a.base, b.id()), a.plus * b.plus};
      if (a.base == none) return {kernel, kernel->add(Op, whole, b.base, a.id()), a.plus * b.plus};
      return {kernel, kernel->add(Op, whole, a.id(), b.id())};
    } else if constexpr (Op == ir::opcode::sub) {
      if (b.base == none) return {kernel, a.base, a.plus - b.plus};
      if (a.base == none) return {kernel, kernel->add(Op, whole, a.id(), b.base), 0u - b.plus};
      return {kernel, kernel->add(Op, whole, a.base, b.base), a.plus - b.plus};
    } else {
      if (b.base == none) return {kernel, a.base, a.plus + b.plus};
      if (a.base == none) return {kernel, b.base, a.plus + b.plus};
      return {kernel, kernel->add(Op, whole, a.base, b.base), a.plus + b.plus};
    }
  }

  template <class T>
  static constexpr std::uint32_t word_of(T x) {
    if constexpr (sizeof(T) == 4) {
      return std::bit_cast<std::uint32_t>(x);
    } else {
      return x ? 1 : 0;
    }
  }
};

/// A value of type `T` of the kernel that is being traced.
template <class T>
using traced = kernel_value<T, tracer>;

namespace kernel_detail {

/// The instructions of `F`.
template <class F, std::uint32_t Salt, class... In>
class recording {
 public:
  ir::builder kernel{Salt};

  /// Not while it is constructed: that costs twice as much in constant evaluation.
  constexpr void run() {
    record(std::index_sequence_for<In...>{});
    kernel.finish(sizeof...(In));
  }

 private:
  template <std::size_t... I>
  constexpr void record(std::index_sequence<I...>) {
    const std::uint32_t ids[] = {kernel.input(ir::scalar_type_of<In>, I)...};
    if constexpr (captures_nothing<F>) {
      store_all(F{}(traced<In>{{&kernel, ids[I]}}...));
    } else {
      store_all(stand_in<F, Salt>()(traced<In>{{&kernel, ids[I]}}...));
    }
  }

  template <class V>
  constexpr void store_all(const V& result) {
    if constexpr (requires { std::tuple_size<V>::value; }) {
      std::apply([this](const auto&... one) { (this->store(one), ...); }, result);
    } else {
      store(result);
    }
  }

  template <class V>
  constexpr void store(const V& result) {
    static_assert(operand<V>, "a kernel returns a value computed from its inputs, a number, or a std::tuple of these");
    static_assert(!std::is_same_v<element_t<V>, bool>, "a kernel cannot store a bool: write select(condition, 1, 0)");
    const traced<float> like{{&kernel, 0}};
    kernel.output(lift<stored_t<V>>(like, result).rep.id());
  }
};

/// With room for any kernel; what comes of it is then cut to size.
template <class F, std::uint32_t Salt, class... In>
constexpr ir::scratch_program recorded() {
  recording<F, Salt, In...> r;
  r.run();
  return r.kernel.finished();
}

/// One evaluation: a constant that is a local of a function is evaluated by clang with each call of it, too.
template <class F, std::uint32_t Salt, class... In>
inline constexpr ir::scratch_program recorded_holder = recorded<F, Salt, In...>();

template <const ir::scratch_program& Whole, class F, class... In>
constexpr auto cut_to_size() {
  constexpr const ir::scratch_program& whole = Whole;
  static_assert(!whole.is_full, "a kernel has at most 2048 instructions and 16 outputs: split it, or loop over less");
  ir::program<whole.size, whole.output_count> p{};
  ir::instruction* const code = p.code.data();
  for (std::size_t i = 0; i < whole.size; ++i) code[i] = whole.code[i];
  for (std::size_t i = 0; i < whole.output_count; ++i) p.outputs[i] = whole.outputs[i];
  p.inputs = sizeof...(In);
  p.uniform_bytes = captures_nothing<F> ? 0 : sizeof(F);
  return p;
}

template <class F, class... In>
constexpr auto checked_program() {
  using result = decltype(std::declval<const F&>()(std::declval<traced<In>>()...));
  static_assert(!std::is_void_v<result>,
                "a kernel returns a value computed from its inputs, a number, or a std::tuple of these");
  static_assert(captures_nothing<F> || captures_plain_words<F>,
                "a kernel captures nothing but uniform<float>, uniform<int32_t> and uniform<uint32_t>, by value");
  if constexpr (std::is_void_v<result>) {
    return ir::program<1, 1>{};
  } else if constexpr (captures_nothing<F>) {
    return cut_to_size<recorded_holder<F, 0, In...>, F, In...>();
  } else if constexpr (captures_plain_words<F>) {
    static_assert(sizeof(F) <= 124, "the captures of a kernel take at most 124 bytes: they are push constants");
    static_assert(cut_to_size<recorded_holder<F, 0, In...>, F, In...>() ==
                      cut_to_size<recorded_holder<F, 0x40000000u, In...>, F, In...>(),
                  "a kernel captures a plain value, which would be baked in: capture uniform{value} instead");
    return cut_to_size<recorded_holder<F, 0, In...>, F, In...>();
  } else {
    return ir::program<1, 1>{};
  }
}

template <class F, class... In>
inline constexpr auto program_holder = checked_program<F, In...>();

}  // namespace kernel_detail

/// The instructions of the element-wise kernel `F` on inputs of the types `In`: an ir::program. `F` is a generic lambda
/// that returns a value, or a std::tuple of values, one for each output.
template <class F, class... In>
  requires(sizeof...(In) > 0 && (ir::is_scalar<In> && ...))
inline constexpr const auto& program_of = kernel_detail::program_holder<std::remove_const_t<F>, In...>;

/// The same of a lambda at hand: `trace<float, float>([](auto x, auto y) { return max(x, y); })`.
template <class... In, class F>
constexpr const auto& trace(const F&) {
  return program_of<F, In...>;
}

}  // namespace levada
