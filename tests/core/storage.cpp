// SPDX-License-Identifier: Apache-2.0
// Sizes that a caller gives, where no memory could hold what they ask for.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>
#include <levada/core/detail/bounded.hpp>
#include <levada/core/detail/storage.hpp>

using namespace levada;

namespace {

/// Throws where it is made of nothing, or copied, while it is told to.
struct brittle {
  static inline bool breaks = false;
  brittle() { check(); }
  brittle(const brittle&) { check(); }
  brittle& operator=(const brittle&) {
    check();
    return *this;
  }
  static void check() {
    if (breaks) throw std::runtime_error("broken");
  }
};

using six_words = std::array<std::uint64_t, 6>;

}  // namespace

TEST_CASE("bytes are counted, and refused where their number is none") {
  CHECK(detail::bytes_of(3, 48) == 144);
  CHECK(detail::bytes_of(0, 48) == 0);
  CHECK(detail::bytes_of(std::size_t{1} << 63, 0) == 0);
  CHECK(detail::bytes_of(PTRDIFF_MAX, 1) == PTRDIFF_MAX);
  for (int shift = 59; shift < 64; ++shift) {
    const std::size_t count = std::size_t{1} << shift;
    CHECK_THROWS_AS(detail::bytes_of(count, 48), std::bad_alloc);
    CHECK_THROWS_AS(detail::fixed_array<six_words>{count}, std::bad_alloc);
    CHECK_THROWS_AS(detail::arena_bytes(count, 48, 64), std::bad_alloc);
  }
  CHECK_THROWS_AS(detail::bytes_of(~std::size_t{0}, 1), std::bad_alloc);
}

TEST_CASE("much memory begins at a large page, and moves with its alignment") {
  const auto address = [](const detail::arena_bytes& of) { return reinterpret_cast<std::uintptr_t>(of.get()); };
  detail::arena_bytes large(5 * detail::large_page + 3, 64), small(100, 64);
  CHECK(address(large) % detail::large_page == 0);
  std::memset(large.get(), 1, 5 * detail::large_page + 3);
  std::swap(large, small);
  CHECK(address(small) % detail::large_page == 0);
  CHECK(address(large) % 64 == 0);
  CHECK(address(detail::arena_bytes(5 * detail::large_page, 2 * detail::large_page)) % (2 * detail::large_page) == 0);
}

TEST_CASE("an array of nothing is none") {
  const detail::fixed_array<int> none(0);
  CHECK(none.empty());
  CHECK(none.begin() == none.end());
  const detail::fixed_array<int> copy(none);
  CHECK(copy.empty());
}

TEST_CASE("a bounded list whose items throw is as it was, and says that it may throw") {
  static_assert(std::is_nothrow_default_constructible_v<bounded<int, 4>>);
  static_assert(!std::is_nothrow_default_constructible_v<bounded<brittle, 4>>);
  bounded<brittle, 4> list;
  const brittle one;
  list.push_back(one);
  brittle::breaks = true;
  CHECK_THROWS_AS(list.push_back(one), std::runtime_error);
  CHECK_THROWS_AS((bounded<brittle, 4>()), std::runtime_error);
  brittle::breaks = false;
  CHECK(list.size() == 1);
}
