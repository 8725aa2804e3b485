// SPDX-License-Identifier: Apache-2.0
#pragma once
// tests/backend/compare.hpp: the same ops on two backends with the same random weights and inputs.

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <levada/backend/reference.hpp>
#include <levada/backend/simd.hpp>

#include "sanitizer.hpp"

namespace levada::testing {

/// Memory aligned as the plan aligns it, of exactly so many bytes, so that a sanitizer sees any step beside it.
class aligned_bytes {
 public:
  explicit aligned_bytes(std::size_t size)
      : storage_(size + 64),
        begin_(storage_.data() + (64 - reinterpret_cast<std::uintptr_t>(storage_.data()) % 64) % 64) {
    storage_.resize(static_cast<std::size_t>(begin_ - storage_.data()) + size);
    std::memset(begin_, 0xff, size);  // NaN, if read as floats
  }
  std::byte* data() const { return begin_; }

 private:
  std::vector<std::byte> storage_;
  std::byte* begin_;
};

/// A value on the heap. A compiler makes thirty functions of a std::unique_ptr for each type of the thousands here.
template <class T>
class on_heap {
 public:
  using element_type = T;

  template <class... Arguments>
  explicit on_heap(const Arguments&... arguments) : value_(new T(arguments...)) {}
  on_heap(on_heap&& other) noexcept : value_(other.value_) { other.value_ = nullptr; }
  on_heap& operator=(on_heap&&) = delete;
  ~on_heap() { delete value_; }

  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  T* value_;
};

/// A tensor on the heap, filled with the bytes 0xff.
template <class T>
on_heap<T> unwritten() {
  on_heap<T> t;
  if constexpr (std::is_trivially_copyable_v<T>) std::memset(static_cast<void*>(&*t), 0xff, sizeof(T));
  return t;
}

inline std::mt19937& generator() {
  static std::mt19937 engine{20261121};
  return engine;
}

template <class T>
T random_value() {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(generator()));
  else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
    return T(std::uniform_real_distribution<float>(-1, 1)(generator()));
  else
    return static_cast<T>(generator()());
}

template <class T>
void fill_randomly(T* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = random_value<T>();
}
template <class In>
on_heap<In> random_tensor() {
  on_heap<In> t;
  fill_randomly(t->data(), t->size());
  return t;
}

/// Random parameters for a run of ops, in order.
class random_parameters {
 public:
  template <class In, class Op, class... Rest>
  void add() {
    add(Op::template parameters<In>);
    if constexpr (sizeof...(Rest) > 0) add<typename Op::template output<In>, Rest...>();
  }

  std::span<const void* const> all() const { return pointers_; }

 private:
  void add(std::span<const parameter_info> infos) {
    for (const parameter_info& info : infos) {
      const std::size_t count = info.extents.elements();
      std::byte* const values = buffers_.emplace_back(count * size_of(info.type)).data();
      if (info.type == element::f32)
        fill_randomly(reinterpret_cast<float*>(values), count);
      else
        fill_randomly(reinterpret_cast<double*>(values), count);
      pointers_.push_back(values);
    }
  }

  std::vector<aligned_bytes> buffers_;
  std::vector<const void*> pointers_;
};

/// What one kernel makes of the input; every element of the result was written by it.
template <class Backend, class In, class... Ops>
auto by_one_kernel(const In& in, std::span<const void* const> parameters, const Ops&... ops) {
  static_assert(op_kernel<Backend, In, Ops...>);
  using kernel = typename Backend::template kernel<In, Ops...>;
  const on_heap<kernel> k(ops..., parameter_values(parameters));
  aligned_bytes scratch(kernel::scratch_bytes);
  auto out = unwritten<run_output_t<In, Ops...>>();
  (*k)(in, *out, scratch.data());
  return out;
}

/// What kernels of single ops make of the input, one after the other.
template <class Backend, class In, class Op, class... Rest>
auto by_single_kernels(const In& in, std::span<const void* const> parameters, const Op& op, const Rest&... rest) {
  const std::size_t own = Op::template parameters<In>.size();
  auto between = by_one_kernel<Backend>(in, parameters.first(own), op);
  if constexpr (sizeof...(rest) == 0)
    return between;
  else
    return by_single_kernels<Backend>(*between, parameters.subspan(own), rest...);
}

/// A number of any element type.
template <class T>
double number_of(T x) {
  if constexpr (std::is_class_v<T>)
    return double{static_cast<float>(x)};
  else
    return static_cast<double>(x);
}

/// The largest difference; infinite where one is NaN and the other is not, or infinities differ.
template <class T>
double largest_difference(const T* a, const T* b, std::size_t count) {
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = number_of(a[i]), y = number_of(b[i]);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) continue;
    const double difference = std::abs(x - y);
    largest = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(largest, difference);
  }
  return largest;
}
template <class T, std::size_t... Dims>
double largest_difference(const tensor<T, Dims...>& a, const tensor<T, Dims...>& b) {
  return largest_difference(a.data(), b.data(), a.size());
}
template <class... T>
double largest_difference(const std::tuple<T...>& a, const std::tuple<T...>& b) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::max({largest_difference(std::get<I>(a), std::get<I>(b))...});
  }(std::index_sequence_for<T...>());
}

/// `who` says which types differ.
inline void check_difference(double difference, double tolerance, const char* who) {
  CAPTURE(who);
  CHECK(difference <= tolerance);
}

/// The backend computes the run as one kernel and agrees with `reference`, op by op, within `tolerance`.
template <class Backend, class In, class... Ops>
void check_agreement_of(const In& in, double tolerance, const Ops&... ops) {
  random_parameters parameters;
  parameters.add<In, Ops...>();
  const auto expected = by_single_kernels<reference>(in, parameters.all(), ops...);
  const auto computed = by_one_kernel<Backend>(in, parameters.all(), ops...);
  check_difference(largest_difference(*expected, *computed), tolerance, __PRETTY_FUNCTION__);
}
template <class In, class... Ops>
void check_agreement(const In& in, double tolerance, const Ops&... ops) {
  check_agreement_of<simd>(in, tolerance, ops...);
}
template <class In, class... Ops>
void check_agreement(double tolerance, const Ops&... ops) {
  check_agreement(*random_tensor<In>(), tolerance, ops...);
}

/// Lengths below, at and above those of vectors. Each takes long to compile, and a sanitizer looks at bounds alone.
#if LEVADA_UNDER_SANITIZER
using lengths = std::index_sequence<3, 16, 33>;
#elif LEVADA_ALL_SHAPES
using lengths = std::index_sequence<1, 3, 8, 15, 16, 17, 33, 100>;
#else
using lengths = std::index_sequence<1, 15, 16, 33>;
#endif

/// Calls `f(integral_constant)` for each of them.
template <class F>
void for_lengths(F f) {
  [&]<std::size_t... N>(std::index_sequence<N...>) { (f(std::integral_constant<std::size_t, N>()), ...); }(lengths());
}

inline constexpr double epsilon = std::numeric_limits<float>::epsilon();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace levada::testing
