// SPDX-License-Identifier: Apache-2.0
// Memory for objects with many weights: nothing overlaps, and what is given back is used again.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <levada/run/detail/program/erased_object.hpp>
#include <levada/run/detail/program/large_objects.hpp>

namespace run_large_objects {

using levada::detail::erased_object;
using levada::detail::large_objects;

struct object {
  std::byte* at;
  std::size_t bytes;
  std::byte mark;
};

bool is_whole(const object& o) {
  for (std::size_t i = 0; i < o.bytes; i += 509)
    if (o.at[i] != o.mark) return false;
  return o.at[o.bytes - 1] == o.mark;
}

TEST_CASE("objects of any size lie apart, on cache lines, until they are given back") {
  large_objects memory;
  std::mt19937 random(1);
  std::vector<object> there;
  for (int i = 0; i < 2'000; ++i) {
    if (there.size() > 12 || (random() % 3 == 0 && !there.empty())) {
      const std::size_t which = random() % there.size();
      REQUIRE(is_whole(there[which]));
      memory.give_back(there[which].at);
      there.erase(there.begin() + static_cast<std::ptrdiff_t>(which));
    }
    const std::size_t bytes = 1 + random() % (random() % 50 == 0 ? std::size_t{40} << 20 : std::size_t{1} << 20);
    const object made{static_cast<std::byte*>(memory.take(bytes)), bytes, static_cast<std::byte>(random())};
    REQUIRE(reinterpret_cast<std::uintptr_t>(made.at) % 64 == 0);
    for (std::size_t at = 0; at < bytes; at += 509) made.at[at] = made.mark;
    made.at[bytes - 1] = made.mark;
    there.push_back(made);
  }
  for (const object& o : there) {
    REQUIRE(is_whole(o));
    memory.give_back(o.at);
  }
}

TEST_CASE("a program that makes and ends the same objects again and again uses the same memory") {
  large_objects memory;
  std::set<void*> places;
  for (int i = 0; i < 1'000; ++i) {
    void* const one = memory.take(3 << 20);
    void* const other = memory.take(100'000);
    places.insert({one, other});
    memory.give_back(one);
    memory.give_back(other);
  }
  CHECK(places.size() == 2);
}

struct weights {
  explicit weights(int first) : of{first} {}
  int of[20'000];
};

TEST_CASE("an object of unknown type with many weights is made, copied and ended as others are") {
  erased_object one = erased_object::make<weights>(7);
  const erased_object other = one.copy();
  static_cast<weights*>(one.get())->of[0] = 8;
  CHECK(static_cast<const weights*>(other.get())->of[0] == 7);
  CHECK(reinterpret_cast<std::uintptr_t>(other.get()) % 64 == 0);
  one = erased_object::make<int>(3);
  CHECK(*static_cast<int*>(one.get()) == 3);
}

}  // namespace run_large_objects
