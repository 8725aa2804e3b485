// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/sequence.hpp: recurrent layers over all steps of an item (ONNX RNN, GRU and LSTM, with their directions,
// activations and clip). One step by itself is an op of nn/recurrent.hpp.

#include <array>
#include <tuple>

#include <levada/nn/recurrent.hpp>

namespace levada {

/// Which way the steps go: the outputs have an axis of 1 or, of both ways, 2.
enum class direction : unsigned char { forward, reverse, bidirectional };

/// A function of the gates, ONNX's of the same name.
struct activation {
  enum function : unsigned char {
    sigmoid,
    tanh,
    relu,
    affine,            ///< alpha x + beta
    leaky_relu,        ///< alpha x below 0
    thresholded_relu,  ///< x from alpha on, 0 below
    scaled_tanh,       ///< alpha tanh(beta x)
    hard_sigmoid,      ///< min(max(alpha x + beta, 0), 1)
    elu,               ///< alpha (exp(x) - 1) below 0
    softsign,
    softplus
  };
  function of = sigmoid;
  float alpha = 0, beta = 0;
};

/// Of an `lstm_sequence`: the forget gate is 1 less the input gate (ONNX input_forget = 1).
struct input_forget {};

/// What the gates of all directions go through, those of one direction behind those of the other; `clip` bounds what
/// goes in, where it is above 0.
template <std::size_t Functions>
struct gate_functions {
  std::array<activation, Functions> activations;
  float clip = 0;
};

namespace detail {

constexpr std::size_t count_of(direction way) { return way == direction::bidirectional ? 2 : 1; }

/// Of each kind of layer: its gates, its states, the activations of one direction.
struct rnn_cell {
  static constexpr std::string_view kind = "rnn_sequence";
  static constexpr std::size_t gates = 1, states = 1;
  static constexpr std::array defaults{activation{activation::tanh}};
};
struct gru_cell {
  static constexpr std::string_view kind = "gru_sequence";
  static constexpr std::size_t gates = 3, states = 1;
  static constexpr std::array defaults{activation{activation::sigmoid}, activation{activation::tanh}};
};
struct lstm_cell {
  static constexpr std::string_view kind = "lstm_sequence";
  static constexpr std::size_t gates = 4, states = 2;
  static constexpr std::array defaults{activation{activation::sigmoid}, activation{activation::tanh},
                                       activation{activation::tanh}};
};

/// [steps, inputs], alone or with the initial states, [directions, hidden] each.
template <class In>
struct sequence_parts {
  using x = In;
  static constexpr std::size_t states = 0;
};
template <class X, class... H>
struct sequence_parts<std::tuple<X, H...>> {
  using x = X;
  static constexpr std::size_t states = sizeof...(H);
};
template <class In, class State>
inline constexpr bool states_are = true;
template <class X, class... H, class State>
inline constexpr bool states_are<std::tuple<X, H...>, State> = (std::same_as<H, State> && ...);

template <class In>
const auto& steps_of(const In& in) {
  if constexpr (any_tensor<In>)
    return in;
  else
    return std::get<0>(in);
}

}  // namespace detail

/// x [T, Inputs], or (x, h) or, of an LSTM, (x, h, c) with the initial states [Directions, Hidden], zeros where they
/// are not given -> (all hidden states [T, Directions, Hidden], the last hidden state and, of an LSTM, the last cell
/// [Directions, Hidden]).
///
/// Parameters as in ONNX, gates one behind the other: "weight" [Directions, G Hidden, Inputs], "recurrence"
/// [Directions, G Hidden, Hidden], "bias" [Directions, 2 G Hidden] unless `no_bias`, and with `peepholes` "peephole"
/// [Directions, 3 Hidden].
template <class Cell, std::size_t Hidden, direction Way, class... Options>
  requires(Hidden > 0)
struct sequence_op {
  static constexpr std::string_view kind = Cell::kind;
  static constexpr std::string_view expects =
      "a float or double tensor of two axes, steps and inputs, or a tuple of it and the initial states";
  using cell = Cell;
  static constexpr std::size_t hidden = Hidden, gates = Cell::gates, directions = detail::count_of(Way);
  static constexpr direction way = Way;
  static constexpr bool has_bias = !detail::is_among<no_bias, Options...>;
  static constexpr bool resets_behind = detail::is_among<linear_before_reset, Options...>;
  static constexpr bool has_peepholes = detail::is_among<peepholes, Options...>;
  static constexpr bool couples_forget = detail::is_among<input_forget, Options...>;
  static constexpr std::size_t functions_each = Cell::defaults.size();

  gate_functions<directions * functions_each> functions{};

  template <class In>
  using x_type = typename detail::sequence_parts<In>::x;
  template <class In>
  using state = tensor<typename x_type<In>::value_type, directions, Hidden>;
  template <class In>
  using states = tensor<typename x_type<In>::value_type, x_type<In>::extents[0], directions, Hidden>;

  template <class In>
    requires floating_tensor<x_type<In>> && (x_type<In>::rank == 2) &&
                 (detail::sequence_parts<In>::states == 0 || detail::sequence_parts<In>::states == Cell::states) &&
                 detail::states_are<In, state<In>>
  using output = std::conditional_t<Cell::states == 1, std::tuple<states<In>, state<In>>,
                                    std::tuple<states<In>, state<In>, state<In>>>;

  template <class In>
  static constexpr double flops = 2.0 * static_cast<double>((x_type<In>::extents[1] + Hidden) * gates * Hidden *
                                                            directions * x_type<In>::extents[0]);

  template <class In>
  static constexpr auto parameters = [] {
    constexpr element type = element_of<typename x_type<In>::value_type>;
    constexpr std::size_t rows = gates * Hidden;
    std::array<parameter_info, 2 + (has_bias ? 1 : 0) + (has_peepholes ? 1 : 0)> all{
        parameter_info{"weight", type, shape(directions, rows, x_type<In>::extents[1])},
        parameter_info{"recurrence", type, shape(directions, rows, Hidden)}};
    if constexpr (has_bias) all[2] = {"bias", type, shape(directions, 2 * rows)};
    if constexpr (has_peepholes) all.back() = {"peephole", type, shape(directions, 3 * Hidden)};
    return all;
  }();
};

template <std::size_t Hidden, direction Way, std::same_as<no_bias>... Options>
using rnn_sequence_op = sequence_op<detail::rnn_cell, Hidden, Way, Options...>;
template <std::size_t Hidden, direction Way, class... Options>
  requires(detail::is_among<Options, no_bias, linear_before_reset> && ...)
using gru_sequence_op = sequence_op<detail::gru_cell, Hidden, Way, Options...>;
template <std::size_t Hidden, direction Way, class... Options>
  requires(detail::is_among<Options, no_bias, peepholes, input_forget> && ...)
using lstm_sequence_op = sequence_op<detail::lstm_cell, Hidden, Way, Options...>;

/// The defaults of ONNX for all directions of an op.
template <class Op>
inline constexpr auto default_functions = [] {
  decltype(Op::functions) made{};
  for (std::size_t i = 0; i < made.activations.size(); ++i)
    made.activations[i] = Op::cell::defaults[i % Op::functions_each];
  return made;
}();

namespace nn {

/// A recurrent layer named `Name` over the steps of an item, with parameters of `weights`, which must outlive
/// `deploy`: `nn::lstm_sequence<"encoder", 64, direction::bidirectional>(w)`.
template <fixed_string Name, std::size_t Hidden, direction Way = direction::forward, class... Options,
          parameter_source Source>
constexpr auto rnn_sequence(const Source& weights,
                            const decltype(rnn_sequence_op<Hidden, Way, Options...>::functions)& functions =
                                default_functions<rnn_sequence_op<Hidden, Way, Options...>>) {
  return op_stage<Name, sequence_op<detail::rnn_cell, Hidden, Way, Options...>>{{functions},
                                                                                parameter_source_ref(weights)};
}
template <fixed_string Name, std::size_t Hidden, direction Way = direction::forward, class... Options,
          parameter_source Source>
constexpr auto gru_sequence(const Source& weights,
                            const decltype(gru_sequence_op<Hidden, Way, Options...>::functions)& functions =
                                default_functions<gru_sequence_op<Hidden, Way, Options...>>) {
  return op_stage<Name, sequence_op<detail::gru_cell, Hidden, Way, Options...>>{{functions},
                                                                                parameter_source_ref(weights)};
}
template <fixed_string Name, std::size_t Hidden, direction Way = direction::forward, class... Options,
          parameter_source Source>
constexpr auto lstm_sequence(const Source& weights,
                             const decltype(lstm_sequence_op<Hidden, Way, Options...>::functions)& functions =
                                 default_functions<lstm_sequence_op<Hidden, Way, Options...>>) {
  return op_stage<Name, sequence_op<detail::lstm_cell, Hidden, Way, Options...>>{{functions},
                                                                                 parameter_source_ref(weights)};
}

template <fixed_string Name, std::size_t Hidden, direction Way = direction::forward, class... Options,
          parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> rnn_sequence(const Source&&);
template <fixed_string Name, std::size_t Hidden, direction Way = direction::forward, class... Options,
          parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> gru_sequence(const Source&&);
template <fixed_string Name, std::size_t Hidden, direction Way = direction::forward, class... Options,
          parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> lstm_sequence(const Source&&);

}  // namespace nn
}  // namespace levada
