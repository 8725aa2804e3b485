// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/rows.hpp: how invocations share the elements of a row that becomes one number: one invocation
// goes over a short row, 64 over a long one, each over every 64th element, and then they join what they have.

#include <cstddef>
#include <utility>

#include <levada/backend/spirv/detail/grid.hpp>
#include <levada/kernel/detail/fold_state.hpp>

namespace levada::detail {

/// Rows of `Long` elements and more are shared.
template <std::size_t Rows, std::size_t Length, std::size_t Long = 128>
struct row_team {
  static constexpr int length = static_cast<int>(Length);
  // A device takes 65535 workgroups along an axis at least.
  static constexpr int lanes = Length >= Long && Rows <= 65535 ? 64 : 1;

  using over = std::conditional_t<lanes == 1, grid<1, Rows>, grid<64, Rows, 1, workgroup<64>>>;

  template <class G>
  static constexpr auto row(const G& g) {
    return g.y();
  }

  /// `s = f(i, s)` over the row beginning with `initial`, which may be joined in several times, and `join(s, t)` of
  /// what two invocations have. All of them get the result.
  template <class G, class State, class F, class Join>
  static constexpr auto fold(const G& g, const State& initial, F f, Join join) {
    if constexpr (lanes == 1) {
      return g.fold(0, length, initial, f);
    } else {
      const auto own = g.fold(0, (length + lanes - 1) / lanes, initial, [&](auto step, auto s) {
        const auto i = step * lanes + g.x();
        if constexpr (length % lanes == 0) {
          return f(i, s);
        } else {
          const auto next = f(min(i, length - 1), s);
          return kernel_detail::map_states([&](const auto& n, const auto& old) { return select(i < length, n, old); },
                                           next, s);
        }
      });
      return joined(g, own, join);
    }
  }

  /// `f(i)` for each element of the row.
  template <class G, class F>
  static constexpr void each(const G& g, F f) {
    if constexpr (lanes == 1)
      g.loop(0, length, f);
    else
      g.loop(0, (length + lanes - 1) / lanes, [&](auto step) {
        const auto i = step * lanes + g.x();
        if constexpr (length % lanes == 0)
          f(i);
        else
          g.when(i < length, [&] { f(i); });
      });
  }

  /// `f()` by one invocation of a row.
  template <class G, class F>
  static constexpr void once(const G& g, F f) {
    if constexpr (lanes == 1)
      f();
    else
      g.when(g.x() == 0, f);
  }

 private:
  template <class G, class State, class Join>
  static constexpr auto joined(const G& g, const State& own, Join join) {
    const auto slots = kernel_detail::map_states(
        [&](const auto& v) {
          return g
              .template shared<typename std::remove_cvref_t<decltype(v)>::element, static_cast<std::size_t>(lanes)>();
        },
        own);
    const auto write = [&](const auto& at, const auto& state) {
      kernel_detail::for_each_state([&](const auto& slot, const auto& v) { slot[at] = v; }, slots, state);
    };
    const auto read = [&](const auto& at) {
      return kernel_detail::map_states([&](const auto& slot) { return slot(at); }, slots);
    };
    const auto lane = g.local_x();
    write(lane, own);
    g.barrier();
    for (int half = lanes / 2; half > 0; half /= 2) {
      g.when(lane < half, [&] { write(lane, join(read(lane), read(lane + half))); });
      g.barrier();
    }
    return read(0);
  }
};

}  // namespace levada::detail
