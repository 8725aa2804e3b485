// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/chain.hpp: callables that follow one another, as one loop over the items of a grain, as a program
// without levada would have it. The engine takes it where all of them together cost less than to go to each in turn:
// run/detail/engine/engine.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/part_pack.hpp>
#include <levada/graph/detail/side_data.hpp>
#include <levada/run/detail/program/unit.hpp>
#include <levada/run/detail/program/unit_call.hpp>

namespace levada::detail {

/// A small state that changes from item to item. Where it stays in memory, each item waits for the store of the one
/// before.
template <class F>
concept kept_in_registers =
    !std::is_empty_v<F> && std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F> && sizeof(F) <= 32;

/// The state of a callable while the loop runs: a copy that registers hold, or the session's.
template <class F, bool Copied>
using state_in_chain = std::conditional_t<Copied && kept_in_registers<F>, F, F&>;

/// As the loop has changed it, word by word: a wider load would wait for the stores of all its words.
template <class F>
[[gnu::always_inline]] inline void put_back_state([[maybe_unused]] void* object, [[maybe_unused]] const F& state) {
  if constexpr (kept_in_registers<F>) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    if (object == &state) return;
    if constexpr (sizeof(F) <= word) {
      ::new (object) F(state);
    } else {
      // Inlined: the address of a state that leaves the function would keep the state in memory.
      [&]<std::size_t... W>(std::index_sequence<W...>) __attribute__((always_inline)) {
        (std::memcpy(static_cast<std::byte*>(object) + W * word, reinterpret_cast<const std::byte*>(&state) + W * word,
                     std::min(word, sizeof(F) - W * word)),
         ...);
      }
      (std::make_index_sequence<(sizeof(F) + word - 1) / word>());
    }
  }
}

/// A callable of a chain. `Serial`: nobody else calls it meanwhile.
template <class F, form Form, class In, class Out, bool Serial>
struct chain_step {
  using input = In;
  static constexpr bool takes_input = consumes(Form);

  /// Over one grain; `Copied`: with a copy of a small state.
  template <bool Copied>
  class over {
   public:
    over(const unit_path& path, const chain_call& call)
        : f_(*static_cast<F*>(*path.object)), out_(path.out.at(call.memory, call.slot)), stride_(path.out.stride) {}

    /// Where the result of the `i`-th item is, which came from `in`.
    [[gnu::always_inline]] void* operator()(void* in, std::size_t i) {
      std::byte* const out = out_ + i * stride_;
      call_with<Form, In, Out>(f_, in, out);
      return out;
    }
    [[gnu::always_inline]] void put_back(const unit_path& path) const { put_back_state(*path.object, f_); }

   private:
    [[no_unique_address]] state_in_chain<F, Serial && Copied> f_;
    std::byte* const out_;
    const std::size_t stride_;
  };
};
template <class F, class In, class Out, bool Serial>
struct chain_step<F, form::in_place, In, Out, Serial> {
  using input = In;
  static constexpr bool takes_input = true;

  template <bool Copied>
  class over {
   public:
    over(const unit_path& path, const chain_call&) : f_(*static_cast<F*>(*path.object)) {}

    [[gnu::always_inline]] void* operator()(void* in, std::size_t) {
      call_with<form::in_place, In, Out>(f_, in, in);
      return in;
    }
    [[gnu::always_inline]] void put_back(const unit_path& path) const { put_back_state(*path.object, f_); }

   private:
    [[no_unique_address]] state_in_chain<F, Serial && Copied> f_;
  };
};

/// A callable that may be part of a chain: it gives something for each item, takes nothing beside it, and leaves
/// nothing that would have to be destroyed.
template <class F, form Form, class In, class Out>
inline constexpr bool fits_chain =
    (Form == form::map || Form == form::consume || Form == form::in_place || Form == form::destination) &&
    sides_of<F, Form>::type::size == 0 && !observes_missing<F> && std::is_trivially_destructible_v<In> &&
    std::is_trivially_destructible_v<Out>;

/// Not a tuple, which costs a compiler four times as much.
template <class Places, class... Steps>
struct chain_steps;
template <std::size_t... I, class... Steps>
struct chain_steps<std::index_sequence<I...>, Steps...> : packed_part<I, Steps>... {
  explicit chain_steps(const chain_call& call) : packed_part<I, Steps>{Steps(call.paths[I], call)}... {}

  /// All of them on the `i`-th item.
  [[gnu::always_inline]] void operator()([[maybe_unused]] void* item, std::size_t i) {
    ((item = static_cast<packed_part<I, Steps>&>(*this).part(item, i)), ...);
  }
  [[gnu::always_inline]] void put_back(const unit_path* paths) const {
    (static_cast<const packed_part<I, Steps>&>(*this).part.put_back(paths[I]), ...);
  }
};

/// Items that their owner has in a row, and that a chain changes: each is copied to its place as the loop comes to it,
/// so that its way here hides behind the work on those before.
///
/// Of small ones many share a line, and all are copied at once; one of a word goes through a register on its way into
/// the first callable.
template <class Item>
class copied_row {
  static constexpr std::size_t line = 64, at_once = 2 * line;
  static constexpr std::size_t ahead = 4096, most_asked_for = 2048;  // enough for the way from memory
  static constexpr bool is_word = sizeof(Item) <= sizeof(std::uint64_t);

 public:
  /// `row` null: the items are at their places already.
  [[gnu::always_inline]] copied_row(const std::byte* row, std::byte* places, std::size_t stride, std::size_t count)
      : row_(is_word && row == nullptr             ? places
             : !is_word && sizeof(Item) <= at_once ? nullptr
                                                   : row),
        stride_(row == nullptr ? stride : sizeof(Item)) {
    if (!is_word && sizeof(Item) <= at_once && row != nullptr)
      for (std::size_t i = 0; i < count; ++i) std::memcpy(places + i * stride, row + i * sizeof(Item), sizeof(Item));
  }
  [[gnu::always_inline]] void copy(std::byte* place, std::size_t i) const {
    if constexpr (is_word) {
      std::byte word[sizeof(Item)];  // to its own place, too, which costs less than to ask
      std::memcpy(word, row_ + i * stride_, sizeof(Item));
      std::memcpy(place, word, sizeof(Item));
    } else {
      if (row_ == nullptr) return;
      constexpr std::size_t items_ahead = (ahead + sizeof(Item) - 1) / sizeof(Item);
      const std::byte* const from = row_ + i * sizeof(Item);
      for (std::size_t b = 0; b < std::min(sizeof(Item), most_asked_for); b += line)
        __builtin_prefetch(from + items_ahead * sizeof(Item) + b);
      std::size_t bytes = sizeof(Item);
      asm("" : "+r"(bytes));  // by the library: behind a string instruction, which some compilers take, nothing hides
      std::memcpy(place, from, bytes);
    }
  }

 private:
  const std::byte* const row_;
  const std::size_t stride_;  ///< of words
};
/// Others are never given so.
template <class Item>
  requires(!std::is_trivially_copyable_v<Item>)
class copied_row<Item> {
 public:
  copied_row(const std::byte*, std::byte*, std::size_t, std::size_t) {}
  void copy(std::byte*, std::size_t) const {}
};

template <bool Copied, class First, class... Steps>
[[gnu::always_inline]] inline void run_chain_over(chain_call& call) noexcept {
  const unit_path* const paths = call.paths;
  chain_steps<std::index_sequence_for<First, Steps...>, typename First::template over<Copied>,
              typename Steps::template over<Copied>...>
      steps(call);
  // Copies, which the callables cannot change.
  const void* const* const inputs = First::takes_input ? nullptr : call.inputs;
  const std::byte* const row = Copied ? call.row : nullptr;
  const bool in_row = !First::takes_input && row != nullptr;
  const std::size_t count = Copied ? call.count : 1;
  const std::size_t stride = in_row ? sizeof(typename First::input) : paths[0].in.stride;
  std::byte* const first = in_row              ? const_cast<std::byte*>(row)
                           : inputs == nullptr ? paths[0].in.at(call.memory, call.slot)
                                               : nullptr;
  const copied_row<typename First::input> copies(First::takes_input ? row : nullptr, first, stride, count);
  const items_end& end = Copied ? *call.end : behind_the_last;
  std::ptrdiff_t at = -static_cast<std::ptrdiff_t>(count);
  for (bool goes_on = true; goes_on;) {
    try {
      for (; at < (Copied ? end.load(std::memory_order_relaxed) : 0); ++at) {
        const std::size_t i = item_number(count, at);
        if constexpr (First::takes_input) copies.copy(first + i * stride, i);
        steps(inputs == nullptr ? first + i * stride : const_cast<void*>(inputs[i]), i);
      }
      goes_on = false;
    } catch (...) {
      fail_item(call, item_number(count, at++));
    }
  }
  if constexpr (Copied) {
    steps.put_back(paths);
    if (at != 0) call.count = item_number(count, at);
  }
}

template <class... Steps>
void run_chain(chain_call& call) noexcept {
  run_chain_over<true, Steps...>(call);
}

/// The first item alone: to copy states and to put them back would take longer.
template <class... Steps>
void run_chain_once(chain_call& call) noexcept {
  run_chain_over<false, Steps...>(call);
}

}  // namespace levada::detail
