// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/possible_result.hpp: the result of a part elsewhere that filters, as the driver has it until its next
// stage leaves out the items that have none.

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/stage.hpp>
#include <levada/remote/detail/kernel.hpp>
#include <levada/remote/detail/parts.hpp>
#include <levada/remote/detail/wire.hpp>
#include <levada/run/detail/deploy/bind_plan.hpp>

namespace levada::detail {

template <class Out>
struct possible_result {
  using may_be_missing = void;

  std::optional<Out> value;
};

}  // namespace levada::detail

namespace levada {

template <class Out>
struct wire<detail::possible_result<Out>> {
  static constexpr std::string_view name = "a possible result";
  static constexpr std::size_t most_bytes = wire<Out>::most_bytes;
  static void write(wire_writer&, const detail::possible_result<Out>&) {}
  static detail::possible_result<Out> read(wire_reader& from) { return {detail::item_from_wire<Out>(from)}; }
};

}  // namespace levada

namespace levada::detail {

/// The part of a place as its driver has it: one op of that way, pinned to `Pin`, and a stage behind it where some
/// items have no result.
template <class Place, class Pin, class Queue = no_queue, class Way>
auto part_elsewhere(std::shared_ptr<Way> way) {
  using out = items_behind<typename Place::pipeline>;
  constexpr bool filters = filters_items(flat<typename Place::pipeline>::describe());
  using given = std::conditional_t<filters, possible_result<out>, out>;
  using made = op_stage<Place::name, remote_op<typename Place::in, given, Way, Queue>>;
  if constexpr (filters) {
    return pinned_part<Pin, made>{made{{std::move(way)}, {}}} |
           levada::stage<Place::name>([](given&& r) -> std::optional<out> { return std::move(r.value); });
  } else {
    return pinned_part<Pin, made>{made{{std::move(way)}, {}}};
  }
}

}  // namespace levada::detail
