// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/eigen/detail/kernel.hpp: the kernel of a region: its product, and the expression of the ops behind it, which
// is evaluated for each row of a block of results as soon as that is there.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/backend/detail/chain_region.hpp>
#include <levada/backend/detail/region_function.hpp>
#include <levada/backend/eigen/detail/conv2d.hpp>
#include <levada/backend/eigen/detail/dense.hpp>
#include <levada/backend/eigen/detail/region_kind.hpp>
#include <levada/backend/prepared.hpp>

namespace levada {

namespace detail {

/// Results of an expression of those of the product, if there is one, and of the region's inputs, in this order.
template <class Out, std::size_t PlaceAxes, bool OfProduct, class Function, class... In>
class eigen_epilogue {
  using array = Eigen::Map<const Eigen::ArrayXf>;

 public:
  static constexpr std::size_t places = [] {
    std::size_t count = 1;
    for (std::size_t back = 1; back <= PlaceAxes; ++back) count *= Out::extents[Out::rank - back];
    return count;
  }();

  eigen_epilogue(const Function& function, const float* const* inputs) : function_(function), inputs_(inputs) {}

  /// `results` are those of a channel from its `at`-th on.
  void operator()(float* results, std::size_t channel, std::size_t at, std::size_t count) const {
    evaluate(results, channel, at, static_cast<Eigen::Index>(count), std::index_sequence_for<In...>());
  }

 private:
  template <std::size_t... I>
  void evaluate(float* results, std::size_t channel, std::size_t at, Eigen::Index count,
                std::index_sequence<I...>) const {
    Eigen::Map<Eigen::ArrayXf> to(results, count);
    if constexpr (OfProduct)
      to = function_(array(results, count), operand<In>(inputs_[I], channel, at, count)...);
    else
      to = function_(operand<In>(inputs_[I], channel, at, count)...);
  }
  /// Nobody looks at an input of the product alone.
  template <class T>
  static auto operand(const float* from, std::size_t channel, std::size_t at, Eigen::Index count) {
    constexpr operand_layout layout = layout_beside(shape_of<T>, shape_of<Out>, PlaceAxes);
    if constexpr (layout == operand_layout::full)
      return array(from + channel * places + at, count);
    else if constexpr (layout == operand_layout::by_place)
      return array(from + at, count);
    else
      return Eigen::ArrayXf::Constant(count, from[layout == operand_layout::by_channel ? channel : 0]);
  }

  const Function& function_;
  const float* const* inputs_;
};

/// Results as they are.
struct no_eigen_epilogue {
  void operator()(float*, std::size_t, std::size_t, std::size_t) const {}
};
struct no_eigen_product {};

template <class Region,
          class Product = std::make_index_sequence<eigen_product_ops(region_info(infos_of_region<Region>::value))>,
          class Behind = std::make_index_sequence<Region::ops - Product::size()>>
class eigen_region;
template <class... In, class... RegionOps, std::size_t... P, std::size_t... B>
class eigen_region<op_region<type_list<In...>, RegionOps...>, std::index_sequence<P...>, std::index_sequence<B...>> {
  using region = op_region<type_list<In...>, RegionOps...>;
  using ops = type_list<RegionOps...>;
  static constexpr const auto& infos = infos_of_region<region>::value;
  static constexpr std::size_t product_ops = sizeof...(P);

  static constexpr auto product_type() {
    if constexpr (product_ops == 0)
      return type_tag<no_eigen_product>();
    else if constexpr (type_at<ops, 0>::op_type::kind == "conv2d")
      return type_tag<eigen_conv2d>();
    else if constexpr (type_at<ops, 0>::op_type::kind == "dense")
      return type_tag<eigen_dense>();
    else
      return type_tag<eigen_matmul>();
  }
  using product = typename decltype(product_type())::type;

  using behind = function_behind<region, product_ops, eigen_function>;
  static constexpr auto function_type() {
    if constexpr (sizeof...(B) == 0)
      return type_tag<no_eigen_epilogue>();
    else
      return type_tag<typename behind::type>();
  }
  using function = typename decltype(function_type())::type;

 public:
  using out_type = typename region::out_type;
  static constexpr std::size_t scratch_bytes = [] {
    if constexpr (product_ops == 0)
      return std::size_t{0};
    else
      return product::scratch_bytes(infos[0]);
  }();
  static constexpr std::size_t weight_bytes = prepared_weight_bytes<eigen_region>(region_info(infos), infos);

  eigen_region(const typename RegionOps::op_type&... all, parameter_values p)
      : product_(make_product(p, all...)), function_(make_function(all...)) {}

  void operator()(const auto& in, out_type& out, std::byte* scratch) const {
    with_elements_of<float>(in, [&](const float* const* inputs) { compute(inputs, out.data(), scratch); });
  }

 private:
  static product make_product([[maybe_unused]] parameter_values p, const auto&... all) {
    if constexpr (product_ops == 0) {
      return {};
    } else {
      const auto made = completed(infos, all...);
      if constexpr (std::is_same_v<product, eigen_matmul>) {
        return product(made[0]);
      } else {
        const op_run run = op_run(made).first(product_ops);
        return product(run, fold_weights(run, p));
      }
    }
  }
  static function make_function([[maybe_unused]] const auto&... all) {
    if constexpr (sizeof...(B) == 0)
      return {};
    else
      return behind::make(all...);
  }

  void compute(const float* const* inputs, float* out, std::byte* scratch) const {
    if constexpr (sizeof...(B) == 0) {
      product_(inputs, out, scratch, function_);
    } else {
      constexpr std::size_t axes = eigen_place_axes(region_info(infos), product_ops);
      using epilogue = eigen_epilogue<out_type, axes, product_ops != 0, function, In...>;
      const epilogue results(function_, inputs);
      if constexpr (product_ops != 0) {
        const auto of_product = inputs_of_product(inputs, typename type_at<ops, 0>::origins{});
        product_(of_product.data(), out, scratch, results);
      } else {
        for (std::size_t row = 0; row < out_type::elements / epilogue::places; ++row)
          results(out + row * epilogue::places, row, 0, epilogue::places);
      }
    }
  }
  template <std::size_t... From>
  static std::array<const float*, sizeof...(From)> inputs_of_product(const float* const* inputs,
                                                                     std::index_sequence<From...>) {
    return {inputs[From]...};
  }

  [[no_unique_address]] product product_;
  [[no_unique_address]] function function_;
};

template <class Region>
inline constexpr bool is_eigen_region = eigen_takes(region_info(infos_of_region<Region>::value));

}  // namespace detail

/// The kernel of a region that eigen takes, and of a run.
template <class Region>
class eigen_region_kernel;
template <class Inputs, class... RegionOps>
  requires detail::is_eigen_region<op_region<Inputs, RegionOps...>>
class eigen_region_kernel<op_region<Inputs, RegionOps...>>
    : public detail::eigen_region<op_region<Inputs, RegionOps...>> {
 public:
  using detail::eigen_region<op_region<Inputs, RegionOps...>>::eigen_region;
};

template <class In, class... Ops>
class eigen_kernel;
template <class In, class First, class... Rest>
  requires detail::all_tensors<In> && detail::run_takes<In, First, Rest...> &&
           any_tensor<run_output_t<In, First, Rest...>> &&
           detail::is_eigen_region<detail::chain_region_t<In, First, Rest...>>
class eigen_kernel<In, First, Rest...> : public eigen_region_kernel<detail::chain_region_t<In, First, Rest...>> {
 public:
  using eigen_region_kernel<detail::chain_region_t<In, First, Rest...>>::eigen_region_kernel;
};

}  // namespace levada
