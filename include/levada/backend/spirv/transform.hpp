// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/transform.hpp: element-wise ops, as many as stand in a row, as one dispatch of one module.

#include <algorithm>
#include <cstdint>

#include <levada/backend/spirv/element_wise.hpp>
#include <levada/backend/spirv/grid.hpp>
#include <levada/kernel/spirv.hpp>

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

}  // namespace detail

template <class In, class... Ops>
  requires detail::element_wise_run<In, Ops...>
struct spirv_kernel<In, Ops...> : dispatch_kernel {
  using out_type = run_output_t<In, Ops...>;
  using closure = detail::fused_t<Ops...>;

  spirv_kernel(const Ops&... ops, parameter_values) {
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    if constexpr (detail::word_element<typename In::value_type>)
      dispatches.push_back(of_words(detail::fused<Ops...>::of(ops...)));
    else
      add_grid<"transform", tensor<typename In::value_type, In::elements>,
               tensor<typename out_type::value_type, In::elements>, grid<In::elements>>(
          *this, detail::unpacked_source<closure>{detail::fused<Ops...>::of(ops...)});
  }

 private:
  static dispatch of_words(const closure& function) {
    // Along x as many workgroups as every device takes, then on along y.
    constexpr std::uint32_t local = module_options{}.local_size, most = 65535;
    constexpr std::uint32_t groups = static_cast<std::uint32_t>((In::elements + local - 1) / local);
    constexpr module_options options{.one_row = groups <= most,
                                     .whole_groups = groups <= most && In::elements % local == 0};
    dispatch d;
    d.name = "transform";
    d.module = spirv_module<program_of<closure, typename In::value_type>, options>;
    d.buffers.push_back({buffer_role::input, In::elements * 4, 0});
    d.buffers.push_back({buffer_role::output, In::elements * 4, 0});
    if constexpr (!kernel_detail::captures_nothing<closure>) d.push(function);
    d.push(static_cast<std::uint32_t>(In::elements));
    d.local_size = {local, 1, 1};
    d.groups = {std::min(groups, most), (groups + most - 1) / most, 1};
    return d;
  }
};

}  // namespace levada
