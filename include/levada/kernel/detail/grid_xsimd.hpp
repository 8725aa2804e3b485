// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/grid_xsimd.hpp: the lambda of a grid kernel called on the CPU with vectors of lanes along x.
//
// An index that is a range of numbers (kernel/detail/lane_range.hpp) is a plain vector load, and a condition on y a
// plain `if`. Where the grid is narrower than a vector, each invocation runs alone. Kernels with barriers are
// interpreted.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/kernel/detail/buffer.hpp>
#include <levada/kernel/detail/fold_state.hpp>
#include <levada/kernel/detail/grid_kernel.hpp>
#include <levada/kernel/detail/ir.hpp>
#include <levada/kernel/detail/lane_range.hpp>
#include <levada/kernel/detail/lane_variable.hpp>
#include <levada/kernel/detail/operators.hpp>
#include <levada/kernel/detail/scalar.hpp>
#include <levada/kernel/detail/simd_machine.hpp>
#include <levada/kernel/detail/value.hpp>

namespace levada {

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
