// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/trace_grid.hpp: from the generic lambda of a grid kernel to its instructions, while the program
// compiles.
//
// The lambda is called as f(g, inputs..., outputs...). `g.x()` is where the invocation stands; buffers are those of
// kernel/detail/buffer.hpp. A C++ loop is unrolled, `g.fold` and `g.loop` are loops on the device.

#include <levada/kernel/detail/buffer.hpp>
#include <levada/kernel/detail/fold_state.hpp>
#include <levada/kernel/detail/grid.hpp>
#include <levada/kernel/detail/source_hash.hpp>
#include <levada/kernel/detail/trace.hpp>

namespace levada {

namespace ir {

/// The builder of a grid kernel: its instructions, and what they name.
struct grid_builder : builder {
  using builder::builder;
  constexpr_vector<shared_info, 16> shared;
  constexpr_vector<scalar_type, 64> locals;
};

}  // namespace ir

template <class T, std::size_t N>
class traced_shared;
template <class T>
class traced_variable;

/// What the `g` of a kernel that is being traced can do. Grids are values here, so that compilers make it once for all
/// kernels.
class traced_invocation {
 public:
  constexpr traced_invocation(ir::grid_builder& kernel, const ir::grid_info& grid) : kernel_(&kernel), grid_(&grid) {}

  // ---- where this invocation stands, as int32; each in a declaration of its own, as their types differ on the CPU
  // ----

  constexpr traced<std::int32_t> x() const { return standing(ir::global_x, 0); }
  constexpr traced<std::int32_t> y() const { return standing(ir::global_y, 1); }
  constexpr traced<std::int32_t> z() const { return standing(ir::global_z, 2); }
  /// Inside the workgroup.
  constexpr traced<std::int32_t> local_x() const { return standing_in_group(ir::local_x, 0); }
  constexpr traced<std::int32_t> local_y() const { return standing_in_group(ir::local_y, 1); }
  constexpr traced<std::int32_t> local_z() const { return standing_in_group(ir::local_z, 2); }
  /// Of the workgroup among the others.
  constexpr traced<std::int32_t> group_x() const { return standing(ir::group_x, 0); }
  constexpr traced<std::int32_t> group_y() const { return standing(ir::group_y, 1); }
  constexpr traced<std::int32_t> group_z() const { return standing(ir::group_z, 2); }

  // ---- values ----

  /// A number, uniform or value as a value that begins here, to be changed by `=` and `+=` until the loop or branch
  /// around it ends.
  template <class V>
  constexpr auto value(const V& v) const {
    static_assert(kernel_detail::operand<V>, "g.value takes a number, a uniform or a value");
    return kernel_detail::lift<kernel_detail::stored_t<V>>(like(), v);
  }
  /// A variable that loops and branches may change: `v = x`, `v += x`, read with `v.get()`.
  template <class V>
  constexpr auto var(const V& initial) const {
    const auto v = value(initial);
    using T = typename decltype(v)::element;
    const std::uint32_t slot = kernel_->locals.size;
    kernel_->locals.push(ir::scalar_type_of<T>);
    const traced_variable<T> result(*kernel_, slot);
    result = v;
    return result;
  }

  // ---- structure ----

  /// `s = f(i, s)` for each int i from `low` to `high - 1`, beginning with `initial`; a loop on the device. The state
  /// is a value, or a std::array, std::pair or std::tuple of these.
  template <class Low, class High, class State, class F>
  constexpr auto fold(const Low& low, const High& high, const State& initial, F&& f) const {
    const auto first = values(initial);
    const traced<std::int32_t> counter{{kernel_, kernel_->open_loop(bound(low), bound(high))}};
    auto state = kernel_detail::map_states(
        [&](const auto& v) {
          using T = typename std::remove_cvref_t<decltype(v)>::element;
          return traced<T>{{kernel_, kernel_->phi(ir::scalar_type_of<T>, v.rep.id())}};
        },
        first);
    const auto phis = state;
    const auto next = values(f(counter, state));
    static_assert(std::is_same_v<decltype(next), decltype(first)>,
                  "the lambda of g.fold gives back the state it was given, of the same type");
    if constexpr (std::is_same_v<decltype(next), decltype(first)>)
      kernel_detail::for_each_state(
          [&](const auto& phi, const auto& v) { kernel_->set_next(phi.rep.id(), v.rep.id()); }, phis, next);
    kernel_->close();
    return kernel_detail::map_states([](const auto& v) { return v; }, phis);
  }
  /// `f(i)` for each int i from `low` to `high - 1`: for stores, variables and barriers.
  template <class Low, class High, class F>
  constexpr void loop(const Low& low, const High& high, F&& f) const {
    const traced<std::int32_t> counter{{kernel_, kernel_->open_loop(bound(low), bound(high))}};
    f(counter);
    kernel_->close();
  }
  /// `then()` where `c` holds: for stores and variables.
  template <class Condition, class Then>
  constexpr void when(const Condition& c, Then&& then) const {
    kernel_->open_branch(condition(c).rep.id());
    then();
    kernel_->close();
  }
  template <class Condition, class Then, class Otherwise>
  constexpr void when(const Condition& c, Then&& then, Otherwise&& otherwise) const {
    kernel_->open_branch(condition(c).rep.id());
    then();
    kernel_->otherwise();
    otherwise();
    kernel_->close();
  }

  // ---- the workgroup ----

  /// An array that the workgroup shares, uninitialised: `s[i] = v` writes, `s(i)` reads.
  template <class T, std::size_t N>
    requires(ir::is_scalar<T> && !std::is_same_v<T, bool> && N > 0)
  constexpr auto shared() const {
    const std::uint32_t slot = kernel_->shared.size;
    kernel_->shared.push({ir::scalar_type_of<T>, N});
    return traced_shared<T, N>(*this, *kernel_, slot);
  }
  /// No invocation of the workgroup goes on before all are here, and what they wrote to shared arrays is seen by all.
  /// Not inside `when`, nor in a loop whose bounds differ between them.
  constexpr void barrier() const { kernel_->barrier(); }

  // ---- for buffers ----

  template <class T>
  constexpr traced<T> literal(T x) const {
    return {tracer::literal<T, float>(like().rep, x)};
  }
  template <class I>
  constexpr decltype(auto) index(const I& i) const {
    static_assert(kernel_detail::is_index<I>, "an index or a bound is an int32: convert it with to_int");
    if constexpr (std::is_integral_v<I>) {
      return literal(static_cast<std::int32_t>(i));
    } else if constexpr (kernel_detail::is_value<I>) {
      return (i);
    } else {
      return kernel_detail::lift<std::int32_t>(like(), i);
    }
  }
  /// In one function for all shapes: every operator costs while compiling.
  template <class... I>
  constexpr traced<std::int32_t> row_major(const std::uint32_t* extents, const I&... index) const {
    const tracer::sum parts[] = {part(index)...};
    const tracer::sum at = place(extents, parts, sizeof...(I));
    return {{kernel_, at.base, at.plus}};
  }
  template <class C>
  constexpr traced<bool> condition(const C& c) const {
    static_assert(std::is_same_v<kernel_detail::element_t<C>, bool>, "a condition is a bool: compare with something");
    return kernel_detail::lift<bool>(like(), c);
  }
  template <class T>
  constexpr auto load(std::uint32_t slot, const traced<std::int32_t>& offset) const {
    using raw = kernel_detail::raw_t<T>;
    return traced<raw>{{kernel_, kernel_->load(ir::scalar_type_of<raw>, offset.rep.id(), slot)}};
  }
  template <class T>
  constexpr auto load_where(std::uint32_t slot, const traced<std::int32_t>& offset, const traced<bool>& ok) const {
    return select(ok, load<T>(slot, select(ok, offset, 0)), 0);
  }
  template <class T, class V>
  constexpr void store(std::uint32_t slot, const traced<std::int32_t>& offset, const V& v) const {
    kernel_->effect(ir::opcode::store, ir::scalar_type_of<typename V::element>, offset.rep.id(), v.rep.id(), slot);
  }

 private:
  template <class I>
  constexpr tracer::sum part(const I& i) const {
    if constexpr (std::is_integral_v<I>)
      return {kernel_, tracer::node::none, static_cast<std::uint32_t>(i)};
    else
      return index(i).rep;
  }
  constexpr tracer::sum place(const std::uint32_t* extents, const tracer::sum* parts, std::size_t count) const {
    using enum ir::opcode;
    constexpr ir::scalar_type whole = ir::scalar_type::int32;
    constexpr std::uint32_t none = tracer::node::none;
    std::uint32_t base = parts[0].base, plus = parts[0].plus;
    for (std::size_t axis = 1; axis < count; ++axis) {
      const std::uint32_t extent = extents[axis], other = parts[axis].base;
      if (base != none) base = kernel_->add(mul, whole, base, kernel_->constant(whole, extent));
      plus = plus * extent + parts[axis].plus;
      base = base == none ? other : other == none ? base : kernel_->add(add, whole, base, other);
    }
    return {kernel_, base, plus};
  }
  constexpr traced<float> like() const { return {{kernel_, 0}}; }
  constexpr traced<std::int32_t> standing(ir::built_in_number which, std::size_t axis) const {
    if (grid_->extents[axis] == 1) return literal(0);
    return {{kernel_, kernel_->built_in(which)}};
  }
  constexpr traced<std::int32_t> standing_in_group(ir::built_in_number which, std::size_t axis) const {
    if (grid_->group[axis] == 1) return literal(0);
    return {{kernel_, kernel_->built_in(which)}};
  }
  template <class State>
  constexpr auto values(const State& state) const {
    return kernel_detail::map_states([this](const auto& v) { return this->value(v); }, state);
  }
  template <class I>
  constexpr std::uint32_t bound(const I& i) const {
    return index(i).rep.id();
  }

  ir::grid_builder* kernel_;
  const ir::grid_info* grid_;
};

/// The `g` of a kernel that is being traced; kernel/detail/grid_xsimd.hpp has the one that runs on the CPU.
template <class Grid>
class traced_grid : public traced_invocation {
 public:
  using memory = traced_invocation;
  static constexpr ir::grid_info info = Grid::info;

  constexpr explicit traced_grid(ir::grid_builder& kernel) : traced_invocation(kernel, Grid::info) {}

  /// The size of a workgroup along an axis: x is 0.
  static constexpr int group_size(std::size_t axis) { return static_cast<int>(info.group[axis]); }
};

/// A variable of a kernel that is being traced.
template <class T>
class traced_variable {
 public:
  constexpr traced_variable(ir::grid_builder& kernel, std::uint32_t slot) : kernel_(&kernel), slot_(slot) {}

  constexpr traced<T> get() const {
    return {{kernel_, kernel_->effect(ir::opcode::load_local, ir::scalar_type_of<T>, slot_)}};
  }
  template <class V>
    requires kernel_detail::operand<V>
  constexpr void operator=(const V& v) const {
    static_assert(kernel_detail::number<V> || std::is_same_v<kernel_detail::element_t<V>, T>,
                  "a variable keeps its type: convert with to_float, to_int or to_uint");
    const traced<T> like{{kernel_, 0}};
    kernel_->effect(ir::opcode::store_local, ir::scalar_type_of<T>, kernel_detail::lift<T>(like, v).rep.id(), slot_);
  }
  template <class V>
  constexpr void operator+=(const V& v) const {
    *this = get() + v;
  }
  template <class V>
  constexpr void operator-=(const V& v) const {
    *this = get() - v;
  }
  template <class V>
  constexpr void operator*=(const V& v) const {
    *this = get() * v;
  }

 private:
  ir::grid_builder* kernel_;
  std::uint32_t slot_;
};

/// An array that a workgroup shares, of a kernel that is being traced.
template <class T, std::size_t N>
class traced_shared {
  struct place {
    ir::grid_builder* kernel;
    std::uint32_t slot, index;

    template <class V>
    constexpr void operator=(const V& v) const {
      const traced<T> like{{kernel, 0}};
      static_assert(kernel_detail::number<V> || std::is_same_v<kernel_detail::element_t<V>, T>,
                    "a shared array takes values of its own type: convert with to_float, to_int or to_uint");
      kernel->effect(ir::opcode::store_shared, ir::scalar_type_of<T>, index, kernel_detail::lift<T>(like, v).rep.id(),
                     slot);
    }
  };

 public:
  constexpr traced_shared(const traced_invocation&, ir::grid_builder& kernel, std::uint32_t slot)
      : kernel_(&kernel), slot_(slot) {}

  template <class I>
  constexpr traced<T> operator()(const I& i) const {
    return {{kernel_, kernel_->effect(ir::opcode::load_shared, ir::scalar_type_of<T>, index(i), slot_)}};
  }
  template <class I>
  constexpr place operator[](const I& i) const {
    return {kernel_, slot_, index(i)};
  }

 private:
  template <class I>
  constexpr std::uint32_t index(const I& i) const {
    static_assert(kernel_detail::is_index<I>, "an index is an int32: convert it with to_int");
    if constexpr (std::is_integral_v<I>) {
      return kernel_->constant(ir::scalar_type::int32, static_cast<std::uint32_t>(i));
    } else {
      return kernel_detail::lift<std::int32_t>(traced<float>{{kernel_, 0}}, i).rep.id();
    }
  }

  ir::grid_builder* kernel_;
  std::uint32_t slot_;
};

namespace kernel_detail {

/// A grid kernel in room for any.
struct scratch_grid_program {
  ir::scratch_program code;
  ir::shared_info shared[16];
  ir::scalar_type locals[64];
  std::uint32_t shared_count, local_count;
};

template <class Grid, class In, class Out, class F, std::uint32_t Salt>
constexpr scratch_grid_program recorded_grid() {
  ir::grid_builder kernel(Salt);
  const traced_grid<Grid> g(kernel);
  if constexpr (captures_nothing<F>) {
    call_with_buffers<In, Out>(F{}, g, places_of<In>{}, places_of<Out>{});
  } else {
    call_with_buffers<In, Out>(stand_in<F, Salt>(), g, places_of<In>{}, places_of<Out>{});
  }
  kernel.finish(0);
  scratch_grid_program all{};
  all.code = kernel.finished();
  all.code.is_full = all.code.is_full || kernel.shared.is_full || kernel.locals.is_full;
  for (std::uint32_t i = 0; i < kernel.shared.size; ++i) all.shared[i] = kernel.shared.elements[i];
  for (std::uint32_t i = 0; i < kernel.locals.size; ++i) all.locals[i] = kernel.locals.elements[i];
  all.shared_count = kernel.shared.size;
  all.local_count = kernel.locals.size;
  return all;
}

/// What the kernel computes and on which grid, as one number; 0 where its lambda cannot be followed while compiling.
template <class Grid, class In, class Out, class F>
constexpr std::uint64_t recorded_grid_hash() {
  const scratch_grid_program whole = recorded_grid<Grid, In, Out, F, 0>();
  std::uint64_t hash = whole.code.size;
  const auto add = [&](std::uint64_t word) { hash = source_hasher::mixed(hash, word); };
  for (std::size_t i = 0; i < whole.code.size; ++i) {
    const ir::instruction& one = whole.code.code[i];
    for (const std::uint64_t word : {std::uint64_t(one.op), std::uint64_t(one.type)}) add(word);
    for (const std::uint32_t operand : {one.a, one.b, one.c}) add(operand);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) add(Grid::info.extents[axis]), add(Grid::info.group[axis]);
  return hash;
}
template <class Grid, class In, class Out, class F>
consteval std::uint64_t grid_source_hash() {
  if constexpr (captures_nothing<F> || captures_plain_words<F>) {
    if constexpr (requires { typename std::integral_constant<std::uint64_t, recorded_grid_hash<Grid, In, Out, F>()>; })
      return recorded_grid_hash<Grid, In, Out, F>();
  }
  return 0;
}

/// As `recorded_holder`.
template <class Grid, class In, class Out, class F, std::uint32_t Salt>
inline constexpr scratch_grid_program recorded_grid_holder = recorded_grid<Grid, In, Out, F, Salt>();

template <class Grid, class In, class Out, class F, std::uint32_t Salt>
constexpr auto traced_grid_program() {
  constexpr const scratch_grid_program& whole = recorded_grid_holder<Grid, In, Out, F, Salt>;
  static_assert(
      !whole.code.is_full,
      "a kernel has at most 2048 instructions, 16 loops inside each other, 16 shared arrays and 64 variables: "
      "split it, or loop with g.fold");
  static_assert(
      whole.code.found != ir::mistake::outer_value_assigned,
      "a value from outside is assigned inside g.fold, g.loop or g.when, where it is traced once: make it the "
      "state of g.fold, or a g.var");
  static_assert(
      whole.code.found != ir::mistake::value_left_its_loop,
      "a value is used behind the g.fold, g.loop or g.when that computed it: make it the state of g.fold, or a "
      "g.var");
  static_assert(
      whole.code.found != ir::mistake::barrier_in_divergent_code,
      "g.barrier() stands where not all invocations of the workgroup come by: inside g.when, or in a loop whose "
      "bounds differ between them");
  constexpr std::size_t inputs = std::tuple_size_v<In>, buffers = inputs + std::tuple_size_v<Out>;
  ir::grid_program<whole.code.size, buffers, whole.shared_count, whole.local_count> p{};
  ir::instruction* const code = p.code.data();
  for (std::size_t i = 0; i < whole.code.size; ++i) code[i] = whole.code.code[i];
  for (std::size_t i = 0; i < whole.shared_count; ++i) p.shared[i] = whole.shared[i];
  for (std::size_t i = 0; i < whole.local_count; ++i) p.locals[i] = whole.locals[i];
  [&]<class... I, class... O>(std::type_identity<std::tuple<I...>>, std::type_identity<std::tuple<O...>>) {
    p.buffers = {buffer_of<typename I::value_type>(I::elements, false)...,
                 buffer_of<typename O::value_type>(O::elements, true)...};
  }(std::type_identity<In>{}, std::type_identity<Out>{});
  p.grid = Grid::info;
  p.uniform_bytes = captures_nothing<F> ? 0 : sizeof(F);
  return p;
}

template <class Grid, class In, class Out, class F>
constexpr auto checked_grid_program() {
  using result = decltype(call_with_buffers<In, Out>(std::declval<const F&>(), std::declval<const traced_grid<Grid>&>(),
                                                     places_of<In>{}, places_of<Out>{}));
  static_assert(std::is_void_v<result>, "a grid kernel writes to its outputs and returns nothing");
  static_assert(captures_nothing<F> || captures_plain_words<F>,
                "a kernel captures nothing but uniform<float>, uniform<int32_t> and uniform<uint32_t>, by value");
  if constexpr (captures_nothing<F>) {
    return traced_grid_program<Grid, In, Out, F, 0>();
  } else if constexpr (captures_plain_words<F>) {
    static_assert(sizeof(F) <= 128, "the captures of a grid kernel take at most 128 bytes: they are push constants");
    static_assert(traced_grid_program<Grid, In, Out, F, 0>() == traced_grid_program<Grid, In, Out, F, 0x40000000u>(),
                  "a kernel captures a plain value, which would be baked in: capture uniform{value} instead");
    return traced_grid_program<Grid, In, Out, F, 0>();
  } else {
    return ir::grid_program<1, 1, 0, 0>{};
  }
}

template <class Grid, class In, class Out, class F>
inline constexpr auto grid_program_holder = checked_grid_program<Grid, In, Out, F>();

}  // namespace kernel_detail

/// The instructions of the grid kernel `F`: an ir::grid_program. `In` and `Out` are tensors, or std::tuples of tensors.
template <class Grid, class In, class Out, class F>
inline constexpr const auto& grid_program_of =
    kernel_detail::grid_program_holder<Grid, typename kernel_detail::tensors_of<In>::type,
                                       typename kernel_detail::tensors_of<Out>::type, std::remove_const_t<F>>;

}  // namespace levada
