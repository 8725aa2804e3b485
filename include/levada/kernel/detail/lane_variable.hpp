// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/lane_variable.hpp: a variable of a grid kernel on the CPU: an assignment inside `when` leaves the lanes
// alone that are not active.

#include <levada/kernel/detail/operators.hpp>
#include <levada/kernel/detail/value.hpp>

namespace levada {

/// Which lanes are active: not all inside `when`.
template <class Machine>
struct lane_state {
  bool masked = false;
  typename Machine::template representation<bool> active{};
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

}  // namespace levada
