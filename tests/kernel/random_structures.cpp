// SPDX-License-Identifier: Apache-2.0
// Random loops and branches around random expressions, in whose lanes different things happen: the same bits from the
// interpreter and from vectors of every width, valid modules and text.

#include "kernel/grids.hpp"
#include "kernel/random_kernel.hpp"

namespace lv = levada;
using namespace kernel_test;

namespace {

/// Statement number `Seed` on the variables `v` and `n`, of expressions `e`.
template <std::uint32_t Seed, int Depth, class G, class E, class V, class N>
constexpr void statement(const G& g, const E& e, V& v, N& n) {
  constexpr std::uint32_t a = 2 * Seed + 13, b = 3 * Seed + 41;
  constexpr std::uint32_t r = mix(Seed ^ 0x57a7u) % (Depth > 0 ? 7 : 2);
  if constexpr (r == 0) {
    v = select(v.get() < e.template of_floats<a, 1>(), v.get() * 0.5f, e.template of_floats<b, 2>());
  } else if constexpr (r == 1) {
    n += e.template of_ints<a, 1>();
  } else if constexpr (r == 2) {
    g.when(
        e.template of_bools<Seed, 1>(), [&] { statement<a, Depth - 1>(g, e, v, n); },
        [&] { statement<b, Depth - 1>(g, e, v, n); });
  } else if constexpr (r == 3) {
    g.loop(0, n.get() & 3, [&](auto i) {
      n += i + 1;
      statement<a, Depth - 1>(g, e, v, n);
    });
  } else if constexpr (r == 4) {
    v = g.fold(-1, 3, v.get(), [&](auto i, auto s) {
      g.when(e.template of_bools<b, 1>(), [&] { statement<a, Depth - 1>(g, e, v, n); });
      return s * 0.5f + to_float(i) * e.template of_floats<b, 1>();
    });
  } else if constexpr (r == 5) {
    auto [first, second] = g.fold(0, g.y() + 2, std::pair{v.get(), n.get()}, [&](auto i, auto s) {
      return std::pair{to_float(s.second ^ i), select(s.first < 1.0f, s.second, to_int(s.first))};
    });
    v = first;
    n = second;
    statement<a, Depth - 1>(g, e, v, n);
  } else {
    statement<a, Depth - 1>(g, e, v, n);
    statement<b, Depth - 1>(g, e, v, n);
  }
}

using in_t = std::tuple<lv::tensor<float, 2, 3, 29>, lv::tensor<std::int32_t, 2, 3, 29>>;
using out_t = std::tuple<lv::tensor<float, 3, 29>, lv::tensor<std::int32_t, 3, 29>>;

template <std::uint32_t Seed>
void check_random() {
  CAPTURE(Seed);
  constexpr auto kernel =
      lv::grid_kernel<"random", in_t, out_t>(lv::grid<29, 3>{}, [](auto g, auto in, auto ints, auto out, auto counts) {
        auto x = g.x();
        auto y = g.y();
        const random_kernel e{in(0, y, x), in(1, y, x), ints(0, y, x), ints(1, y, x)};
        auto v = g.var(e.x);
        auto n = g.var(e.n);
        statement<Seed, 4>(g, e, v, n);
        out(y, x) = v.get();
        counts(y, x) = n.get();
      });
  memory<in_t> in;
  fill(in, Seed, true);
  checked(kernel, in);
}

}  // namespace

TEST_CASE("random structures have the same bits on every lowering") {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (check_random<3000 + 7 * I>(), ...);
  }(std::make_index_sequence<10>{});
}
