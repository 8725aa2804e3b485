// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/reshape.hpp: the same elements in the same order under another shape (ONNX Flatten, Reshape).

#include <levada/graph/detail/op_rules.hpp>

namespace levada {

/// All axes made one. Items have no batch axis, so this is ONNX Flatten with axis = 1 of a batch of one.
struct flatten_op : moving_op {
  static constexpr std::string_view kind = "flatten";
  static constexpr std::string_view expects = "a tensor";

  template <any_tensor In>
  using output = tensor<typename In::value_type, In::elements>;
  template <class In>
  static constexpr std::ptrdiff_t view_at = 0;
};

/// The shape `Dims`.
template <std::size_t... Dims>
struct reshape_op : moving_op {
  static constexpr std::string_view kind = "reshape";
  static constexpr std::string_view expects = "a tensor of as many elements as the new shape";

  template <any_tensor In>
    requires(In::elements == (Dims * ... * std::size_t{1}))
  using output = tensor<typename In::value_type, Dims...>;
  template <class In>
  static constexpr std::ptrdiff_t view_at = 0;
};

namespace nn {

inline constexpr op_stage<"flatten", flatten_op> flatten{};
template <std::size_t... Dims>
inline constexpr op_stage<"reshape", reshape_op<Dims...>> reshape{};

}  // namespace nn
}  // namespace levada
