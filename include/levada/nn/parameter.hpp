// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/parameter.hpp: ops one of whose operands is a parameter of the model (ONNX Add, Sub, Mul, Div, Pow, Max, Min and
// MatMul of a constant tensor), and the parameter by itself.

#include <algorithm>
#include <array>

#include <levada/nn/broadcast.hpp>
#include <levada/nn/matmul.hpp>

namespace levada {

/// Which operand the parameter is.
enum class parameter_place : unsigned char { first, second };

namespace detail {

template <class Parameter, parameter_place Place, class In>
struct with_operand {
  using type = std::tuple<In, Parameter>;
};
template <class Parameter, class In>
struct with_operand<Parameter, parameter_place::first, In> {
  using type = std::tuple<Parameter, In>;
};

/// The input and the parameter in their order.
template <class In, class Parameter, parameter_place Place>
struct operand_order {
  using type = typename with_operand<Parameter, Place, In>::type;

  static std::tuple<const std::tuple_element_t<0, type>&, const std::tuple_element_t<1, type>&> tie(
      const In& in, const Parameter& parameter) {
    if constexpr (Place == parameter_place::first)
      return {parameter, in};
    else
      return {in, parameter};
  }
};

/// "add_parameter" of "add", "parameter_sub" of "sub".
template <class F, parameter_place Place>
inline constexpr auto parameter_kind = [] {
  constexpr std::string_view of = F::kind, word = "parameter";
  std::array<char, of.size() + word.size() + 1> name{};
  const std::string_view parts[] = {Place == parameter_place::first ? word : of,
                                    Place == parameter_place::first ? of : word};
  auto end = std::copy(parts[0].begin(), parts[0].end(), name.begin());
  *end++ = '_';
  std::copy(parts[1].begin(), parts[1].end(), end);
  return name;
}();

}  // namespace detail

/// A function of two elements, those of the input and of the parameter "value" of extents `Dims`, broadcast against
/// each other as in ONNX.
template <class F, parameter_place Place, std::size_t... Dims>
struct parameter_op {
  static constexpr std::string_view kind{detail::parameter_kind<F, Place>.data(),
                                         detail::parameter_kind<F, Place>.size()};
  static constexpr op_kind fuses_as = op_kind::broadcast;
  static constexpr std::string_view expects = "a tensor of numbers whose shape broadcasts with that of the parameter";
  static constexpr bool in_place = true, joins_parameter = true;

  using op_of_two = broadcast_op<F>;
  template <class In>
  using parameter = tensor<typename In::value_type, Dims...>;
  template <class In>
  using operands = detail::operand_order<In, parameter<In>, Place>;

  template <any_tensor In>
    requires op_takes<broadcast_op<F>, typename operands<In>::type>
  using output = typename broadcast_op<F>::template output<typename operands<In>::type>;

  template <class In>
  static constexpr double flops = static_cast<double>(output<In>::elements);

  template <class In>
  static constexpr std::array<parameter_info, 1> parameters{
      parameter_info{"value", element_of<typename In::value_type>, shape_of<parameter<In>>}};
};

/// The product of the input and the parameter "value" of extents `Dims`, as `matmul` of the two.
template <parameter_place Place, std::size_t... Dims>
  requires(sizeof...(Dims) > 0)
struct matmul_parameter_op {
  static constexpr std::string_view kind = Place == parameter_place::first ? "parameter_matmul" : "matmul_parameter";
  static constexpr op_kind fuses_as = op_kind::out_fusable;
  static constexpr std::string_view expects =
      "a float or double tensor whose inner axis is that of the parameter and whose batch broadcasts";

  using op_of_two = matmul_op;
  template <class In>
  using parameter = tensor<typename In::value_type, Dims...>;
  template <class In>
  using operands = detail::operand_order<In, parameter<In>, Place>;

  template <floating_tensor In>
    requires op_takes<matmul_op, typename operands<In>::type>
  using output = matmul_op::output<typename operands<In>::type>;

  template <class In>
  static constexpr double flops = matmul_op::flops<typename operands<In>::type>;

  template <class In>
  static constexpr std::array<parameter_info, 1> parameters{
      parameter_info{"value", element_of<typename In::value_type>, shape_of<parameter<In>>}};
};

/// The parameter "value" itself, whatever the input.
template <tensor_element T, std::size_t... Dims>
struct constant_op {
  static constexpr std::string_view kind = "parameter";
  static constexpr std::string_view expects = "anything";

  template <class In>
  using output = tensor<T, Dims...>;

  template <class In>
  static constexpr double flops = 0;

  template <class In>
  static constexpr std::array<parameter_info, 1> parameters{
      parameter_info{"value", element_of<T>, shape_of<tensor<T, Dims...>>}};
};

namespace nn {

/// The input and a parameter of extents `Dims`, "<Name>.value" of `weights`, which must outlive `deploy`:
/// `nn::add_parameter<"k", 8, 1, 1>(w)`.
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, parameter_op<detail::sum_of_two, parameter_place::second, Dims...>>
    add_parameter{};
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, parameter_op<detail::difference_of, parameter_place::second, Dims...>>
    sub_parameter{};
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, parameter_op<detail::product_of, parameter_place::second, Dims...>>
    mul_parameter{};
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, parameter_op<detail::quotient_of, parameter_place::second, Dims...>>
    div_parameter{};
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, parameter_op<detail::power_of, parameter_place::second, Dims...>> pow_parameter{};
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, parameter_op<detail::largest_among, parameter_place::second, Dims...>>
    max_parameter{};
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, parameter_op<detail::smallest_among, parameter_place::second, Dims...>>
    min_parameter{};

/// The parameter is the first operand.
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, parameter_op<detail::difference_of, parameter_place::first, Dims...>>
    parameter_sub{};
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, parameter_op<detail::quotient_of, parameter_place::first, Dims...>>
    parameter_div{};
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, parameter_op<detail::power_of, parameter_place::first, Dims...>> parameter_pow{};

/// The product with a parameter on the right, and on the left.
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, matmul_parameter_op<parameter_place::second, Dims...>> matmul_parameter{};
template <fixed_string Name, std::size_t... Dims>
inline constexpr weighted_stage<Name, matmul_parameter_op<parameter_place::first, Dims...>> parameter_matmul{};

/// The parameter "<Name>.value" for whatever takes it as an input: `nn::parameter<"k", float, 8, 4>(w)`.
template <fixed_string Name, tensor_element T, std::size_t... Dims>
inline constexpr weighted_stage<Name, constant_op<T, Dims...>> parameter{};

}  // namespace nn
}  // namespace levada
