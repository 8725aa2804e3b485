// SPDX-License-Identifier: Apache-2.0
// Callables that follow one another as one loop: what it does to items, states and failures, called by itself; and
// streams of cheap items, which take that way as soon as it is known that they are cheap.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include <levada/levada.hpp>

namespace run_chains {

using namespace levada;
using detail::chain_call;
using detail::chain_step;
using detail::item_state;
using detail::unit_path;

struct adds {
  std::uint64_t sum = 0;
  void operator()(std::uint64_t& x) { x = sum += x; }
};
struct halves {
  std::uint32_t operator()(const std::uint64_t& x) const {
    if (x % 7 == 0) throw std::runtime_error("seven");
    return static_cast<std::uint32_t>(x / 2);
  }
};
/// Too large for registers, and not to be copied as bytes.
struct remembers {
  std::vector<std::uint32_t> all{};
  void operator()(const std::uint32_t& x, std::uint64_t& out) {
    all.push_back(x);
    out = x + all.size();
  }
};

template <bool Serial>
using steps = type_list<chain_step<adds, form::in_place, std::uint64_t, std::uint64_t, Serial>,
                        chain_step<halves, form::map, std::uint64_t, std::uint32_t, false>,
                        chain_step<remembers, form::destination, std::uint32_t, std::uint64_t, Serial>>;

template <class... Steps>
detail::chain_code code_of(type_list<Steps...>) {
  return &detail::run_chain<Steps...>;
}

constexpr std::size_t items = 40, first_slot = 3;

struct grain_of_items {
  std::array<std::uint64_t, items + first_slot> in{}, out{};
  std::array<std::uint32_t, items> between{};
  std::array<item_state, items> state{};
  std::array<std::exception_ptr, items> error{};
  adds a{};
  halves h{};
  remembers r{};
  std::array<void*, 3> objects{&a, &h, &r};

  bool run(detail::chain_code code) {
    const detail::value_path from{reinterpret_cast<std::byte*>(in.data()), 0, sizeof in[0]};
    const detail::value_path to{reinterpret_cast<std::byte*>(out.data()), 0, sizeof out[0]};
    const detail::value_path inside{nullptr, 0, sizeof between[0]};
    unit_path paths[3];
    for (std::size_t u = 0; u < 3; ++u) paths[u].object = &objects[u];
    paths[0].in = paths[0].out = paths[1].in = from;
    paths[1].out = paths[2].in = inside;
    paths[2].out = to;
    chain_call call{
        paths, reinterpret_cast<std::byte*>(between.data()), first_slot, nullptr, nullptr, state.data(), error.data(),
        items};
    code(call);
    return call.lost_some;
  }
};

TEST_CASE("a chain does to each item what its callables do, one after the other") {
  for (const bool serial : {true, false}) {
    grain_of_items s;
    std::uint64_t sum = 0;
    std::vector<std::uint32_t> seen;
    for (std::size_t i = 0; i < items; ++i) s.in[first_slot + i] = i * i + 1;
    CHECK(s.run(serial ? code_of(steps<true>{}) : code_of(steps<false>{})));
    for (std::size_t i = 0; i < items; ++i) {
      CAPTURE(i);
      sum += i * i + 1;
      CHECK(s.in[first_slot + i] == sum);
      if (sum % 7 == 0) {
        CHECK(s.state[i] == item_state::failing);
        CHECK_THROWS_AS(std::rethrow_exception(s.error[i]), std::runtime_error);
        continue;
      }
      seen.push_back(static_cast<std::uint32_t>(sum / 2));
      CHECK(s.state[i] == item_state::value);
      CHECK(s.out[first_slot + i] == sum / 2 + seen.size());
    }
    CHECK(s.a.sum == sum);
    CHECK(s.r.all == seen);
  }
}

TEST_CASE("a chain takes items that are the caller's own: by their addresses, or in a row") {
  using on_halves = type_list<chain_step<halves, form::map, std::uint64_t, std::uint32_t, false>>;
  std::array<std::uint64_t, items> own{};
  std::array<const void*, items> backwards{};
  for (std::size_t i = 0; i < items; ++i) {
    own[i] = 7 * i + 2;
    backwards[i] = &own[items - 1 - i];
  }
  for (const bool in_a_row : {false, true}) {
    std::array<std::uint32_t, items> out{};
    std::array<item_state, items> state{};
    std::array<std::exception_ptr, items> error{};
    halves h;
    void* const object = &h;
    unit_path path;
    path.object = &object;
    path.out = {reinterpret_cast<std::byte*>(out.data()), 0, sizeof out[0]};
    path.borrows = true;
    const auto* const row = in_a_row ? reinterpret_cast<const std::byte*>(own.data()) : nullptr;
    chain_call call{&path, nullptr, 0, in_a_row ? nullptr : backwards.data(), row, state.data(), error.data(), items};
    code_of(on_halves{})(call);
    CHECK(!call.lost_some);
    for (std::size_t i = 0; i < items; ++i) CHECK(out[i] == own[in_a_row ? i : items - 1 - i] / 2);
  }
}

TEST_CASE("streams and sessions of cheap items: states, failures and order are those of a loop") {
  const auto app = deploy<target<cpu<2>>>(input<std::uint64_t> | stage<"add">(adds{}) | stage<"halve">(halves{}) |
                                          stage<"remember", std::uint64_t>(remembers{}) | stage<"again">(adds{}));
  constexpr std::uint64_t count = 20'000;
  std::vector<std::uint64_t> given(count);
  for (std::uint64_t i = 0; i < count; ++i) given[i] = i % 13;

  adds first, last;
  std::uint64_t seen = 0;
  const auto expected = [&](std::uint64_t x) {  // 0: it fails
    first(x);
    if (x % 7 == 0) return std::uint64_t{0};
    x = x / 2 + ++seen;
    last(x);
    return x;
  };
  std::uint64_t wrong = 0, at = 0;
  const auto check = [&](const auto& r) {
    const std::uint64_t want = expected(given[at++]);
    wrong += r.has_value() ? *r != want : want != 0;
  };
  for (auto&& r : app.stream(given)) check(r);
  CHECK(at == count);
  CHECK(wrong == 0);

  first = last = adds{}, seen = at = 0;
  auto session = app.open();
  for (const std::uint64_t x : given) {
    session.push(x);
    check(*session.pop());
  }
  CHECK(wrong == 0);
  CHECK(session.counts().delivered + session.counts().failed == count);
}

}  // namespace run_chains
