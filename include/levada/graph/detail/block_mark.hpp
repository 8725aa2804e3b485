// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/block_mark.hpp: the marks between the parts of a flattened pipeline. A fork, a tee and a graph are each
// a block of nodes between two marks; the marks say what a node takes and what the block gives.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/params.hpp>
#include <levada/graph/detail/pipeline.hpp>

namespace levada::detail {

/// A block begins: what comes in goes by that name.
template <fixed_string Name>
struct block_begin {};
/// A node of the block, which takes what those names stand for.
template <fixed_string Name, fixed_string... From>
struct block_node {};
struct join_end {};  ///< the block gives what all its nodes give
struct tee_end {};   ///< the block gives what came in
/// One of several ports: it stands for that part of what comes in.
template <fixed_string Name, class T, std::size_t Index>
struct block_port {};
/// What comes in is that of several ports.
template <class... Ports>
struct ports_part {};
/// The block gives what those names stand for.
template <class Names, class From>
struct graph_end {};
template <fixed_string... Text>
struct text_list {};

template <fixed_string... Text>
inline constexpr std::array<std::string_view, sizeof...(Text)> texts_of{Text.view()...};

/// A mark as a value.
struct block_mark {
  enum kind_type : std::uint8_t { none, begin, port, node, join, tee, output } kind = none;
  std::string_view name{};
  std::span<const std::string_view> from{};     ///< the names of what it takes
  std::span<const std::string_view> outputs{};  ///< their names, at the end of a graph
  bool passes = false;                          ///< no mark and no stage
  bool opens_params = false, changes_rate = false;
  std::span<const std::size_t> splits_after{};  ///< the stages behind which it asks for a border
};
inline constexpr block_mark no_mark{};
template <class Part>
inline constexpr const block_mark& mark_of = no_mark;
template <>
inline constexpr block_mark mark_of<split_here_part>{.passes = true};
template <std::size_t... Stages>
inline constexpr std::array<std::size_t, sizeof...(Stages)> split_stages{Stages...};
template <std::size_t... Stages>
inline constexpr block_mark mark_of<split_after_part<Stages...>>{.passes = true,
                                                                 .splits_after = split_stages<Stages...>};
template <fixed_string Name>
inline constexpr block_mark mark_of<params_begin<Name>>{.passes = true, .opens_params = true};
template <>
inline constexpr block_mark mark_of<params_end>{.passes = true};
template <fixed_string Name>
inline constexpr block_mark mark_of<block_begin<Name>>{block_mark::begin, Name.view()};
template <fixed_string Name, fixed_string... From>
inline constexpr block_mark mark_of<block_node<Name, From...>>{block_mark::node, Name.view(), texts_of<From...>};
template <>
inline constexpr block_mark mark_of<join_end>{block_mark::join};
template <>
inline constexpr block_mark mark_of<tee_end>{block_mark::tee};
template <fixed_string Name, class T, std::size_t Index>
inline constexpr block_mark mark_of<block_port<Name, T, Index>>{block_mark::port, Name.view()};
template <fixed_string Name, fixed_string... Names, fixed_string... From>
inline constexpr block_mark mark_of<graph_end<text_list<Name, Names...>, text_list<From...>>>{
    block_mark::output, Name.view(), texts_of<From...>, texts_of<Name, Names...>};

template <class Device, class... Marks>
using flat_marks = type_list<flat_part<Marks, Device>...>;

/// Which of several ports a mark is.
template <class Part>
inline constexpr std::size_t port_index = ~std::size_t{0};
template <fixed_string Name, class T, std::size_t Index>
inline constexpr std::size_t port_index<block_port<Name, T, Index>> = Index;
template <class Part>
concept is_port_of_block = port_index<Part> != ~std::size_t{0};

template <fixed_string Text>
struct fixed_text {
  static constexpr auto value = Text;
};
template <fixed_string... Text>
text_list<Text...> as_texts(type_list<fixed_text<Text>...>);

/// The names of a mark, for what a mistake says.
template <class Part>
struct named_mark;
template <fixed_string Name>
struct named_mark<block_begin<Name>> {
  static constexpr auto name = Name;
};
template <fixed_string Name, fixed_string... From>
struct named_mark<block_node<Name, From...>> {
  static constexpr auto name = Name;
  template <std::size_t K>
  static consteval auto from() {
    return type_at<type_list<fixed_text<From>...>, K>::value;
  }
};
template <fixed_string Name, class T, std::size_t Index>
struct named_mark<block_port<Name, T, Index>> : named_mark<block_begin<Name>> {};
template <fixed_string... Name, fixed_string... From>
struct named_mark<graph_end<text_list<Name...>, text_list<From...>>> : named_mark<block_node<"", From...>> {
  template <std::size_t K>
  static consteval auto output() {
    return type_at<type_list<fixed_text<Name>...>, K>::value;
  }
};

}  // namespace levada::detail
