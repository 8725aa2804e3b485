// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/move.hpp: ops that move elements, in the longest runs that the last axis has.

#include <algorithm>
#include <array>
#include <cstring>

#include <levada/backend/detail/define/moves.hpp>
#include <levada/backend/simd/detail/kernel.hpp>

namespace levada {

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
  static constexpr std::size_t columns = rank == 0 ? 1 : out_type::extents[rank == 0 ? 0 : rank - 1];

  /// Neighbours in the output that are neighbours in the input, or all outside of it.
  struct run {
    std::ptrdiff_t place;
    std::size_t length;
  };

  void row(const value* in, std::ptrdiff_t at, value* to) const {
    if (at < 0) {
      std::fill_n(to, columns, fill_);
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
