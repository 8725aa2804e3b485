// SPDX-License-Identifier: Apache-2.0
// The call of a unit, put together from where the items are.

#include <doctest/doctest.h>

#include <cstddef>
#include <exception>

#include <levada/run/detail/program/call_of.hpp>

namespace run_call_of {

using levada::item_envelope;
using levada::detail::call_of;
using levada::detail::call_of_ended;
using levada::detail::call_of_plain;
using levada::detail::item_state;
using levada::detail::program_unit;
using levada::detail::side_place;
using levada::detail::unit_call;
using levada::detail::unit_path;
using levada::detail::value_path;

/// Places that can be told apart.
struct marked_places {
  void* object(std::size_t u) const { return bytes + 100 + u; }
  bool has_versions() const { return replaced != nullptr; }
  void* version(std::size_t) const { return replaced; }
  void put_inputs(const program_unit& unit, unit_call& call) const {
    if (noted != nullptr)
      take_noted(call, unit, noted);
    else
      call.in = place(unit.in, call.in_stride);
  }
  std::byte* place(std::size_t v, std::size_t& stride) const {
    stride = 8 + v;
    return bytes + v;
  }
  std::byte* sides(std::size_t& stride) const {
    stride = 48;
    return bytes + 50;
  }
  const item_envelope* envelope() const { return &said; }
  std::byte* scratch(const program_unit& unit) const { return bytes + unit.scratch_offset; }
  item_state* state() const { return &now; }
  std::exception_ptr* error() const { return &why; }
  const void* const* borrowed() const { return noted; }
  std::byte* memory() const { return bytes + 40; }
  std::byte* at_path(const value_path& value) const { return value.at(memory(), 2); }
  const levada::detail::items_end* end() const { return &levada::detail::behind_the_last; }
  bool some_ended() const { return true; }

  mutable std::byte bytes[200]{};
  void* replaced = nullptr;
  const void** noted = nullptr;
  item_envelope said{};
  mutable item_state now = item_state::value;
  mutable std::exception_ptr why;
};

program_unit unit_from(std::size_t in, std::size_t out) {
  program_unit unit;
  unit.in = in, unit.out = out;
  unit.scratch_offset = 70;
  return unit;
}

TEST_CASE("a unit takes and gives values at their places, a stride apart") {
  const marked_places at{};
  const unit_call call = call_of(unit_from(3, 5), 2, at, 7);
  CHECK(call.object == at.bytes + 102);
  CHECK(call.inputs == nullptr);
  CHECK(call.in == at.bytes + 3);
  CHECK(call.in_stride == 11);
  CHECK(call.out == at.bytes + 5);
  CHECK(call.out_stride == 13);
  CHECK(call.scratch == at.bytes + 70);
  CHECK(call.state == &at.now);
  CHECK(call.error == &at.why);
  CHECK(call.count == 7);
  CHECK(call.sides == nullptr);
  CHECK(call.envelopes == nullptr);
  CHECK_FALSE(call.lost_some);
}

TEST_CASE("a unit without a result is given no place for one") {
  auto unit = unit_from(3, 5);
  unit.has_out = false;
  CHECK(call_of(unit, 0, marked_places(), 1).out == nullptr);
}

TEST_CASE("one input of each item is found where it was noted, of several these places lie side by side") {
  marked_places at;
  const void* noted[6] = {};
  at.noted = noted;
  auto unit = unit_from(3, 5);
  const unit_call one = call_of(unit, 0, at, 6);
  CHECK(one.inputs == noted);
  CHECK(one.in == nullptr);
  unit.more.push_back(4);
  unit.more.push_back(2);
  const unit_call call = call_of(unit, 0, at, 2);
  CHECK(call.inputs == nullptr);
  CHECK(call.in == reinterpret_cast<std::byte*>(noted));
  CHECK(call.in_stride == 3 * sizeof(void*));
}

TEST_CASE("an object that is replaced is that of the items' version") {
  marked_places at;
  auto unit = unit_from(3, 5);
  at.replaced = &at.said;
  CHECK(call_of(unit, 0, at, 1).object == at.bytes + 100);  // the session's own
  unit.shared = &at;
  CHECK(call_of(unit, 0, at, 1).object == &at.said);
  unit.holds_pipelines = true;
  const unit_call call = call_of(unit, 0, at, 1);
  CHECK(call.object == at.bytes + 100);
  CHECK(call.inside == &at.said);
}

TEST_CASE("a unit is given what is beside its items if it takes that") {
  const marked_places at{};
  const side_place places[1] = {};
  auto unit = unit_from(3, 5);
  unit.sides = places;
  const unit_call call = call_of(unit, 0, at, 1);
  CHECK(call.places == places);
  CHECK(call.sides == at.bytes + 50);
  CHECK(call.side_stride == 48);
  CHECK(call.envelopes == &at.said);
}

TEST_CASE("a plain unit is called at the places of its path, with nothing beside its items") {
  marked_places at;
  const void* noted[3] = {};
  at.noted = noted;
  void* const object = at.bytes + 9;
  unit_path path;
  path.object = &object;
  path.in = {at.bytes, 0, 16};
  path.out = {nullptr, 24, 0};
  path.scratch_offset = 32;
  const unit_call call = call_of_plain(path, at, 3);
  CHECK(call.object == object);
  CHECK(call.inputs == nullptr);
  CHECK(call.in == at.bytes + 32);
  CHECK(call.in_stride == 16);
  CHECK(call.out == at.bytes + 64);
  CHECK(call.out_stride == 0);
  CHECK(call.scratch == at.bytes + 72);
  CHECK(call.state == &at.now);
  CHECK(call.error == &at.why);
  CHECK(call.sides == nullptr);
  CHECK(call.count == 3);
  CHECK(call.some_ended);
  path.borrows = true;
  CHECK(call_of_plain(path, at, 3).inputs == noted);
}

TEST_CASE("a unit that observes missing items is told of one that ended by its state alone") {
  int object = 0;
  const void* const none = nullptr;
  item_state as = item_state::failed;
  const unit_call call = call_of_ended(&object, none, as);
  CHECK(call.object == &object);
  CHECK(call.inputs == &none);
  CHECK(call.state == &as);
  CHECK(call.count == 1);
  CHECK(call.some_ended);
  CHECK(call.in == nullptr);
  CHECK(call.out == nullptr);
  CHECK(call.error == nullptr);
}

}  // namespace run_call_of
