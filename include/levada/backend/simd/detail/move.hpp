// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/move.hpp: ops that move elements, in the longest runs that the last axis has.

#include <algorithm>
#include <array>
#include <cstring>

#include <levada/backend/detail/define/moves.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/vector.hpp>

namespace levada {

namespace detail {

/// How far the elements of a row of a transposed tensor lie apart; 0 of other ops.
template <class In, class Op>
inline constexpr std::size_t step_of_row = 0;
template <class In, std::size_t... Axes>
  requires(sizeof...(Axes) > 0)
inline constexpr std::size_t step_of_row<In, transpose_op<Axes...>> =
    static_cast<std::size_t>(transpose_op<Axes...>::part(shape_of<In>, sizeof...(Axes) - 1, 1));

/// `load_strided` takes such a step: few vectors are read for one.
template <class T>
constexpr bool is_small_odd(std::size_t step) {
  return std::is_same_v<T, float> && (step == 3 || step == 5);
}

/// Elements 0, Step, 2 * Step, ... of `Step` vectors in a row. The step is odd: each of them lies in a lane of its own.
template <std::size_t Step, class Arch, std::size_t Read = 1>
LEVADA_INLINE inline vector<float, Arch> load_strided(const float* from, const vector<float, Arch>& kept) {
  constexpr std::size_t lanes = lanes_in<float, Arch>;
  if constexpr (Read == Step)
    return shuffled<float, Arch>(kept, kept, [](std::size_t i) { return i * Step % lanes; });
  else
    return load_strided<Step, Arch, Read + 1>(
        from, shuffled<float, Arch>(kept, load<float, Arch>(from + Read * lanes), [](std::size_t lane) {
          return (Read * lanes + lane) % Step == 0 ? lanes + lane : lane;
        }));
}

}  // namespace detail

template <class Arch, class In, class Op>
  requires defined_op<simd_on<Arch>, In, Op> && moves_separably<Op, In> && (!moves_a_piece<In, Op>)
struct simd_kernel<Arch, In, Op> {
  using out_type = typename Op::template output<In>;
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const Op& op, parameter_values) : fill_(static_cast<value>(op.fill())) {
    for (std::size_t i = 0; i < columns; ++i) {
      place_[i] = rank == 0 ? 0 : Op::part(shape_of<In>, rank - 1, i);
      const bool goes_on = i > 0 && (place_[i] < 0 ? place_[i - 1] < 0 : place_[i] == place_[i - 1] + 1);
      if (goes_on)
        ++runs_[run_count_ - 1].length;
      else
        runs_[run_count_++] = {place_[i], 1};
    }
  }

  void operator()(const In& in, out_type& out, std::byte*) const {
    value* to = out.data();
    std::array<std::size_t, rank + 1> index{};
    for (std::size_t left = out_type::elements / columns; left > 0; --left, to += columns) {
      std::ptrdiff_t at = 0;
      for (std::size_t axis = 0; axis + 1 < rank; ++axis) at += Op::part(shape_of<In>, axis, index[axis]);
      row(in.data(), at, to);
      for (std::size_t axis = rank == 0 ? 0 : rank - 1; axis-- > 0;) {
        if (++index[axis] < out_type::extents[axis]) break;
        index[axis] = 0;
      }
    }
  }

 private:
  static constexpr std::size_t rank = out_type::rank;
  static constexpr std::size_t step = detail::step_of_row<In, Op>;
  static constexpr std::size_t columns = rank == 0 ? 1 : out_type::extents[rank == 0 ? 0 : rank - 1];

  /// Neighbours in the output that are neighbours in the input, or all outside of it.
  struct run {
    std::ptrdiff_t place;
    std::size_t length;
  };

  void row(const value* in, std::ptrdiff_t at, value* to) const {
    if (at < 0) {
      std::fill_n(to, columns, fill_);
    } else if constexpr (detail::is_small_odd<value>(step)) {
      // Of the last elements a vector might be read behind the tensor.
      constexpr std::size_t lanes = detail::lanes_in<value, Arch>, whole = (columns - 1) / lanes * lanes;
      const value* const from = in + at;
      for (std::size_t i = 0; i < whole; i += lanes) {
        const value* const first = from + i * step;
        detail::load_strided<step, Arch>(first, detail::load<value, Arch>(first)).store_unaligned(to + i);
      }
      for (std::size_t i = whole; i < columns; ++i) to[i] = from[i * step];
    } else if (run_count_ > columns / 4) {  // hardly anything is beside its neighbour
      for (std::size_t i = 0; i < columns; ++i) to[i] = place_[i] < 0 ? fill_ : in[at + place_[i]];
    } else {
      for (std::size_t r = 0; r < run_count_; to += runs_[r++].length)
        if (runs_[r].place < 0)
          std::fill_n(to, runs_[r].length, fill_);
        else
          std::memcpy(to, in + at + runs_[r].place, runs_[r].length * sizeof(value));
    }
  }

  value fill_;
  std::size_t run_count_ = 0;
  std::array<run, columns> runs_{};
  std::array<std::ptrdiff_t, columns> place_{};
};

}  // namespace levada
