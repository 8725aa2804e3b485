// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/unit.hpp: from a stage to the code of a unit. The last place where a stage has a type: each
// function here is made for one callable or kernel and its item types, never for the pipeline.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/feedback.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/detail/missing.hpp>
#include <levada/graph/detail/retry.hpp>
#include <levada/graph/detail/stage.hpp>
#include <levada/graph/op.hpp>
#include <levada/run/detail/program/erased_object.hpp>
#include <levada/run/detail/program/make_kernel.hpp>
#include <levada/run/detail/program/stage_address.hpp>
#include <levada/run/detail/program/unit_call.hpp>
#include <levada/run/detail/program/unit_descriptor.hpp>

namespace levada::detail {

/// The current exception becomes that of the item. `Call`: of a unit, or of a chain.
template <class Call>
[[gnu::cold, gnu::noinline]] void fail_item(Call& call, std::size_t i) noexcept {
  call.error[i] = std::current_exception();
  set_state(call.state[i], item_state::failing);
  call.lost_some = true;
}

/// Where nobody is told of the items that ended before.
struct skip_ended {
  void operator()(item_state) const noexcept {}
};

/// Calls `body(in, out, index)` for each item that is still a value, and `ended(state)` for each other. What the body
/// throws becomes the item's; the loop goes on behind it.
template <class Body, class Ended = skip_ended>
[[gnu::always_inline]] inline void for_each_item(unit_call& call, Body body, Ended ended = {}) {
  // Copies, which the body cannot change.
  const void* const* const inputs = call.inputs;
  const std::size_t count = call.count, in_stride = call.in_stride, out_stride = call.out_stride;
  const bool some_ended = call.some_ended;
  const items_end& end = *call.end;
  for (std::ptrdiff_t at = -static_cast<std::ptrdiff_t>(count);;) {
    try {
      std::byte* in = call.in + item_number(count, at) * in_stride;
      std::byte* out = call.out + item_number(count, at) * out_stride;
      for (; at < end.load(std::memory_order_relaxed); ++at, in += in_stride, out += out_stride) {
        const std::size_t i = item_number(count, at);
        if (some_ended) {
          if (const item_state now = state_of(call.state[i]); now != item_state::value) {
            ended(now);
            continue;
          }
        }
        // The pipeline's input may be the caller's own object, which only a program that owns its input writes to.
        if (!body(inputs != nullptr ? const_cast<void*>(inputs[i]) : in, out, i)) {
          set_state(call.state[i], item_state::filtering);
          call.lost_some = true;
        }
      }
      if (at != 0) call.count = item_number(count, at);
      return;
    } catch (...) {
      fail_item(call, item_number(count, at++));
    }
  }
}

/// Constructs the result of a call in place.
template <class T, class Make>
[[gnu::always_inline]] inline void construct_from(void* at, Make&& make) {
  ::new (at) T(std::forward<Make>(make)());
}

/// Destroys what a call that threw has begun.
template <class T>
struct kept_if_done {
  T* object;
  ~kept_if_done() {
    if (object != nullptr) std::destroy_at(object);
  }
};

/// One item: false where it is filtered. What the callable throws leaves no output.
template <form Form, class In, class Out, class F>
[[gnu::always_inline]] inline bool call_with(F& f, void* in, void* out) {
  In& item = *static_cast<In*>(in);
  if constexpr (Form == form::map)
    construct_from<Out>(out, [&]() -> decltype(auto) { return f(std::as_const(item)); });
  else if constexpr (Form == form::consume)
    construct_from<Out>(out, [&]() -> decltype(auto) { return f(std::move(item)); });
  else if constexpr (Form == form::in_place)
    f(item);
  else if constexpr (Form == form::sink)
    f(std::as_const(item));
  else if constexpr (Form == form::destination) {
    kept_if_done<Out> made{::new (out) Out};
    f(std::as_const(item), *made.object);
    made.object = nullptr;
  } else {
    auto kept = [&]() -> decltype(auto) {
      if constexpr (Form == form::filter)
        return f(std::as_const(item));
      else
        return f(std::move(item));
    }();
    if (!kept.has_value()) return false;
    ::new (out) Out(std::move(*kept));
  }
  return true;
}
/// The same with a callable that is called again where it throws.
template <form Form, class In, class Out, class F, std::size_t Again>
bool call_with(retried<F, Again>& f, void* in, void* out) {
  for (std::size_t left = Again; left != 0; --left) {
    try {
      return call_with<Form, In, Out>(f.callable, in, out);
    } catch (...) {  // the next call decides
    }
  }
  return call_with<Form, In, Out>(f.callable, in, out);
}

/// What parameter `n` beside the `i`-th item refers to.
template <class P>
decltype(auto) side_argument(const unit_call& call, std::size_t i, std::size_t n) {
  using side = std::remove_cvref_t<P>;
  if constexpr (std::is_same_v<side, item_envelope>) {
    return static_cast<const item_envelope&>(call.envelopes[i]);
  } else {
    const side_place& place = call.places[n];
    void* const at = call.sides + i * call.side_stride + place.offset;
    if (place.fresh) ::new (at) side{};
    if constexpr (attaches_side<P>)
      return *std::launder(static_cast<side*>(at));
    else
      return static_cast<const side&>(*std::launder(static_cast<side*>(at)));
  }
}

/// A callable that is given what it takes beside its item.
template <class F, class... P>
struct called_with_sides {
  F& callable;
  const unit_call& call;
  std::size_t i;

  template <class... Items>
  [[gnu::always_inline]] decltype(auto) operator()(Items&&... items) const {
    return [&]<std::size_t... N>(std::index_sequence<N...>) -> decltype(auto) {
      return callable(std::forward<Items>(items)..., side_argument<P>(call, i, N)...);
    }(std::index_sequence_for<P...>{});
  }
};
template <class F, class... P>
called_with_sides<F, P...> with_sides(F& f, const unit_call& call, std::size_t i, type_list<P...>) {
  return {f, call, i};
}
template <class F, std::size_t Again, class... P>
retried<called_with_sides<F, P...>, Again> with_sides(retried<F, Again>& f, const unit_call& call, std::size_t i,
                                                      type_list<P...>) {
  return {{f.callable, call, i}};
}

/// Items that are changed in place but come from a part of something, or become one: each is moved there first, and
/// `change`, which is the stage's code, called for it.
template <class T>
[[gnu::cold, gnu::noinline]] void change_where_moved(unit_call& call, unit_code change) noexcept {
  for (std::size_t i = 0; i < call.count; ++i) {
    if (call.end->load(std::memory_order_relaxed) != 0) {
      call.count = i;
      return;
    }
    unit_call one = call;
    one.end = &behind_the_last;
    one.inputs = nullptr;
    one.in = one.out = call.out + i * call.out_stride;
    one.state += i;
    one.error += i;
    if (call.sides != nullptr) one.sides += i * call.side_stride;
    if (call.envelopes != nullptr) one.envelopes += i;
    one.count = 1;
    one.lost_some = false;
    if (state_of(*one.state) != item_state::value) {
      change(one);  // it may be told
      continue;
    }
    try {
      void* const from = call.inputs != nullptr ? const_cast<void*>(call.inputs[i]) : call.in + i * call.in_stride;
      ::new (static_cast<void*>(one.out)) T(std::move(*static_cast<T*>(from)));
    } catch (...) {
      fail_item(call, i);
      continue;
    }
    change(one);
    if (!one.lost_some) continue;
    std::destroy_at(std::launder(reinterpret_cast<T*>(one.out)));
    call.lost_some = true;
  }
}

template <class F, form Form, class In, class Out>
void run_callable(unit_call& call) noexcept {
  if constexpr (Form == form::in_place)
    if (call.out != (call.inputs != nullptr ? call.inputs[0] : call.in))
      return change_where_moved<In>(call, &run_callable<F, Form, In, Out>);
  F& f = *static_cast<F*>(call.object);
  const auto body = [&]([[maybe_unused]] void* in, [[maybe_unused]] void* out, [[maybe_unused]] std::size_t i) {
    using sides = typename sides_of<F, Form>::type;
    if constexpr (sides::size == 0) {
      return call_with<Form, In, Out>(f, in, out);
    } else {
      auto with = with_sides(f, call, i, sides{});
      return call_with<Form, In, Out>(with, in, out);
    }
  };
  if constexpr (observes_missing<F>)
    for_each_item(call, body, [&f](item_state as) noexcept { f.missed(missing_as(as)); });
  else
    for_each_item(call, body);
}

template <class Kernel, class In, class Out>
void run_kernel(unit_call& call) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(call.object);
  for_each_item(call, [&](void* in, void* out, std::size_t) {
    if constexpr (is_branch_items<In>)
      static_cast<const In*>(in)->apply(
          [&](const auto&... parts) { kernel(std::tie(parts...), *::new (out) Out, call.scratch); });
    else
      kernel(*static_cast<const In*>(in), *::new (out) Out, call.scratch);
    return true;
  });
}

template <class T>
constexpr destroy_code destroy_code_of() {
  if constexpr (std::is_trivially_destructible_v<T> || std::is_void_v<T>)
    return nullptr;
  else
    return [](void* p) noexcept { std::destroy_at(static_cast<T*>(p)); };
}

/// A callable as a unit.
template <class F, form Form, class In, class Out>
consteval unit_descriptor describe_callable() {
  unit_descriptor text{{}, &run_callable<F, Form, In, Out>, nullptr, 0, 0, true, destroy_code_of<Out>()};
  if constexpr (is_adjusted<F>) {
    text.own_copy = false;
    text.make = [](void* callable) { return erased_object::make<F>(*static_cast<const F*>(callable)); };
  } else if constexpr (std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F>) {
    text.bytes = sizeof(F);
    text.alignment = alignof(F);
    text.own_copy = !std::is_empty_v<F>;
  } else {
    text.make = [](void* callable) { return erased_object::make<F>(std::move(*static_cast<F*>(callable))); };
    text.copyable = std::is_copy_constructible_v<F>;
  }
  text.observes_missing = observes_missing<F>;
  text.sides = sides_of<F, Form>::type::size;
  return text;
}
/// A descriptor with the text of its name beside it. The text of a template argument has a symbol and a section, and
/// both spell it.
template <std::size_t N>
struct named_descriptor : unit_descriptor {
  fixed_string<N> text;

  constexpr named_descriptor(const fixed_string<N>& name_text, const unit_descriptor& unnamed)
      : unit_descriptor(unnamed), text(name_text) {
    name = text.view();
  }
  named_descriptor(const named_descriptor&) = delete;
  named_descriptor& operator=(const named_descriptor&) = delete;
};
template <fixed_string Name, class F, form Form, class In, class Out>
inline constexpr named_descriptor callable_text{Name, describe_callable<F, Form, In, Out>()};

/// The end of a feedback: its object is that of the head.
template <class State, std::size_t Items>
void run_loop_tail(unit_call& call) noexcept {
  auto& states = static_cast<loop_head<State, Items>*>(call.object)->states;
  for_each_item(call, [&](void* in, void*, std::size_t) {
    states.push(*static_cast<const State*>(in));
    return true;
  });
}
template <fixed_string Name, class State, std::size_t Items>
inline constexpr named_descriptor callable_text<Name, loop_tail<State, Items>, form::sink, State, void>{
    Name, unit_descriptor{{}, &run_loop_tail<State, Items>}};

/// A kernel as a unit: one that is called, or one that its device runs.
template <class Kernel, class In, class Out>
inline constexpr unit_descriptor kernel_text{{}, &run_kernel<Kernel, In, Out>};
template <class Kernel, class In, class Out>
  requires std::derived_from<Kernel, device_kernel>
inline constexpr unit_descriptor kernel_text<Kernel, In, Out>{
    .destroy = destroy_code_of<Out>(),
    .on_device = [](const void* kernel) -> const device_kernel* { return static_cast<const Kernel*>(kernel); }};

/// Some tiles of an item. Not inlined: a unit that is divided is run by this, whole or not.
template <class Kernel, class In, class Out>
[[gnu::noinline]] void compute_tiles(const void* kernel, const void* in, void* out, std::byte* scratch,
                                     tile_range some) noexcept {
  static_assert(std::is_trivially_default_constructible_v<Out>);
  const Kernel& of = *static_cast<const Kernel*>(kernel);
  Out& to = *static_cast<Out*>(out);
  if constexpr (is_branch_items<In>)
    static_cast<const In*>(in)->apply(
        [&](const auto&... parts) { of.of_tiles(std::tie(parts...), to, scratch, some); });
  else
    of.of_tiles(*static_cast<const In*>(in), to, scratch, some);
}
template <tiles_code Compute, std::size_t Tiles>
void run_all_tiles(unit_call& call) noexcept {
  for_each_item(call, [&](void* in, void* out, std::size_t) {
    Compute(call.object, in, out, call.scratch, {0, Tiles});
    return true;
  });
}

/// A kernel as a unit that the plan divides.
template <class Kernel, class In, class Out>
inline constexpr tiles_code tiles_text = &compute_tiles<Kernel, In, Out>;

template <class Kernel, class In, class Out, class... Ops>
inline constexpr auto make_text = &make_kernel<Kernel, Ops...>;

/// A kernel as a unit that says how it is made. `Ops`: each an op_with_input. `Divided`: by the plan.
template <bool Divided, class Kernel, class In, class Out, class... Ops>
inline constexpr unit_descriptor made_kernel_text = [] {
  unit_descriptor text = kernel_text<Kernel, In, Out>;
  text.make_kernel = make_text<Kernel, In, Out, Ops...>;
  return text;
}();
template <class Kernel, class In, class Out, class... Ops>
inline constexpr unit_descriptor made_kernel_text<true, Kernel, In, Out, Ops...>{
    .run = &run_all_tiles<tiles_text<Kernel, In, Out>, Kernel::tiles>,
    .make_kernel = make_text<Kernel, In, Out, Ops...>,
    .of_tiles = tiles_text<Kernel, In, Out>,
    .tiles = Kernel::tiles};

}  // namespace levada::detail
