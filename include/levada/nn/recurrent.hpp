// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/recurrent.hpp: one step of a recurrent layer (ONNX GRU and LSTM, one direction, the default activations). What a
// step gives is the state of the next: `feedback` (graph/detail/feedback.hpp) hands it on from item to item.

#include <tuple>

#include <levada/nn/shape_rule.hpp>
#include <levada/nn/window.hpp>

namespace levada {

/// Of a `gru`: the reset gate is applied behind the product with the state (ONNX linear_before_reset = 1, as PyTorch
/// does).
struct linear_before_reset {};
/// Of an `lstm`: its gates see the cell.
struct peepholes {};

namespace detail {

template <class In, std::size_t Hidden>
inline constexpr bool is_step = false;
template <floating_tensor X, std::size_t Hidden>
  requires(X::rank == 1)
inline constexpr bool is_step<std::tuple<X, tensor<typename X::value_type, Hidden>>, Hidden> = true;

/// The input and the state, apart.
template <class In, std::size_t Hidden>
inline constexpr bool is_cell_step = false;
template <floating_tensor X, class H, std::size_t Hidden>
inline constexpr bool is_cell_step<std::tuple<X, H, H>, Hidden> = is_step<std::tuple<X, H>, Hidden>;
template <floating_tensor X, class H, std::size_t Hidden>
inline constexpr bool is_cell_step<std::tuple<X, std::tuple<H, H>>, Hidden> = is_step<std::tuple<X, H>, Hidden>;

template <class In>
using step_input_t = std::tuple_element_t<0, In>;
template <class In>
using step_value_t = typename step_input_t<In>::value_type;

/// The state of an LSTM among its inputs, however they are put together.
template <class In>
auto hidden_and_cell(const In& in) {
  if constexpr (std::tuple_size_v<In> == 3)
    return std::tie(std::get<1>(in), std::get<2>(in));
  else
    return std::tie(std::get<0>(std::get<1>(in)), std::get<1>(std::get<1>(in)));
}

/// Of `Gates` gates one behind the other; the bias of the input's side before that of the state's.
template <std::size_t Gates, std::size_t Hidden, bool HasBias, class In>
constexpr auto gate_parameters() {
  constexpr element type = element_of<step_value_t<In>>;
  constexpr std::size_t rows = Gates * Hidden;
  constexpr parameter_info weight{"weight", type, shape(rows, step_input_t<In>::elements)};
  constexpr parameter_info recurrence{"recurrence", type, shape(rows, Hidden)};
  if constexpr (HasBias)
    return std::array{weight, recurrence, parameter_info{"bias", type, shape(2 * rows)}};
  else
    return std::array{weight, recurrence};
}

template <class In, std::size_t Gates, std::size_t Hidden>
inline constexpr double gate_flops = 2.0 * static_cast<double>((step_input_t<In>::elements + Hidden) * Gates * Hidden);

template <class Option, class... Options>
inline constexpr bool is_among = (std::same_as<Option, Options> || ...);

}  // namespace detail

/// (x, h) -> h'. Parameters, gates in ONNX's order update, reset, hidden: "weight" [3 Hidden, Inputs], "recurrence"
/// [3 Hidden, Hidden], "bias" [6 Hidden] unless `no_bias`.
template <std::size_t Hidden, class... Options>
  requires(Hidden > 0 && (detail::is_among<Options, no_bias, linear_before_reset> && ...))
struct gru_op {
  static constexpr std::string_view kind = "gru";
  static constexpr std::string_view expects = "a tuple of an input and a state, float or double tensors of one axis";
  static constexpr std::size_t hidden = Hidden, gates = 3;
  static constexpr bool has_bias = !detail::is_among<no_bias, Options...>;
  static constexpr bool resets_behind = detail::is_among<linear_before_reset, Options...>;

  template <class In>
    requires detail::is_step<In, Hidden>
  using output = tensor<detail::step_value_t<In>, Hidden>;

  template <class In>
  static constexpr double flops = detail::gate_flops<In, gates, Hidden>;

  template <class In>
  static constexpr auto parameters = detail::gate_parameters<gates, Hidden, has_bias, In>();
};

/// (x, h, c) or (x, (h, c)) -> (h', c'). Parameters, gates in ONNX's order input, output, forget, cell: "weight"
/// [4 Hidden, Inputs], "recurrence" [4 Hidden, Hidden], "bias" [8 Hidden] unless `no_bias`, and with `peepholes`
/// "peephole" [3 Hidden].
template <std::size_t Hidden, class... Options>
  requires(Hidden > 0 && (detail::is_among<Options, no_bias, peepholes> && ...))
struct lstm_op {
  static constexpr std::string_view kind = "lstm";
  static constexpr std::string_view expects =
      "a tuple of an input, a state and a cell, or of an input and a tuple of the two, float or double tensors of one "
      "axis";
  static constexpr std::size_t hidden = Hidden, gates = 4;
  static constexpr bool has_bias = !detail::is_among<no_bias, Options...>;
  static constexpr bool has_peepholes = detail::is_among<peepholes, Options...>;

  template <class In>
    requires detail::is_cell_step<In, Hidden>
  using output = std::tuple<tensor<detail::step_value_t<In>, Hidden>, tensor<detail::step_value_t<In>, Hidden>>;

  template <class In>
  static constexpr double flops = detail::gate_flops<In, gates, Hidden>;

  template <class In>
  static constexpr auto parameters = [] {
    constexpr auto plain = detail::gate_parameters<gates, Hidden, has_bias, In>();
    std::array<parameter_info, plain.size() + (has_peepholes ? 1 : 0)> all{};
    for (std::size_t i = 0; i < plain.size(); ++i) all[i] = plain[i];
    if constexpr (has_peepholes) all.back() = {"peephole", plain[0].type, shape(3 * Hidden)};
    return all;
  }();
};

namespace nn {

/// A step of a gated recurrent unit whose parameters are "<Name>.weight" and so on of `weights`, which must outlive
/// `deploy`.
template <fixed_string Name, std::size_t Hidden, class... Options>
inline constexpr weighted_stage<Name, gru_op<Hidden, Options...>> gru{};

/// A step of a long short-term memory.
template <fixed_string Name, std::size_t Hidden, class... Options>
inline constexpr weighted_stage<Name, lstm_op<Hidden, Options...>> lstm{};

}  // namespace nn
}  // namespace levada
