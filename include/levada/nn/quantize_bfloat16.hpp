// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/quantize_bfloat16.hpp: a part of a pipeline of float computed with bfloat16: its conv2d and dense as those of
// nn/bfloat16.hpp, with bfloat16 between them where nothing but pools and moves stands there, and float otherwise. It
// needs no calibration.
//
//   quantize<bfloat16>(nn::conv2d<"conv1", 8, size<5>>(w) | nn::relu | ... | nn::dense<"fc", 10>(w))

#include <levada/nn/bfloat16.hpp>
#include <levada/nn/quantize.hpp>

namespace levada {

namespace detail {

/// An op with weights as one of bfloat16.
template <class Op>
struct form_of_bfloat16;
template <std::size_t Filters, class... Options>
struct form_of_bfloat16<conv2d_op<Filters, Options...>> {
  template <class To>
  using op = bfloat16_conv2d_op<Filters, To, Options...>;
  template <class To>
  static constexpr op<To> make(bool relu) {
    return {{}, relu};
  }
};
template <std::size_t Outputs, class... Options>
struct form_of_bfloat16<dense_op<Outputs, Options...>> {
  template <class To>
  using op = bfloat16_dense_op<Outputs, To, Options...>;
  template <class To>
  static constexpr op<To> make(bool relu) {
    return {relu};
  }
};

/// What stands between the weighing part at `at` and the next computes with bfloat16 as it does with float.
template <class List>
constexpr bool goes_on_in_bfloat16(std::size_t at) {
  const std::size_t next = List::weighing_from(at + 1);
  for (std::size_t i = at + 1; i < next; ++i)
    if (List::role[i] == quantized_role::other) return false;
  return next < List::count;
}

/// The parts from `I` on behind those that are made already. `Relu`: the weighing part before has taken the relus
/// behind it.
template <std::size_t I, bool Relu, class Parts, class Made>
constexpr auto bfloat16_from(Parts& parts, Made made) {
  using list = parts_to_quantize<Parts>;
  if constexpr (I == list::count) {
    return made;
  } else {
    using part = typename list::template part<I>;
    if constexpr (list::role[I] == quantized_role::weighs) {
      using form = form_of_bfloat16<typename part::op_type>;
      constexpr bool goes_on = goes_on_in_bfloat16<list>(I);
      using to = std::conditional_t<goes_on, bfloat16, float>;
      op_stage<part::name, typename form::template op<to>> stage{
          form::template make<to>(goes_on && list::relu_behind(I)), std::get<I>(parts).weights};
      return bfloat16_from<I + 1, goes_on>(parts, followed_by(std::move(made), stage));
    } else if constexpr (Relu && list::role[I] == quantized_role::relu) {
      return bfloat16_from<I + 1, Relu>(parts, std::move(made));
    } else {
      return bfloat16_from<I + 1, Relu>(parts, followed_by(std::move(made), std::move(std::get<I>(parts))));
    }
  }
}

template <class Part>
consteval auto find_bfloat16_mistake() {
  using list = parts_of_region<Part>;
  if constexpr (list::first == list::count)
    return nothing_to_quantize_there_is_no_conv2d_and_no_dense{};
  else
    return no_mistake{};
}
template <class Part>
using bfloat16_mistake = decltype(find_bfloat16_mistake<Part>());

}  // namespace detail

/// The part with each conv2d and dense computed with weights and inputs of bfloat16 and sums of float; the last gives
/// float.
template <std::same_as<bfloat16> To, pipeline_part Part>
  requires correct<detail::bfloat16_mistake<Part>>
constexpr auto quantize(Part part) {
  auto parts = detail::taken_apart(std::move(part));
  return detail::bfloat16_from<0, false>(parts, detail::no_parts_yet{});
}
template <std::same_as<bfloat16> To, pipeline_part Part>
  requires(detail::bfloat16_mistake<Part>::is_mistake)
mistake_found<detail::bfloat16_mistake<Part>> quantize(const Part&);

}  // namespace levada
