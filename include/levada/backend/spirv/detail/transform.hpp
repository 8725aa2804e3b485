// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/transform.hpp: element-wise ops, as many as stand in a row, as one dispatch of one module.

#include <algorithm>
#include <cstdint>

#include <levada/backend/spirv/detail/element_wise.hpp>
#include <levada/backend/spirv/detail/grid.hpp>
#include <levada/kernel/detail/spirv.hpp>

namespace levada {

namespace detail {

template <class In, class... Ops>
concept element_wise_run =
    sizeof...(Ops) > 0 && any_tensor<In> && (element_wise_op<Ops> && ...) &&
    give_words<kernel_detail::computed_t<typename In::value_type>, In, Ops...>&& pushable<fused_t<Ops...>>;

/// Elements narrower than a word come out of the words that they are packed in.
template <class F>
struct unpacked_source {
  [[no_unique_address]] F function;

  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    const auto x = in(g.x());
    const auto made = function(x);
    out(g.x()) = kernel_detail::lift<kernel_detail::stored_t<std::remove_const_t<decltype(made)>>>(x, made);
  }
};

/// A row of elements through the lambdas of the ops.
template <class Row, class Out, class... Ops>
struct element_wise_kernel : dispatch_kernel {
  using element = typename Row::value_type;
  using closure = fused_t<Ops...>;

  explicit element_wise_kernel(const Ops&... ops) {
    if constexpr (word_element<element>)
      dispatches.push_back(of_words(fused<Ops...>::of(ops...)));
    else
      add_grid<"transform", Row, tensor<Out, Row::elements>, grid<Row::elements>>(
          *this, unpacked_source<closure>{fused<Ops...>::of(ops...)});
  }

 private:
  static dispatch of_words(const closure& function) {
    // Along x as many workgroups as every device takes, then on along y.
    constexpr std::uint32_t local = module_options{}.local_size, most = 65535;
    constexpr std::uint32_t groups = static_cast<std::uint32_t>((Row::elements + local - 1) / local);
    constexpr module_options options{.one_row = groups <= most,
                                     .whole_groups = groups <= most && Row::elements % local == 0};
    dispatch d;
    d.name = "transform";
    d.module = spirv_module<program_of<closure, element>, options>;
    d.buffers.push_back({buffer_role::input, Row::elements * 4, 0});
    d.buffers.push_back({buffer_role::output, Row::elements * 4, 0});
    if constexpr (!kernel_detail::captures_nothing<closure>) d.push(function);
    d.push(static_cast<std::uint32_t>(Row::elements));
    d.local_size = {local, 1, 1};
    d.groups = {std::min(groups, most), (groups + most - 1) / most, 1};
    return d;
  }
};

}  // namespace detail

template <class In, class... Ops>
  requires detail::element_wise_run<In, Ops...>
struct spirv_kernel<In, Ops...> : detail::element_wise_kernel<tensor<typename In::value_type, In::elements>,
                                                              typename run_output_t<In, Ops...>::value_type, Ops...> {
  spirv_kernel(const Ops&... ops, parameter_values) : spirv_kernel::element_wise_kernel(ops...) {
    this->in_bytes = sizeof(In);
    this->out_bytes = sizeof(run_output_t<In, Ops...>);
  }
};

}  // namespace levada
