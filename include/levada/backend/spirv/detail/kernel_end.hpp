// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/kernel_end.hpp: what a kernel does with a result that it has made: the element-wise ops behind
// it, which may join it with other values, compute on it in a register, and what they make is written.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/backend/detail/operand_layout.hpp>
#include <levada/backend/detail/region_function.hpp>
#include <levada/backend/spirv/detail/grid.hpp>
#include <levada/core/detail/type_list.hpp>

namespace levada::detail {

template <class List>
struct tuple_of_list;
template <class... T>
struct tuple_of_list<type_list<T...>> : type_tag<std::tuple<T...>> {};

/// An operand beside results in `Channels` rows of `Places`, as a kernel sees it.
template <operand_layout Layout, std::size_t Channels, std::size_t Places>
using operand_tensor =
    tensor<float, (Layout == operand_layout::full || Layout == operand_layout::by_channel ? Channels : 1),
           (Layout == operand_layout::full || Layout == operand_layout::by_place ? Places : 1)>;
/// Its element beside a result.
template <operand_layout Layout, class Buffer, class Channel, class Place>
constexpr auto operand_element(const Buffer& buffer, [[maybe_unused]] const Channel& channel,
                               [[maybe_unused]] const Place& place) {
  if constexpr (Layout == operand_layout::full)
    return buffer(channel, place);
  else if constexpr (Layout == operand_layout::by_channel)
    return buffer(channel, 0);
  else if constexpr (Layout == operand_layout::by_place)
    return buffer(0, place);
  else
    return buffer(0, 0);
}

/// Of results in `Channels` rows of `Places`. `F` is called with a result and an element of each operand, of float,
/// that lies beside it as `Operands` say; in place of one that is `other`, which it does not read, with the result.
template <class F, std::size_t Channels, std::size_t Places, operand_layout... Operands>
struct kernel_end {
  [[no_unique_address]] F function;

  // ---- the buffers of a kernel that ends so ----

  static constexpr std::size_t operands = ((Operands != operand_layout::other ? std::size_t{1} : 0) + ... + 0);

  template <operand_layout Layout>
  using listed = std::conditional_t<Layout == operand_layout::other, type_list<>,
                                    type_list<operand_tensor<Layout, Channels, Places>>>;
  /// What it reads, behind what the kernel itself does.
  template <class... Own>
  using inputs = typename tuple_of_list<concatenated<type_list<Own...>, listed<Operands>...>>::type;
  template <class Element>
  using output = std::tuple<tensor<Element, Channels, Places>>;

  /// The same as places: the `i`-th operand is the input `which[i]` of the kernel.
  template <std::size_t Own>
  static std::array<bound_tensor, Own + operands + 1> bound(const bound_tensor (&own)[Own],
                                                            const std::array<std::size_t, sizeof...(Operands)>& which) {
    constexpr bool reads[] = {(Operands != operand_layout::other)..., false};
    std::array<bound_tensor, Own + operands + 1> all{};
    std::size_t next = 0;
    for (const bound_tensor& tensor : own) all[next++] = tensor;
    for (std::size_t i = 0; i < which.size(); ++i)
      if (reads[i]) all[next++] = {buffer_role::input, 0, nullptr, 0, which[i]};
    all[next].role = buffer_role::output;
    return all;
  }

  // ---- in the kernel ----

  /// `store(channel, place, result)`, of the buffers behind those that the kernel itself reads.
  template <class... Buffer>
  constexpr auto into(const Buffer&... buffers) const {
    return [this, all = std::tie(buffers...)](const auto& channel, const auto& place, const auto& result) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        std::get<operands>(all)(channel, place) = function(result, element<I>(all, channel, place, result)...);
      }(std::make_index_sequence<sizeof...(Operands)>());
    };
  }

 private:
  template <std::size_t I>
  static constexpr operand_layout layout = std::array<operand_layout, sizeof...(Operands)>{Operands...}[I];
  template <std::size_t I>
  static constexpr std::size_t buffer_of = [] {
    std::size_t before = 0, index = 0;
    for (const operand_layout l : {Operands...}) before += index++ < I && l != operand_layout::other ? 1u : 0u;
    return before;
  }();

  template <std::size_t I, class Buffers, class Channel, class Place, class V>
  static constexpr auto element(const Buffers& all, const Channel& channel, const Place& place, const V& result) {
    if constexpr (layout<I> == operand_layout::other)
      return result;
    else
      return operand_element<layout<I>>(std::get<buffer_of<I>>(all), channel, place);
  }
};

}  // namespace levada::detail
