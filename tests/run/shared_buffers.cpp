// SPDX-License-Identifier: Apache-2.0
// Values in each other's memory, run: what element-wise ops, views and concats make in place is what they make
// elsewhere.

#include <memory>
#include <vector>

#include <doctest/doctest.h>
#include <levada/backend/reference/ops.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace run_shared_buffers {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
/// In whose cache no item fits.
using small_box = lv::target<lv::cpu<2, lv::l2<256>>>;
using rows = lv::tensor<float, 4, 32>;

rows numbered(int seed) {
  rows t;
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = static_cast<float>((static_cast<int>(i) * 7 + seed) % 41 - 20);
  return t;
}

constexpr auto twice = [](auto x) { return x + x; };
constexpr auto less_three = [](auto x) { return x - 3.0f; };

/// Views of halves and of the whole, each worked on in place, joined where they are made, added to the whole.
auto shared() {
  return lv::input<rows> | lv::transform<"copy">([](auto x) { return x * 1.0f; }) | lv::nn::reshape<128> |
         lv::fork(lv::fork(lv::nn::reshape<4, 32> | lv::nn::slice<lv::along<0, 0, 2>> | lv::transform<"twice">(twice),
                           lv::nn::reshape<4, 32> | lv::nn::slice<lv::along<0, 2, 4>> | lv::nn::relu |
                               lv::stage<"minus">([](lv::tensor<float, 2, 32>& t) {
                                 for (float& x : t) x = -x;
                               })) |
                      lv::nn::concat<0> | lv::nn::unsqueeze<0> | lv::nn::squeeze<>,
                  lv::nn::reshape<4, 32> | lv::transform<"less">(less_three) |
                      lv::stage<"same">([](rows&) {})) |  // no kernel has what is before it and what is behind it
         lv::nn::add |
         lv::nn::relu;
}

rows expected(const rows& in) {
  rows out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float joined = i < 64 ? in[i] + in[i] : -(in[i] < 0 ? 0.0f : in[i]);
    const float sum = joined + (in[i] - 3.0f);
    out[i] = sum < 0 ? 0 : sum;
  }
  return out;
}

/// A call, a call into the caller's memory, a stream, and a session into the caller's memory.
template <class App>
void check_all_paths(const App& app) {
  std::vector<rows> items;
  for (int i = 0; i < 60; ++i) items.push_back(numbered(i));
  for (const rows& item : items) {
    CHECK(app(item) == expected(item));
    rows into;
    CHECK(app(item, into));
    CHECK(into == expected(item));
  }
  std::size_t next = 0;
  for (auto&& r : app.stream(items)) CHECK(*r == expected(items[next++]));
  CHECK(next == items.size());
  auto session = app.template open<lv::external_results>();
  for (const rows& item : items) {
    rows into;
    session.push(item, into);
    CHECK(&session.pop()->value() == &into);
    CHECK(into == expected(item));
  }
}

/// How many values lie in another's memory.
template <class App>
constexpr std::size_t sharing() {
  std::size_t count = 0;
  for (std::size_t v = 0; v < App::plan.value.size(); ++v) count += App::plan.value[v].storage != v ? 1 : 0;
  return count;
}

TEST_CASE("what is made in place is the same as elsewhere, by each backend, with many slots and with few") {
  const auto many = lv::deploy<box>(shared());
  check_all_paths(many);
  const auto few = lv::deploy<small_box, lv::slots<3>>(shared());
  static_assert(decltype(few)::plan.segment[0].in_slots && sharing<decltype(few)>() == sharing<decltype(many)>());
  check_all_paths(few);
  const auto naive = lv::deploy<small_box, lv::slots<2>, lv::backends<lv::reference>>(shared());
  static_assert(sharing<decltype(naive)>() >= 8);
  check_all_paths(naive);
}

TEST_CASE("what is the result is written to the caller's memory by the last stages alone") {
  using half = lv::tensor<float, 2, 32>;
  half in;
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  const auto check = [&](const auto& app, auto expected) {
    using out = std::remove_cvref_t<decltype(app(in))>;
    const auto agree = [&](const out& result) {
      for (std::size_t i = 0; i < result.size(); ++i) CHECK(result[i] == expected(i));
    };
    agree(app(in));
    struct guarded {
      out into;
      out beside;
    } memory;
    memory.beside.fill(7);
    CHECK(app(in, memory.into));
    agree(memory.into);
    memory.into.fill(0);
    auto session = app.template open<lv::external_results>();
    session.push(in, memory.into);
    CHECK(session.pop());
    agree(memory.into);
    for (const float x : memory.beside) CHECK(x == 7);
  };
  const auto joins = lv::fork(lv::transform<"twice">(twice), lv::transform<"less">(less_three)) | lv::nn::concat<0>;
  const auto at = [](std::size_t i) {
    const float x = static_cast<float>(i % 64);
    return i < 64 ? 2 * x : x - 3.0f;
  };
  check(lv::deploy<small_box, lv::slots<2>>(lv::input<half> | joins), at);
  check(lv::deploy<box>(lv::input<half> | joins | lv::nn::slice<lv::along<0, 2, 4>>),
        [&](auto i) { return at(64 + i); });
  check(lv::deploy<small_box, lv::slots<2>>(lv::input<half> | joins | lv::nn::slice<lv::along<0, 2, 4>> |
                                            lv::stage<"minus">([](half& t) {
                                              for (float& x : t) x = -x;
                                            })),
        [&](auto i) { return -at(64 + i); });
}

}  // namespace run_shared_buffers
