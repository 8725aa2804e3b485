// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/signature.hpp: what costs are kept by: a text that says what is computed, whatever the stage is called
// and whichever pipeline it is in. An op of a user's lambda is known by its stage's name and the hash of its source.
//
//   conv2d(float[1x28x28]) -> float[8x28x28], 326144 FLOP, 832 bytes + relu(float[8x28x28]) -> float[8x28x28], 6272
//   FLOP
//   transform normalise 9ae16a3b2f90404f(uint8[1x28x28]) -> float[1x28x28], 784 FLOP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/region_runs.hpp>
#include <levada/plan/detail/text.hpp>

namespace levada {

namespace detail {

/// "float[3x224x224]", or "32 bytes" of an item that is no tensor.
template <class Text>
constexpr void append_item(Text& text, const value_info& value) {
  if (value.type == element::other) {
    append_number(text, value.bytes);
    text += value.bytes == 1 ? " byte" : " bytes";
    return;
  }
  text += name_of(value.type);
  text += '[';
  for (std::size_t i = 0; i < value.extents.rank; ++i) {
    if (i > 0) text += 'x';
    append_number(text, value.extents[i]);
  }
  text += ']';
}

template <class Text>
constexpr void append_hash(Text& text, std::uint64_t hash) {
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[hash >> shift & 15];
}

/// Appends what a node computes. Nodes from `region` on are written by their numbers in the region.
template <class Text, std::size_t N>
constexpr void append_node(Text& text, const graph_info<N>& graph, std::size_t n, std::size_t region) {
  const node_info& node = graph.nodes[n];
  text += is_op(node) ? node.kind : node.name;
  if (node.of_lambda) {
    text += ' ';
    text += node.name;
  }
  if (node.source != 0) {
    text += ' ';
    append_hash(text, node.source);
  }
  text += '(';
  bool is_first = true;
  for_each_input(node, [&](std::size_t v) {
    if (!is_first) text += ", ";
    is_first = false;
    const std::size_t maker = graph.values[v].producer;
    if (maker != value_info::nobody && maker >= region && maker < n) {
      text += '#';
      append_number(text, maker - region + 1);
    } else {
      append_item(text, graph.values[v]);
    }
  });
  text += ')';
  if (node.how != form::sink) {
    text += " -> ";
    append_item(text, graph.values[node.out]);
  }
  if (node.flops > 0) {
    text += ", ";
    append_number(text, static_cast<std::size_t>(node.flops));
    text += " FLOP";
  }
  if (node.parameter_bytes > 0) {
    text += ", ";
    append_number(text, node.parameter_bytes);
    text += " bytes";
  }
}

}  // namespace detail

/// Appends what a node computes. A callable is known by its name.
template <class Text, std::size_t N>
constexpr void append_signature(Text& text, const graph_info<N>& graph, std::size_t n) {
  detail::append_node(text, graph, n, n);
}

/// Appends what a run of nodes computes. In a region that is no chain "#1" is what its first op gives:
///
///   conv2d(float[8x4x4]) -> float[8x4x4], 9216 FLOP, 2304 bytes + add(#1, float[8x4x4]) -> float[8x4x4], 128 FLOP
template <class Text, std::size_t N>
constexpr void append_signature(Text& text, const graph_info<N>& graph, std::size_t first, std::size_t count) {
  const bool is_line = is_chain(graph, first, count);
  for (std::size_t n = first; n < first + count; ++n) {
    if (n > first) text += " + ";
    detail::append_node(text, graph, n, is_line ? n : first);
  }
}

namespace detail {

/// The hash of what is written to it. Those of two texts give that of one behind the other, so that runs of nodes need
/// no text of their own.
class text_hash {
 public:
  constexpr text_hash() = default;
  constexpr explicit text_hash(std::string_view text) { *this += text; }

  constexpr text_hash& operator+=(char c) {
    hash_ = hash_ * factor + static_cast<unsigned char>(c) + 1;
    power_ *= factor;
    return *this;
  }
  constexpr text_hash& operator+=(std::string_view text) {
    for (const char c : text) *this += c;
    return *this;
  }
  constexpr text_hash& operator+=(const text_hash& behind) {
    hash_ = hash_ * behind.power_ + behind.hash_;
    power_ *= behind.power_;
    return *this;
  }
  constexpr std::uint64_t value() const { return hash_; }

 private:
  static constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
  std::uint64_t hash_ = 0, power_ = 1;
};

}  // namespace detail
}  // namespace levada
