// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/direct.hpp: the simd backend without Winograd's transforms: each product of a convolution is
// computed and summed, as ONNX defines it. Slower where `simd` would transform, and closer to the exact sum
// (docs/precision.md).

#include <cstddef>
#include <string_view>
#include <utility>

#include <levada/backend/simd/detail/conv2d.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/region.hpp>
#include <levada/nn/conv2d.hpp>

namespace levada {

namespace detail {

/// An op as simd_direct hands it to the kernels of simd.
template <class Op>
struct direct_form {
  using type = Op;
  static constexpr const Op& of(const Op& op) { return op; }
};
template <std::size_t Filters, class... Options>
struct direct_form<conv2d_op<Filters, Options...>> {
  using type = conv2d_op<Filters, Options..., direct_sums>;
  static constexpr type of(const conv2d_op<Filters, Options...>&) { return {}; }
};
template <class Op>
using direct_form_t = typename direct_form<Op>::type;

template <class Region>
struct direct_region;
template <class... In, class... RegionOps>
struct direct_region<op_region<type_list<In...>, RegionOps...>> {
  template <class Op, class T, std::size_t... From>
  static auto form(std::type_identity<region_op<Op, T, From...>>) -> region_op<direct_form_t<Op>, T, From...>;
  using type = op_region<type_list<In...>, decltype(form(std::type_identity<RegionOps>()))...>;
};

template <class Kernel, class... Ops>
struct direct_kernel : Kernel {
  direct_kernel(const Ops&... ops, const parameter_values& p) : Kernel(direct_form<Ops>::of(ops)..., p) {}
};

template <class Arch, class In, class... Ops>
struct simd_direct_kernel;
template <class Arch, class In, class... Ops>
  requires requires { sizeof(simd_kernel<Arch, In, direct_form_t<Ops>...>); }
struct simd_direct_kernel<Arch, In, Ops...> : direct_kernel<simd_kernel<Arch, In, direct_form_t<Ops>...>, Ops...> {
  using simd_direct_kernel::direct_kernel::direct_kernel;
};

template <class Arch, class Region>
struct simd_direct_region_kernel;
template <class Arch, class... In, class... RegionOps>
  requires requires {
    sizeof(simd_region_kernel<Arch, typename direct_region<op_region<type_list<In...>, RegionOps...>>::type>);
  }
struct simd_direct_region_kernel<Arch, op_region<type_list<In...>, RegionOps...>>
    : direct_kernel<simd_region_kernel<Arch, typename direct_region<op_region<type_list<In...>, RegionOps...>>::type>,
                    typename RegionOps::op_type...> {
  using simd_direct_region_kernel::direct_kernel::direct_kernel;
};

}  // namespace detail

/// `simd_on<Arch>`, whose convolutions are direct.
template <class Arch>
struct simd_direct_on {
  static constexpr std::string_view name = "simd_direct";
  static constexpr std::string_view more_kernels = simd_on<Arch>::more_kernels;
  static constexpr device_kind device = device_kind::cpu;
  static constexpr std::size_t longest_run = simd_on<Arch>::longest_run;

  template <class In, class... Ops>
  using kernel = detail::simd_direct_kernel<Arch, In, Ops...>;
  template <class In, class... Ops>
  using batch_kernel = simd_batch_kernel<Arch, In, Ops...>;
  template <class Region>
  using region_kernel = detail::simd_direct_region_kernel<Arch, Region>;

  static constexpr bool takes(const region_info& region) { return simd_on<Arch>::takes(region); }
};

/// `simd`, whose convolutions are direct: `deploy<box, backends<simd_direct, reference>>(pipeline)`.
#ifdef LEVADA_INSTRUCTION_SETS
using simd_direct = simd_direct_on<isa::one_of<LEVADA_INSTRUCTION_SETS>>;
#else
using simd_direct = simd_direct_on<isa::native>;
#endif

}  // namespace levada
