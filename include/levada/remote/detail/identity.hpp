// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/identity.hpp: what both ends of a remote device have to agree on, as lines of text, and the first thing
// in which they do not. Compilers write the same text, however they spell types.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/side_data.hpp>
#include <levada/plan/detail/signature.hpp>
#include <levada/plan/detail/text.hpp>
#include <levada/remote/detail/carried_sides.hpp>

namespace levada::detail {

/// Changes with the frames and with what their items mean.
inline constexpr std::size_t wire_format = 4;

/// A stage of the part sees the envelopes of its items.
template <class Part>
inline constexpr bool sees_envelopes = [] {
  if constexpr (flat<Part>::has_sides)
    for (const side_place& place : flat<Part>::sides().place)
      if (place.type == side_place::envelope) return true;
  return false;
}();

struct no_more_lines {
  static constexpr void write(auto&) {}
};

/// The lines of the part `Part` on the device `Device`, in a program of version `Version`. `Part` declares its input.
/// `More` writes others, each behind the end of a line.
template <fixed_string Device, fixed_string Version, class Part, class In, class Out, class More = no_more_lines>
struct remote_identity {
  template <class Text>
  static constexpr void write(Text& to) {
    to += "wire format ";
    append_number(to, wire_format);
    to += std::endian::native == std::endian::little ? "\nbyte order little" : "\nbyte order big";
    to += "\nversion ";
    to += Version.view();
    to += "\ndevice ";
    to += Device.view();
    to += "\nitems ";
    append_carried_form<In>(to);
    if constexpr (sees_envelopes<Part>) to += ", with capture times";
    to += "\nresults ";
    append_carried_form<Out>(to);
    More::write(to);
    constexpr auto graph = flat<Part>::describe();
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      to += "\nstage ";
      to += graph.nodes[n].name;
      to += ": ";
      append_signature(to, graph, n);
    }
    to += '\n';
  }
  static constexpr auto text = written_fixed_string<[](auto& into) { write(into); }>();
  static constexpr std::uint64_t hash = text_hash(text.view()).value();
};

/// The first line in which two texts differ, as words behind "levada: ": "the driver has `version 1`, and the node
/// `version 2`". Empty where they are the same.
inline std::string first_difference(std::string_view driver, std::string_view node) {
  const auto next_line = [](std::string_view& text) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
  };
  while (!driver.empty() || !node.empty()) {
    const std::string_view ours = next_line(driver), theirs = next_line(node);
    if (ours == theirs) continue;
    std::string words = "the driver has ";
    const auto append = [&](std::string_view line) {
      if (line.empty()) return static_cast<void>(words += "nothing more");
      words += '`';
      append_printable(words, line);
      words += '`';
    };
    append(ours);
    words += ", and the node ";
    append(theirs);
    return words;
  }
  return {};
}

}  // namespace levada::detail
