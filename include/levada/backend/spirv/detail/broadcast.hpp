// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/broadcast.hpp: a lambda of several tensors, one invocation for each element of the result, with
// the element-wise ops behind it at its end.

#include <levada/backend/spirv/detail/elements.hpp>
#include <levada/nn/broadcast.hpp>

namespace levada {

namespace detail {

/// What an element that was computed is stored as: comparisons give bytes.
template <class V>
constexpr auto storable(const V& x) {
  if constexpr (std::same_as<kernel_detail::element_t<V>, bool>)
    return to_int(x);
  else
    return x;
}

/// How many elements lie in front of each tensor: none.
struct no_leads {
  constexpr int operator[](std::size_t) const { return 0; }
};
template <std::size_t Tensors>
using leads_of_tuple = std::array<uniform<std::int32_t>, Tensors>;

template <const shape& Shape, class Leads, class F, class End, class... T>
struct broadcast_source {
  [[no_unique_address]] Leads leads;
  [[no_unique_address]] F function;
  [[no_unique_address]] End end;

  template <class G, class... Buffer>
  constexpr void operator()(const G& g, const Buffer&... buffers) const {
    const auto all = std::tie(buffers...);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto made = call(g, element<I>(g, std::get<I>(all))...);
      std::get<sizeof...(T)>(all)(each_element<Shape>::place(g)) = storable(end(made));
    }(std::index_sequence_for<T...>());
  }

 private:
  template <class G, class... V>
  constexpr auto call(const G&, const V&... x) const {
    const auto made = function(x...);
    return kernel_detail::lift<kernel_detail::stored_t<std::remove_const_t<decltype(made)>>>(
        kernel_detail::first_value(x...), made);
  }
  template <std::size_t I, class G, class Buffer>
  constexpr auto element(const G& g, const Buffer& from) const {
    using tensor = std::tuple_element_t<I, std::tuple<T...>>;
    return from(each_element<Shape>::sum(g,
                                         [](std::size_t axis, const auto& index) {
                                           return index *
                                                  static_cast<int>(broadcast_step(shape_of<tensor>, Shape, axis));
                                         }) +
                leads[I]);
  }
};

/// The lambda's result may be computed on by the ops behind it.
template <class F, class In, class... End>
inline constexpr bool broadcasts_on_device = false;
template <class F, class... T, class... End>
  requires op_takes<broadcast_op<F>, std::tuple<T...>> && (device_element<typename T::value_type> && ...)
inline constexpr bool broadcasts_on_device<F, std::tuple<T...>, End...> = [] {
  using made = typename broadcast_op<F>::template output<std::tuple<T...>>;
  if constexpr (sizeof...(End) == 0)
    return device_element<typename made::value_type>;
  else
    return give_words<typename made::value_type, made, End...>;
}();

}  // namespace detail

template <class... T, class F, class... End>
  requires(detail::broadcasts_on_device<F, std::tuple<T...>, End...> && detail::pushable<F> &&
           detail::pushable<detail::fused_t<End...>>)
struct spirv_kernel<std::tuple<T...>, broadcast_op<F>, End...> : dispatch_kernel {
  static constexpr bool takes_several = true;
  using in_type = std::tuple<T...>;
  using made = typename broadcast_op<F>::template output<in_type>;
  using out_type = run_output_t<made, End...>;

  spirv_kernel(const broadcast_op<F>& op, const End&... end, parameter_values) {
    in_bytes = sizeof(in_type);
    out_bytes = sizeof(out_type);
    detail::add_for_tensors<in_type>(*this, [&](const auto& places) { add(op, places, end...); });
  }

 private:
  template <class Places>
  void add(const broadcast_op<F>& op, const Places& places, const End&... end) {
    using source = detail::broadcast_source<shape_of<made>, detail::leads_of_tuple<sizeof...(T)>, F,
                                            detail::fused_t<End...>, T...>;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      add_bound_grid<"broadcast", std::tuple<detail::led_row_of<T>...>, std::tuple<detail::row_of<out_type>>,
                     typename detail::each_element<shape_of<made>>::over>(
          *this, source{{places[I].lead...}, op.function, detail::fused<End...>::of(end...)},
          {places[I].as(buffer_role::input)..., bound_tensor{buffer_role::output}});
    }(std::index_sequence_for<T...>());
  }
};

}  // namespace levada
