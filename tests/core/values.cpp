// SPDX-License-Identifier: Apache-2.0
// The small values of core: bounded, result, shape, units, fixed_string, device tags.

#include <chrono>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <levada/core/detail/bounded.hpp>
#include <levada/core/detail/device.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/result.hpp>
#include <levada/core/detail/shape.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/core/error.hpp>

using namespace levada;

// shape
static_assert(shape(2, 3, 4).elements() == 24);
static_assert(shape().rank == 0 && shape().elements() == 1);
static_assert(shape(2, 3) == shape(2, 3) && shape(2, 3) != shape(3, 2) && shape(2) != shape(2, 1));
static_assert(name_of(element::f16) == "float16" && name_of(element_of<float>) == "float");
static_assert(name_of(element_of<std::int64_t>) == "int64" && name_of(element_of<bool>) == "bool");
static_assert(size_of(element::f64) == 8 && size_of(element::f16) == 2 && size_of(element::other) == 0);
static_assert(!tensor_element<std::string> && tensor_element<half>);
static_assert(name_of(element_of<bfloat16>) == "bfloat16" && size_of(element::bf16) == 2);

// units
static_assert((2_ms).nanoseconds == 2'000'000 && 3_us < 1_ms && 1_s == 1000_ms && (1_s).seconds() == 1.0);
static_assert(1_KiB == 1024 && 3_MiB == 3 * 1024 * 1024 && 1_GiB == 1024_MiB);
static_assert(std::chrono::nanoseconds(5_us) == std::chrono::microseconds(5));
template <duration>
struct takes_a_duration {};
static_assert(std::is_same_v<takes_a_duration<1_ms>, takes_a_duration<1000_us>>);

// fixed_string
template <fixed_string Name>
struct named_thing {
  static constexpr auto name = Name.view();
};
static_assert(named_thing<"decode">::name == "decode");
static_assert(fixed_string("").empty() && !fixed_string("a").empty());
static_assert(std::is_same_v<named_thing<"a">, named_thing<"a">> &&
              !std::is_same_v<named_thing<"a">, named_thing<"b">>);

// device tags
static_assert(cpu<2>::id == device_id{device_kind::cpu, 0} && cpu<1, 4>::max_threads == 4);
static_assert(vulkan<1>::id != vulkan<0>::id && simulated<3>::id.index == 3);
static_assert(!device_id{} && device_id(cpu<1>::id));
static_assert(device_tag<cpu<1>> && !device_tag<int>);

// bounded, in constant expressions
static_assert([] {
  bounded<int, 3> b{1, 2};
  return b.size() == 2 && !b.full() && b.try_push_back(3) && b.full() && !b.try_push_back(4) && b.back() == 3;
}());
static_assert(bounded<int, 3>{1, 2} == bounded<int, 3>{1, 2} && bounded<int, 3>{1, 2} != bounded<int, 3>{1, 2, 3});

TEST_CASE("a bounded sequence never grows past its bound") {
  bounded<std::string, 2> b;
  b.push_back("one");
  b.push_back("two");
  CHECK_THROWS_AS(b.push_back("three"), std::bad_alloc);
  CHECK_THROWS_AS(b.resize(3), std::bad_alloc);
  CHECK(b.size() == 2);
  CHECK_THROWS_AS((bounded<int, 1>{1, 2}), std::bad_alloc);
}

TEST_CASE("a shrunk bounded sequence lets its values go") {
  const auto shared = std::make_shared<int>(1);
  bounded<std::shared_ptr<int>, 4> b{shared, shared, shared};
  CHECK(shared.use_count() == 4);
  b.resize(1);
  CHECK(shared.use_count() == 2);
  b.clear();
  CHECK(shared.use_count() == 1);
  b.resize(2);
  CHECK(b.size() == 2);
  CHECK(b[1] == nullptr);
}

TEST_CASE("a result holds its value or the exception of its stage") {
  const result<int> good(7);
  CHECK(good);
  CHECK(*good == 7);
  CHECK(good.value() == 7);
  CHECK(good.error() == nullptr);

  const result<int> bad(std::make_exception_ptr(error("stage \"decode\", item 3: too short")));
  CHECK_FALSE(bad);
  CHECK_THROWS_WITH_AS(bad.value(), "stage \"decode\", item 3: too short", error);
  CHECK(bad.error() != nullptr);
}

TEST_CASE("a result moves move-only values and copies what can be copied") {
  result<std::unique_ptr<int>> first(std::make_unique<int>(5));
  result<std::unique_ptr<int>> second(std::move(first));
  REQUIRE(second);
  CHECK(**second == 5);
  second = result<std::unique_ptr<int>>(std::make_exception_ptr(device_error("lost")));
  CHECK_FALSE(second);
  CHECK_THROWS_AS(second.value(), device_error);
  second = result<std::unique_ptr<int>>(std::make_unique<int>(6));
  CHECK(**second == 6);

  result<std::string> text(std::string(100, 'x'));
  result<std::string> copy(text);
  CHECK(copy.value() == text.value());
  copy = text;
  CHECK(copy->size() == 100);
  static_assert(!std::is_copy_constructible_v<result<std::unique_ptr<int>>>);
}

TEST_CASE("a result whose value throws when it is assigned is what it threw") {
  struct fragile {
    explicit fragile(int m) : moves(m) {}
    fragile(fragile&& other) : moves(other.moves - 1), held(std::move(other.held)) {
      if (moves == 0) throw error("it broke");
    }
    int moves;
    std::shared_ptr<int> held = std::make_shared<int>(0);
  };
  result<fragile> r(from_call, [] { return fragile(9); });
  const std::weak_ptr<int> before = r->held;
  result<fragile> early(from_call, [] { return fragile(1); }), late(from_call, [] { return fragile(2); });
  CHECK_THROWS_AS(r = std::move(early), error);  // on its way here
  CHECK(r->moves == 9);
  CHECK(!before.expired());
  CHECK_THROWS_AS(r = std::move(late), error);
  CHECK(before.expired());
  CHECK_THROWS_WITH_AS(r.value(), "it broke", error);
  r = result<fragile>(from_call, [] { return fragile(9); });
  CHECK(r->moves == 8);
  static_assert(std::is_nothrow_move_assignable_v<result<std::unique_ptr<int>>>);

  fragile broken(1), whole(2);
  CHECK_THROWS_AS(result<fragile>(moved_from, broken).value(), error);
  CHECK(result<fragile>(moved_from, whole)->moves == 1);
}

TEST_CASE("a result is constructed in place from a call") {
  struct immovable {
    int value;
    explicit immovable(int v) : value(v) {}
    immovable(const immovable&) = delete;
  };
  const auto make = [] { return std::make_unique<immovable>(3); };
  const result<std::unique_ptr<immovable>> r(from_call, make);
  CHECK((*r)->value == 3);
}

TEST_CASE("a result of nothing says whether all went well") {
  const result<void> good;
  CHECK(good);
  CHECK_NOTHROW(good.value());
  const result<void> bad(std::make_exception_ptr(cancelled("cancelled")));
  CHECK_FALSE(bad);
  CHECK_THROWS_AS(bad.value(), cancelled);
}
