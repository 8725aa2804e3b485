// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two ops that say everything an op says and compute nothing.

#include <array>
#include <string_view>

#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/region.hpp>

namespace levada::test {

/// Keeps the shape.
struct same {
  static constexpr std::string_view kind = "same", expects = "a tensor";
  template <any_tensor In>
  using output = In;
  template <class In>
  static constexpr std::size_t flops = 2 * In::elements;
  template <class In>
  static constexpr std::array<parameter_info, 0> parameters{};
};

/// Of a tensor of rank 1; has weights.
template <std::size_t Out>
struct dense {
  static constexpr std::string_view kind = "dense", expects = "a float tensor of rank 1";
  template <class In>
    requires(any_tensor<In> && In::rank == 1)
  using output = tensor<float, Out>;
  template <class In>
  static constexpr double flops = 2.0 * Out * In::elements;
  template <class In>
  static constexpr std::array<parameter_info, 2> parameters{
      {{"weight", element::f32, shape(Out, In::elements)}, {"bias", element::f16, shape(Out)}}};
};

template <fixed_string Name>
inline constexpr op_stage<Name, same> same_stage{};
template <fixed_string Name, std::size_t Out>
inline constexpr op_stage<Name, dense<Out>> dense_stage{};

}  // namespace levada::test
