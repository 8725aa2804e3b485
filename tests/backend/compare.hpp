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

/// A tensor on the heap, filled with the bytes 0xff.
template <class T>
std::unique_ptr<T> unwritten() {
  auto t = std::make_unique<T>();
  if constexpr (std::is_trivially_copyable_v<T>) std::memset(static_cast<void*>(t.get()), 0xff, sizeof(T));
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

template <class In>
std::unique_ptr<In> random_tensor() {
  auto t = std::make_unique<In>();
  for (auto& v : *t) v = random_value<typename In::value_type>();
  return t;
}

/// Random parameters for a run of ops, in order.
class random_parameters {
 public:
  template <class In>
  void add() {}
  template <class In, class Op, class... Rest>
  void add() {
    for (const parameter_info& info : Op::template parameters<In>) {
      buffers_.emplace_back(info.extents.elements() * size_of(info.type));
      for (std::size_t i = 0; i < info.extents.elements(); ++i)
        if (info.type == element::f32)
          reinterpret_cast<float*>(buffers_.back().data())[i] = random_value<float>();
        else
          reinterpret_cast<double*>(buffers_.back().data())[i] = random_value<double>();
      pointers_.push_back(buffers_.back().data());
    }
    add<typename Op::template output<In>, Rest...>();
  }

  std::span<const void* const> all() const { return pointers_; }

 private:
  std::vector<aligned_bytes> buffers_;
  std::vector<const void*> pointers_;
};

/// What one kernel makes of the input; every element of the result was written by it.
template <class Backend, class In, class... Ops>
auto by_one_kernel(const In& in, std::span<const void* const> parameters, const Ops&... ops) {
  static_assert(op_kernel<Backend, In, Ops...>);
  using kernel = typename Backend::template kernel<In, Ops...>;
  const auto k = std::make_unique<kernel>(ops..., parameter_values(parameters));
  aligned_bytes scratch(kernel::scratch_bytes);
  auto out = unwritten<run_output_t<In, Ops...>>();
  (*k)(in, *out, scratch.data());
  return out;
}

/// What kernels of single ops make of the input, one after the other.
template <class Backend, class In>
auto by_single_kernels(const In& in, std::span<const void* const>) {
  return std::make_unique<In>(in);
}
template <class Backend, class In, class Op, class... Rest>
auto by_single_kernels(const In& in, std::span<const void* const> parameters, const Op& op, const Rest&... rest) {
  const std::size_t own = Op::template parameters<In>.size();
  const auto between = by_one_kernel<Backend>(in, parameters.first(own), op);
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
template <class T, std::size_t... Dims>
double largest_difference(const tensor<T, Dims...>& a, const tensor<T, Dims...>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = number_of(a[i]), y = number_of(b[i]);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) continue;
    const double difference = std::abs(x - y);
    largest = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(largest, difference);
  }
  return largest;
}
template <class... T>
double largest_difference(const std::tuple<T...>& a, const std::tuple<T...>& b) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::max({largest_difference(std::get<I>(a), std::get<I>(b))...});
  }(std::index_sequence_for<T...>());
}

/// `simd` computes the run as one kernel and agrees with `reference`, op by op, within `tolerance`.
template <class In, class... Ops>
void check_agreement(const In& in, double tolerance, const Ops&... ops) {
  random_parameters parameters;
  parameters.add<In, Ops...>();
  const auto expected = by_single_kernels<reference>(in, parameters.all(), ops...);
  const auto computed = by_one_kernel<simd>(in, parameters.all(), ops...);
  CAPTURE(__PRETTY_FUNCTION__);
  CHECK(largest_difference(*expected, *computed) <= tolerance);
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
