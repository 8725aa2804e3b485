// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/value_places.hpp: where each value of an item is: in its slot, in the memory of its grain or item,
// with the caller, or as a device's copy.

#include <cstddef>
#include <utility>

#include <levada/run/detail/engine/engine_parts.hpp>
#include <levada/run/detail/program/program.hpp>

namespace levada::detail {

/// Knows where the values of items are, and destroys them there.
template <class = void>
class basic_value_places : public engine_parts {
 protected:
  using engine_parts::engine_parts;

  /// A value that crosses a border, or the place that the caller gave for it.
  [[gnu::always_inline]] std::byte* in_slot(std::size_t v, std::size_t at) const {
    if (is_external(v)) [[unlikely]]
      return ring_.output[at] + code_.values[v].within;
    return ring_.slot(at) + code_.values[v].offset;
  }
  /// Items are the caller's own objects.
  bool is_borrowed(std::size_t v) const { return code_.values[v].of_input && !destroys_input_; }
  const void* borrowed(std::size_t v, std::size_t at) const {
    return static_cast<const std::byte*>(ring_.input[at]) + code_.values[v].within;
  }
  /// The segment's device has a copy of what lies in the item's slot, behind its scratchpad.
  bool is_copied(const segment& seg, std::size_t v) const {
    const program_value& value = code_.values[v];
    return seg.code.device.kind == device_kind::simulated && value.where == placement::slot && value.copied_bytes != 0;
  }
  std::size_t place_of_copy(const segment& seg, std::size_t v) const {
    return seg.code.device_bytes - ring_.slot_bytes + code_.values[v].offset;
  }
  /// It lies where the caller wants the result.
  bool is_with_caller(const segment& seg, std::size_t v) const { return is_external(v) && !is_copied(seg, v); }
  bool is_external(std::size_t v) const { return !ring_.output.empty() && code_.values[v].is_result; }

  bool is_shared_place(std::size_t v) const { return code_.values[v].where == placement::grain; }
  value_path path_of(const segment& seg, std::size_t v) const;
  std::byte* place(const segment& seg, const grain& g, std::size_t v, std::size_t i, std::size_t& stride) const;
  void destroy(const segment& seg, const grain& g, std::size_t v, std::size_t i);
  void destroy_of_each(const segment& seg, const grain& g, std::size_t v, std::size_t first, std::size_t count);
  void destroy_value(std::size_t v, std::size_t at);
};

template <class T>
inline value_path basic_value_places<T>::path_of(const segment& seg, std::size_t v) const {
  const program_value& value = code_.values[v];
  if (is_copied(seg, v)) return {nullptr, place_of_copy(seg, v), 0};
  switch (value.where) {
    case placement::slot:
      return {ring_.slot(0) + value.offset, 0, ring_.slot_bytes};
    case placement::item:
      return {nullptr, value.offset, seg.code.item_bytes};
    case placement::grain:
      return {nullptr, seg.code.grain * seg.code.item_bytes + value.offset, 0};
    case placement::none:
      break;
  }
  return {};
}

template <class T>
inline std::byte* basic_value_places<T>::place(const segment& seg, const grain& g, std::size_t v, std::size_t i,
                                               std::size_t& stride) const {
  const value_path path = path_of(seg, v);
  stride = path.stride;
  if (is_with_caller(seg, v)) [[unlikely]]
    return in_slot(v, g.slot + i);
  return path.first == nullptr && code_.values[v].where == placement::none ? nullptr : path.at(g.memory, g.slot, i);
}

template <class T>
inline void basic_value_places<T>::destroy(const segment& seg, const grain& g, std::size_t v, std::size_t i) {
  if (is_borrowed(v)) return;
  std::size_t stride;
  code_.values[v].destroy(place(seg, g, v, i, stride));
}

/// Of so many items from the `first` on, as far as they are values. Its place is looked up once.
template <class T>
inline void basic_value_places<T>::destroy_of_each(const segment& seg, const grain& g, std::size_t v, std::size_t first,
                                                   std::size_t count) {
  if (is_borrowed(v)) return;
  const value_path path = path_of(seg, v);
  const bool is_outside = is_with_caller(seg, v);
  const destroy_code end = code_.values[v].destroy;
  for (std::size_t i = first; i < first + count; ++i)
    if (!g.some_ended || state_of(ring_.state[g.slot + i]) == item_state::value)
      end(is_outside ? in_slot(v, g.slot + i) : path.at(g.memory, g.slot, i));
}

template <class T>
inline void basic_value_places<T>::destroy_value(std::size_t v, std::size_t at) {
  if (code_.has_result && code_.values[v].destroy != nullptr) code_.values[v].destroy(in_slot(v, at));
}

}  // namespace levada::detail
