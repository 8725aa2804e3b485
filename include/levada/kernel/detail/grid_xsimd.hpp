// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/grid_xsimd.hpp: the lambda of a grid kernel called on the CPU with vectors of lanes along x.
//
// Three machines meet here: what is the same for all lanes (y, z, loop counters) is one number, x and what is added to
// it is a range of numbers, the rest are vectors. So an index that is a range is a plain vector load, and a condition
// on y a plain `if`. Where the grid is narrower than a vector, each invocation runs alone. Kernels with barriers are
// interpreted.

#include <levada/kernel/detail/buffer.hpp>
#include <levada/kernel/detail/fold_state.hpp>
#include <levada/kernel/detail/scalar.hpp>
#include <levada/kernel/detail/xsimd.hpp>
#include <levada/kernel/grid_kernel.hpp>

namespace levada {

/// base, base + step, base + 2 step, ... in the lanes of `Arch`.
template <class Arch>
struct lane_range {
  std::int32_t base, step;

  xsimd::batch<std::int32_t, Arch> vector() const {
    alignas(Arch::alignment()) std::int32_t numbers[xsimd::batch<std::int32_t, Arch>::size];
    for (std::size_t i = 0; i < std::size(numbers); ++i) numbers[i] = base + static_cast<std::int32_t>(i) * step;
    return xsimd::batch<std::int32_t, Arch>::load_aligned(numbers);
  }
};

/// The machine of int32 that are ranges. It adds and scales them; all else is done by `simd_machine`.
template <class Arch>
struct range_machine {
  template <class>
  using representation = lane_range<Arch>;

  template <class T, class Other>
  static lane_range<Arch> from(const auto& rep) {
    if constexpr (std::is_same_v<Other, scalar_machine>) {
      return {rep, 0};
    } else {
      return rep;
    }
  }
  template <ir::opcode Op, class Result>
  static lane_range<Arch> apply(const lane_range<Arch>& a, const lane_range<Arch>& b) {
    if constexpr (Op == ir::opcode::add) return {a.base + b.base, a.step + b.step};
    if constexpr (Op == ir::opcode::sub) return {a.base - b.base, a.step - b.step};
    if constexpr (Op == ir::opcode::mul)
      return {a.base * b.base, a.base * b.step + a.step * b.base};  // one is a number
  }
};

namespace kernel_detail {

template <class M>
inline constexpr bool is_range_machine = false;
template <class Arch>
inline constexpr bool is_range_machine<range_machine<Arch>> = true;

/// The architecture of a machine, or void.
template <class M>
struct arch_of {
  using type = void;
};
template <class Arch>
struct arch_of<simd_machine<Arch>> {
  using type = Arch;
};
template <class Arch>
struct arch_of<range_machine<Arch>> {
  using type = Arch;
};
template <class... M>
struct common_arch;
template <class M, class... Rest>
struct common_arch<M, Rest...> {
  using own = typename arch_of<M>::type;
  using type = typename std::conditional_t<std::is_void_v<own>, common_arch<Rest...>, arch_of<M>>::type;
};
template <class M>
struct common_arch<M> : arch_of<M> {};

template <class M>
concept lane_machine = std::is_same_v<M, scalar_machine> || !std::is_void_v<typename arch_of<M>::type>;

template <ir::opcode Op, class... M>
constexpr bool stays_a_range() {
  constexpr int ranges = (int{is_range_machine<M>} + ...);
  if (((!std::is_same_v<M, scalar_machine> && !is_range_machine<M>) || ...)) return false;
  return sizeof...(M) == 2 &&
         (Op == ir::opcode::add || Op == ir::opcode::sub || (Op == ir::opcode::mul && ranges == 1));
}

/// A range stays one where it can; where vectors are among the operands, or it cannot, vectors compute.
template <ir::opcode Op, lane_machine M, lane_machine... Rest>
  requires(is_range_machine<M> || (is_range_machine<Rest> || ...) || (!std::is_same_v<M, Rest> || ...))
struct computing<Op, M, Rest...> {
  using arch = typename common_arch<M, Rest...>::type;
  using machine = std::conditional_t<stays_a_range<Op, M, Rest...>(), range_machine<arch>, simd_machine<arch>>;
};

template <class Arch>
struct literals_beside<range_machine<Arch>> {
  using machine = scalar_machine;
};

/// The machine for rows of `Width`: the widest vectors that fit in, else numbers.
template <std::size_t Width>
constexpr auto machine_for_width() {
  if constexpr (simd_machine<xsimd::default_arch>::lanes <= Width) return simd_machine<xsimd::default_arch>{};
#if XSIMD_WITH_AVX2
  else if constexpr (simd_machine<xsimd::avx2>::lanes <= Width)
    return simd_machine<xsimd::avx2>{};
#endif
#if XSIMD_WITH_SSE2
  else if constexpr (simd_machine<xsimd::sse2>::lanes <= Width)
    return simd_machine<xsimd::sse2>{};
#endif
  else
    return scalar_machine{};
}

}  // namespace kernel_detail

/// The machine that runs rows of `Width` invocations.
template <std::size_t Width>
using grid_machine = decltype(kernel_detail::machine_for_width<Width>());

template <class T, class Machine>
class lane_variable;

/// Which lanes are active: not all inside `when`.
template <class Machine>
struct lane_state {
  bool masked = false;
  typename Machine::template representation<bool> active{};
};

/// The `g` of a grid kernel on the CPU, for the lanes from `x` on; kernel/detail/trace_grid.hpp says what its functions
/// are.
template <class Grid, class Machine>
class lane_grid {
  static constexpr std::size_t lanes = Machine::lanes;
  static constexpr bool alone = lanes == 1;
  template <class T>
  using wide = kernel_value<T, Machine>;
  using scalar_int = scalar_value<std::int32_t>;
  template <class T>
  using wide_rep = typename Machine::template representation<T>;
  using mask = wide_rep<bool>;

 public:
  using memory = lane_grid;
  static constexpr ir::grid_info info = Grid::info;

  lane_grid(lane_state<Machine>& state, const std::byte* const* inputs, std::byte* const* outputs,
            std::size_t input_count, std::int32_t x, std::int32_t y, std::int32_t z)
      : state_(&state), inputs_(inputs), outputs_(outputs), input_count_(input_count), x_(x), y_(y), z_(z) {}

  auto x() const {
    if constexpr (alone) {
      return scalar_int{x_};
    } else {
      return kernel_value<std::int32_t, range_machine<typename kernel_detail::arch_of<Machine>::type>>{{x_, 1}};
    }
  }
  scalar_int y() const { return {y_}; }
  scalar_int z() const { return {z_}; }
  auto local_x() const { return x() % group_size(0); }
  scalar_int local_y() const { return {y_ % group_size(1)}; }
  scalar_int local_z() const { return {z_ % group_size(2)}; }
  auto group_x() const { return x() / group_size(0); }
  scalar_int group_y() const { return {y_ / group_size(1)}; }
  scalar_int group_z() const { return {z_ / group_size(2)}; }
  static constexpr int group_size(std::size_t axis) { return static_cast<int>(info.group[axis]); }

  template <class V>
  auto value(const V& v) const {
    using T = kernel_detail::stored_t<V>;
    if constexpr (kernel_detail::is_value<V>) {
      return wide<T>{Machine::template from<T, typename V::machine>(v.rep)};
    } else if constexpr (kernel_detail::is_uniform<V>) {
      return wide<T>{Machine::template from<T, scalar_machine>(v.value)};
    } else {
      return literal(static_cast<T>(v));
    }
  }
  template <class V>
  auto var(const V& initial) const {
    auto v = value(initial);
    return lane_variable<typename decltype(v)::element, Machine>(*state_, v);
  }

  template <class Low, class High, class State, class F>
  auto fold(const Low& low, const High& high, const State& initial, F&& f) const {
    auto state = values(initial);
    const auto from = index(low);
    const auto up_to = index(high);
    if constexpr (is_one<decltype(from)> && is_one<decltype(up_to)>) {
      for (std::int32_t i = from.rep; i < up_to.rep; ++i) state = values(f(scalar_int{i}, state));
    } else {
      auto i = value(from);
      const auto last = value(up_to);
      const lane_state<Machine> before = *state_;
      for (;; i += 1) {
        set_active(before, (i < last).rep);
        if (!xsimd::any(state_->active)) break;
        const auto next = values(f(i, std::as_const(state)));
        const wide<bool> goes_on{state_->active};
        state =
            kernel_detail::map_states([&](const auto& n, const auto& s) { return select(goes_on, n, s); }, next, state);
      }
      *state_ = before;
    }
    return state;
  }
  template <class Low, class High, class F>
  void loop(const Low& low, const High& high, F&& f) const {
    fold(low, high, kernel_detail::no_state{}, [&](auto i, auto none) {
      f(i);
      return none;
    });
  }

  template <class Condition, class Then>
  void when(const Condition& c, Then&& then) const {
    when(c, then, [] {});
  }
  template <class Condition, class Then, class Otherwise>
  void when(const Condition& c, Then&& then, Otherwise&& otherwise) const {
    const auto holds = condition(c);
    if constexpr (is_one<decltype(holds)>) {
      if (holds.rep)
        then();
      else
        otherwise();
    } else {
      const lane_state<Machine> before = *state_;
      auto under = [&](const mask& its_lanes, auto& f) {
        set_active(before, its_lanes);
        if (xsimd::any(state_->active)) f();
      };
      under(holds.rep, then);
      under(~holds.rep, otherwise);
      *state_ = before;
    }
  }

  // ---- for buffers ----

  template <class T>
  wide<T> literal(T x) const {
    return {Machine::template from<T, scalar_machine>(x)};
  }
  template <class I>
  auto index(const I& i) const {
    if constexpr (kernel_detail::is_value<I>) {
      return i;
    } else if constexpr (kernel_detail::is_uniform<I>) {
      return scalar_int{i.value};
    } else {
      return scalar_int{static_cast<std::int32_t>(i)};
    }
  }
  template <class C>
  auto condition(const C& c) const {
    if constexpr (kernel_detail::is_value<C>) {
      return c;
    } else {
      return scalar_value<bool>{c};
    }
  }

  template <class T, class Offset>
  auto load(std::uint32_t slot, const Offset& offset) const {
    const T* data = input<T>(slot);
    if constexpr (is_one<Offset>) {
      return literal(raw_of(data[offset.rep]));
    } else {
      if (state_->masked) return gathered(data, offset, state_->active);
      if constexpr (is_range<Offset>)
        if (offset.rep.step == 1) return row_at(data + offset.rep.base);
      return gathered(data, offset);
    }
  }
  template <class T, class Offset, class C>
  auto load_where(std::uint32_t slot, const Offset& offset, const C& ok) const {
    using raw = kernel_detail::raw_t<T>;
    if constexpr (is_one<C>) {
      return ok.rep ? load<T>(slot, offset) : literal(raw{});
    } else {
      if (!state_->masked && xsimd::all(ok.rep)) return load<T>(slot, offset);
      return gathered(input<T>(slot), offset, state_->masked ? ok.rep & state_->active : ok.rep);
    }
  }
  template <class T, class Offset, class V>
  void store(std::uint32_t slot, const Offset& offset, const V& v) const {
    T* data = reinterpret_cast<T*>(outputs_[slot - input_count_]);
    if constexpr (alone) {
      data[offset.rep] = element_of<T>(v.rep);
    } else {
      if constexpr (is_range<Offset> && sizeof(T) == 4)
        if (!state_->masked && offset.rep.step == 1) return v.rep.store_unaligned(data + offset.rep.base);
      kernel_detail::raw_t<T> row[lanes];
      v.rep.store_unaligned(row);
      const auto at = places(offset);
      const auto active = state_->masked ? chosen(state_->active) : chosen(mask(true));
      for (std::size_t i = 0; i < lanes; ++i)
        if (active[i]) data[at[i]] = element_of<T>(row[i]);
    }
  }

 private:
  /// One number for all lanes; a range of numbers.
  template <class V>
  static constexpr bool is_one = std::is_same_v<typename V::machine, scalar_machine>;
  template <class V>
  static constexpr bool is_range = kernel_detail::is_range_machine<typename V::machine>;

  template <class State>
  auto values(const State& state) const {
    return kernel_detail::map_states([this](const auto& v) { return this->value(v); }, state);
  }
  void set_active(const lane_state<Machine>& before, const mask& among_these) const {
    state_->active = before.masked ? among_these & before.active : among_these;
    state_->masked = true;
  }

  template <class T>
  const T* input(std::uint32_t slot) const {
    return reinterpret_cast<const T*>(inputs_[slot]);
  }
  /// The index of each lane.
  template <class Offset>
  static auto places(const Offset& offset) {
    std::array<std::int32_t, lanes> at;
    if constexpr (is_one<Offset>) {
      at.fill(offset.rep);
    } else if constexpr (is_range<Offset>) {
      for (std::size_t i = 0; i < lanes; ++i) at[i] = offset.rep.base + static_cast<std::int32_t>(i) * offset.rep.step;
    } else {
      offset.rep.store_unaligned(at.data());
    }
    return at;
  }
  static auto chosen(const mask& m) {
    std::array<std::uint32_t, lanes> chosen;
    using words = xsimd::batch<std::uint32_t, typename kernel_detail::arch_of<Machine>::type>;
    Machine::template apply<ir::opcode::select, std::uint32_t>(m, words(1), words(0)).store_unaligned(chosen.data());
    return chosen;
  }

  template <class T>
  static auto row_at(const T* data) {
    using raw = kernel_detail::raw_t<T>;
    if constexpr (sizeof(T) == 4) {
      return wide<raw>{wide_rep<raw>::load_unaligned(data)};
    } else {
      raw row[lanes];
      for (std::size_t i = 0; i < lanes; ++i) row[i] = raw_of(data[i]);
      return wide<raw>{wide_rep<raw>::load_unaligned(row)};
    }
  }
  template <class T, class Offset>
  static auto gathered(const T* data, const Offset& offset) {
    using raw = kernel_detail::raw_t<T>;
    const auto at = places(offset);
    raw row[lanes];
    for (std::size_t i = 0; i < lanes; ++i) row[i] = raw_of(data[at[i]]);
    return wide<raw>{wide_rep<raw>::load_unaligned(row)};
  }
  template <class T, class Offset>
  static auto gathered(const T* data, const Offset& offset, const mask& where) {
    using raw = kernel_detail::raw_t<T>;
    const auto at = places(offset);
    const auto active = chosen(where);
    raw row[lanes];
    for (std::size_t i = 0; i < lanes; ++i) row[i] = active[i] ? raw_of(data[at[i]]) : raw{};
    return wide<raw>{wide_rep<raw>::load_unaligned(row)};
  }

  template <class T>
  static kernel_detail::raw_t<T> raw_of(T x) {
    if constexpr (sizeof(T) == 4) {
      return x;
    } else if constexpr (sizeof(T) == 2) {
      return std::bit_cast<std::uint16_t>(x);
    } else {
      return std::bit_cast<std::uint8_t>(x);
    }
  }
  template <class T>
  static T element_of(kernel_detail::raw_t<T> raw) {
    if constexpr (sizeof(T) == 4) {
      return raw;
    } else if constexpr (sizeof(T) == 2) {
      return std::bit_cast<T>(static_cast<std::uint16_t>(raw));
    } else {
      return std::bit_cast<T>(static_cast<std::uint8_t>(raw));
    }
  }

  lane_state<Machine>* state_;
  const std::byte* const* inputs_;
  std::byte* const* outputs_;
  std::size_t input_count_;
  std::int32_t x_, y_, z_;
};

/// A variable of a kernel on the CPU.
template <class T, class Machine>
class lane_variable {
 public:
  using held = kernel_value<T, Machine>;

  lane_variable(const lane_state<Machine>& state, const held& initial) : state_(&state), held_(initial) {}
  lane_variable(const lane_variable&) = delete;

  held get() const { return held_; }
  template <class V>
    requires kernel_detail::operand<V>
  void operator=(const V& v) {
    set(kernel_detail::lift<T>(held_, v));
  }
  void operator=(const lane_variable&) = delete;
  template <class V>
  void operator+=(const V& v) {
    *this = held_ + v;
  }
  template <class V>
  void operator-=(const V& v) {
    *this = held_ - v;
  }
  template <class V>
  void operator*=(const V& v) {
    *this = held_ * v;
  }

 private:
  template <class M>
  void set(const kernel_value<T, M>& v) {
    held wide{Machine::template from<T, M>(v.rep)};
    if constexpr (Machine::lanes > 1)
      if (state_->masked) wide = select(kernel_value<bool, Machine>{state_->active}, wide, held_);
    held_ = wide;
  }

  const lane_state<Machine>* state_;
  held held_;
};

namespace kernel_detail {

/// Runs the rows of the grid from `first` to `last`, counted along y, then z. The last vector of a row overlaps the one
/// before: its lanes compute what they computed before.
template <class Grid, class In, class Out, class Machine, class F>
void run_rows(const F& f, const std::byte* const* inputs, std::byte* const* outputs, std::uint32_t first,
              std::uint32_t last) {
  constexpr std::int32_t width = Grid::info.extents[0], height = Grid::info.extents[1], lanes = Machine::lanes;
  static_assert(width >= lanes);
  using g = lane_grid<Grid, Machine>;
  for (std::uint32_t row = first; row < last; ++row) {
    const auto y = static_cast<std::int32_t>(row) % height, z = static_cast<std::int32_t>(row) / height;
    for (std::int32_t x = 0; x < width; x += lanes) {
      lane_state<Machine> state;
      call_with_buffers<In, Out>(f, g(state, inputs, outputs, std::tuple_size_v<In>, std::min(x, width - lanes), y, z),
                                 places_of<In>{}, places_of<Out>{});
    }
  }
}

}  // namespace kernel_detail

/// Runs a grid kernel on this thread. The pointers name the memory of its tensors. With barriers or shared arrays it
/// goes to the interpreter.
template <fixed_string Name, class In, class Out, class Grid, class F>
void run_on_cpu(const traced_kernel<Name, In, Out, Grid, F>& kernel, const std::byte* const* inputs,
                std::byte* const* outputs) {
  constexpr ir::grid_program_view program = traced_kernel<Name, In, Out, Grid, F>::program();
  if constexpr (program.has_barrier() || !program.shared.empty()) {
    interpret(kernel, {inputs, std::tuple_size_v<In>}, {outputs, std::tuple_size_v<Out>});
  } else {
    kernel_detail::run_rows<Grid, In, Out, grid_machine<Grid::info.extents[0]>>(
        kernel.function, inputs, outputs, 0, Grid::info.extents[1] * Grid::info.extents[2]);
  }
}

}  // namespace levada
