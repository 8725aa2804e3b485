// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/bias.hpp: one number added to each channel (ONNX Add of a [C, 1, 1] constant).

#include <levada/graph/detail/op_rules.hpp>

namespace levada {

/// output[c, ...] = input[c, ...] + bias[c]. Parameter: "bias" [C].
struct bias_op : in_place_op {
  static constexpr std::string_view kind = "bias";
  static constexpr layout takes_axes = layout::chw, gives_axes = layout::chw;
  static constexpr op_kind fuses_as = op_kind::broadcast;
  static constexpr std::string_view expects = "a float or double tensor whose first axis is the channel";

  template <class In>
  static constexpr std::array<parameter_info, 1> parameters{
      parameter_info{"bias", element_of<typename In::value_type>, shape(In::extents[0])}};
};

namespace nn {

/// A bias named `Name` whose parameter is "<Name>.bias" of `weights`, which must outlive `deploy`.
template <fixed_string Name>
inline constexpr weighted_stage<Name, bias_op> bias{};

}  // namespace nn
}  // namespace levada
