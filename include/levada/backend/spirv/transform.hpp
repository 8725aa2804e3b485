// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/transform.hpp: element-wise lambdas, as many as stand in a row, as one dispatch of one module.

#include <algorithm>
#include <concepts>
#include <cstdint>

#include <levada/backend/spirv/kernel.hpp>
#include <levada/kernel/composed.hpp>
#include <levada/kernel/spirv.hpp>
#include <levada/kernel/trace.hpp>
#include <levada/nn/transform.hpp>

namespace levada {

namespace detail {

/// An element that a module loads and stores: a word.
template <class T>
concept word_element = ir::is_scalar<T> && !std::same_as<T, bool>;

/// The captures are numbers that can be pushed; kernel/trace.hpp says so where one is no `uniform`.
template <class F>
concept pushable = kernel_detail::captures_nothing<F> || (kernel_detail::captures_plain_words<F> && sizeof(F) <= 124);

/// Every lambda of the run gives words, beginning with elements of type `T`.
template <class T, class... F>
inline constexpr bool give_words = word_element<T>;
template <class T, class F, class... Rest>
  requires word_element<T> && requires { typename transformed_t<F, T>; }
inline constexpr bool give_words<T, F, Rest...> = give_words<transformed_t<F, T>, Rest...>;

}  // namespace detail

template <class In, class... F>
  requires(sizeof...(F) > 0) && any_tensor<In> &&
          (detail::give_words<typename In::value_type, F...>) && detail::pushable<composed<F...>>
struct spirv_kernel<In, transform_op<F>...> : dispatch_kernel {
  using closure = composed<F...>;
  using out_type = run_output_t<In, transform_op<F>...>;

  static constexpr const auto& program = program_of<closure, typename In::value_type>;
  static constexpr const auto& module = spirv_module<program>;

  spirv_kernel(const transform_op<F>&... ops, parameter_values) {
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    dispatch d;
    d.name = "transform";
    d.module = module;
    d.buffers.push_back({buffer_role::input, In::elements * 4, 0});
    d.buffers.push_back({buffer_role::output, In::elements * 4, 0});
    if constexpr (!kernel_detail::captures_nothing<closure>) d.push(compose(ops.function...));
    d.push(static_cast<std::uint32_t>(In::elements));
    // Along x as many workgroups as every device takes, then on along y.
    constexpr std::uint32_t local = module_options{}.local_size, most = 65535;
    constexpr std::uint32_t groups = static_cast<std::uint32_t>((In::elements + local - 1) / local);
    d.local_size = {local, 1, 1};
    d.groups = {std::min(groups, most), (groups + most - 1) / most, 1};
    dispatches.push_back(d);
  }
};

}  // namespace levada
