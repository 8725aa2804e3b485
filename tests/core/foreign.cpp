// SPDX-License-Identifier: Apache-2.0
// A loan is given back exactly once, whatever happens to it.

#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <levada/core/detail/foreign.hpp>

using namespace levada;

namespace {

using loan = foreign<int>;

static_assert(std::is_nothrow_move_constructible_v<loan> && std::is_nothrow_move_assignable_v<loan>);
static_assert(!std::is_copy_constructible_v<loan> && !std::is_copy_assignable_v<loan>);
static_assert(sizeof(loan) <= 3 * sizeof(void*));

/// How often each of four things came back.
struct lender {
  int returned[4]{};
  loan lend(int which) {
    return loan(
        which, [](void* self, const int& of) noexcept { ++static_cast<lender*>(self)->returned[of]; }, this);
  }
};

}  // namespace

TEST_CASE("a loan ends with its last owner") {
  lender from;
  {
    loan first = from.lend(0);
    CHECK(first.view() == 0);
    loan second = std::move(first);
    CHECK(second);
    CHECK(!first);
    CHECK(from.returned[0] == 0);
  }
  CHECK(from.returned[0] == 1);
}

TEST_CASE("an assignment ends the loan that it replaces, one to itself nothing") {
  lender from;
  {
    loan held = from.lend(0);
    held = from.lend(1);
    CHECK(from.returned[0] == 1);
    CHECK(held.view() == 1);
    loan& same = held;
    held = std::move(same);
    CHECK(held);
    CHECK(from.returned[1] == 0);
  }
  CHECK(from.returned[0] == 1);
  CHECK(from.returned[1] == 1);
}

TEST_CASE("a loan can be ended early, and then shows nothing") {
  lender from;
  {
    loan held = from.lend(2);
    held.give_back();
    held.give_back();
    CHECK(from.returned[2] == 1);
    CHECK_THROWS_WITH_AS(held.view(), "levada: foreign: the memory was given back or moved on", error);
  }
  CHECK(from.returned[2] == 1);
}

TEST_CASE("a loan without a hook is refused") {
  CHECK_THROWS_WITH_AS(loan(1, nullptr, nullptr), "levada: foreign: the release hook is null", error);
}
