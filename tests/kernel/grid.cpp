// SPDX-License-Identifier: Apache-2.0
// Grid kernels: the same bits from the interpreter and from vectors of every width, and what they should be.

#include "kernel/grids.hpp"

namespace lv = levada;
using namespace kernel_test;
using lv::tensor;

TEST_CASE("a convolution with a loop over channels, padding, bias and a rectifier") {
  static constexpr int channels = 3, height = 9, width = 13, filters = 4;
  using in_t = tensor<float, channels, height, width>;
  using weight_t = tensor<float, filters, channels, 3, 3>;
  constexpr auto kernel = lv::grid_kernel<"conv", std::tuple<in_t, weight_t, tensor<float, filters>>,
                                          tensor<float, filters, height, width>>(
      lv::grid<width, height, filters>{}, [](auto g, auto in, auto w, auto bias, auto out) {
        auto x = g.x();
        auto y = g.y();
        auto filter = g.z();
        auto sum = g.fold(0, channels, bias[filter], [&](auto c, auto s) {
          for (int ky = 0; ky < 3; ++ky)
            for (int kx = 0; kx < 3; ++kx) s += in.padded(c, y + (ky - 1), x + (kx - 1)) * w(filter, c, ky, kx);
          return s;
        });
        out(filter, y, x) = max(sum, 0.0f);
      });
  memory<std::tuple<in_t, weight_t, tensor<float, filters>>> in;
  fill(in, 1);
  const auto out = checked(kernel, in);
  for (int f = 0; f < filters; ++f)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        float sum = in.get<2>()(f);
        for (int c = 0; c < channels; ++c)
          for (int ky = 0; ky < 3; ++ky)
            for (int kx = 0; kx < 3; ++kx) {
              const int row = y + ky - 1, column = x + kx - 1;
              const bool inside = row >= 0 && row < height && column >= 0 && column < width;
              sum += (inside ? in.get<0>()(c, row, column) : 0.0f) * in.get<1>()(f, c, ky, kx);
            }
        REQUIRE(out.get()(f, y, x) == std::max(sum, 0.0f));
      }
  fill(in, 2, true);
  checked(kernel, in);
}

TEST_CASE("a tiled matrix product through shared arrays and barriers, of odd sizes") {
  static constexpr int rows = 21, inner = 19, columns = 13, tile = 8;
  constexpr auto kernel =
      lv::grid_kernel<"matmul", std::tuple<tensor<float, rows, inner>, tensor<float, inner, columns>>,
                      tensor<float, rows, columns>>(
          lv::grid<columns, rows, 1, lv::workgroup<tile, tile>>{}, [](auto g, auto a, auto b, auto out) {
            auto left = g.template shared<float, tile * tile>();
            auto right = g.template shared<float, tile * tile>();
            auto lx = g.local_x(), ly = g.local_y(), x = g.x(), y = g.y();
            auto sum = g.fold(0, (inner + tile - 1) / tile, 0.0f, [&](auto t, auto s) {
              left[ly * tile + lx] = a.padded(y, t * tile + lx);
              right[ly * tile + lx] = b.padded(t * tile + ly, x);
              g.barrier();
              for (int k = 0; k < tile; ++k) s += left(ly * tile + k) * right(k * tile + lx);
              g.barrier();
              return s;
            });
            out(y, x) = sum;
          });
  memory<std::tuple<tensor<float, rows, inner>, tensor<float, inner, columns>>> in;
  fill(in, 3);
  const auto out = checked(kernel, in);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      float sum = 0.0f;
      for (int k = 0; k < inner; ++k) sum += in.get<0>()(y, k) * in.get<1>()(k, x);
      REQUIRE(out.get()(y, x) == sum);
    }
}

TEST_CASE("elements of 8 and 16 bits are read and written") {
  using namespace std;
  constexpr auto kernel = lv::grid_kernel<
      "narrow",
      tuple<tensor<uint8_t, 37>, tensor<int8_t, 37>, tensor<uint16_t, 37>, tensor<int16_t, 37>, tensor<lv::half, 37>>,
      tuple<tensor<uint8_t, 37>, tensor<int8_t, 37>, tensor<uint16_t, 37>, tensor<int16_t, 37>, tensor<lv::half, 37>,
            tensor<float, 37>>>(lv::grid<37>{}, [](auto g, auto a, auto b, auto c, auto d, auto h, auto ao, auto bo,
                                                   auto co, auto dO, auto ho, auto wide) {
    auto x = g.x();
    ao(x) = a(36 - x) + 1;
    bo(x) = b(x) - 1;
    co(x) = c(x) * 3;
    dO(x) = d(x) - a(x);
    ho(x) = h(x) * 0.75f;
    wide(x) = h(x);
  });
  memory<
      tuple<tensor<uint8_t, 37>, tensor<int8_t, 37>, tensor<uint16_t, 37>, tensor<int16_t, 37>, tensor<lv::half, 37>>>
      in;
  for (std::uint32_t seed : {4u, 5u, 6u}) {
    fill(in, seed, true);
    const auto out = checked(kernel, in);
    for (std::size_t i = 0; i < 37; ++i) {
      REQUIRE(out.get<0>()[i] == static_cast<uint8_t>(in.get<0>()[36 - i] + 1));
      REQUIRE(out.get<1>()[i] == static_cast<int8_t>(in.get<1>()[i] - 1));
      REQUIRE(out.get<2>()[i] == static_cast<uint16_t>(in.get<2>()[i] * 3));
      REQUIRE(out.get<3>()[i] == static_cast<int16_t>(in.get<3>()[i] - in.get<0>()[i]));
      REQUIRE(same(out.get<4>()[i], lv::half(static_cast<float>(in.get<4>()[i]) * 0.75f)));
      REQUIRE(same(out.get<5>()[i], static_cast<float>(in.get<4>()[i])));
    }
  }
}

TEST_CASE("every half is widened as core/detail/half.hpp does, and floats are narrowed so") {
  using narrow = tensor<lv::half, 256, 256>;
  constexpr auto widen = lv::grid_kernel<"widen", narrow, tensor<float, 256, 256>>(
      lv::grid<256, 256>{}, [](auto g, auto in, auto out) { out(g.y(), g.x()) = in(g.y(), g.x()); });
  memory<std::tuple<narrow>> halves;
  memory<std::tuple<tensor<float, 256, 256>>> wide;
  for (std::uint32_t i = 0; i < 65536; ++i) halves.get()[i] = lv::half::from_bits(static_cast<std::uint16_t>(i));
  lv::run_on_cpu(widen, halves.const_pointers().data(), wide.pointers().data());
  for (std::size_t i = 0; i < 65536; ++i) REQUIRE(same(wide.get()[i], static_cast<float>(halves.get()[i])));

  constexpr auto narrowing = lv::grid_kernel<"narrow", tensor<float, 256, 256>, narrow>(
      lv::grid<256, 256>{}, [](auto g, auto in, auto out) { out(g.y(), g.x()) = in(g.y(), g.x()); });
  for (std::uint32_t step : {0u, 1u, 4095u, 4096u, 4097u, 8191u}) {
    for (std::uint32_t i = 0; i < 65536; ++i) wide.get()[i] = std::bit_cast<float>((i << 16) + step * 8);
    lv::run_on_cpu(narrowing, wide.const_pointers().data(), halves.pointers().data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 65536; ++i) wrong += !same(halves.get()[i], lv::half(wide.get()[i]));
    CHECK(wrong == 0);
  }
}

TEST_CASE("branches, variables and loops whose bounds differ between lanes") {
  using in_t = std::tuple<tensor<std::int32_t, 45>, tensor<float, 64>>;
  constexpr auto kernel = lv::grid_kernel<"branches", in_t, std::tuple<tensor<float, 45>, tensor<std::int32_t, 45>>>(
      lv::grid<45>{}, [](auto g, auto n, auto table, auto sums, auto counts) {
        auto x = g.x();
        auto many = n(x) & 15;
        auto count = g.var(0);
        auto largest = g.var(-1.0f);
        auto sum = g.fold(many - 2, many + 3, 0.5f, [&](auto i, auto s) {
          g.when((i >= 0) & (i % 3 != 1), [&] {
            count += 1;
            largest = max(largest.get(), table(i * 3));
          });
          return s + table(to_int(max(i, 0)));
        });
        g.when(
            sum > 0.0f,
            [&] {
              sums(x) = sum;
              g.loop(0, many, [&](auto j) { g.when(j > 3, [&] { count += j; }); });
            },
            [&] { sums(x) = largest.get() - 1.0f; });
        counts(x) = count.get();
      });
  memory<in_t> in;
  fill(in, 7);
  const auto out = checked(kernel, in);
  for (std::size_t x = 0; x < 45; ++x) {
    const int many = in.get<0>()[x] & 15;
    int count = 0;
    float largest = -1.0f, sum = 0.5f;
    for (int i = many - 2; i < many + 3; ++i) {
      if (i >= 0 && i % 3 != 1) ++count, largest = std::max(largest, in.get<1>()(i * 3));
      sum += in.get<1>()(std::max(i, 0));
    }
    if (sum > 0.0f)
      for (int j = 4; j < many; ++j) count += j;
    CHECK(out.get<0>()[x] == (sum > 0.0f ? sum : largest - 1.0f));
    CHECK(out.get<1>()[x] == count);
  }
}

TEST_CASE("a fold carries arrays, pairs and tuples, all changed at once") {
  using out_t = tensor<float, 6, 33>;
  constexpr auto kernel = lv::grid_kernel<"states", tensor<float, 33>, out_t>(
      lv::grid<33>{}, [shift = lv::uniform{0.25f}](auto g, auto in, auto out) {
        auto x = g.x();
        auto first = std::array{g.value(1.0f), g.value(shift), in(x)};
        auto [turned, rest] = g.fold(0, 5, std::pair{first, std::tuple{0, 2.0f, true}}, [&](auto i, auto s) {
          auto [a, t] = s;
          auto [n, f, odd] = t;
          return std::pair{std::array{a[1], a[2] + shift, a[0] * 0.5f},
                           std::tuple{n + i * i, select(odd, f * 2.0f, f + to_float(i)), !odd}};
        });
        for (int k = 0; k < 3; ++k) out(k, x) = turned[static_cast<std::size_t>(k)];
        out(3, x) = to_float(std::get<0>(rest));
        out(4, x) = std::get<1>(rest);
        out(5, x) = select(std::get<2>(rest), shift, 0.0f);
      });
  memory<std::tuple<tensor<float, 33>>> in;
  fill(in, 8);
  const auto out = checked(kernel, in);
  CHECK(out.get()(3, 0) == 0 + 1 + 4 + 9 + 16);
  for (std::size_t x = 0; x < 33; ++x) {
    float a[3] = {1.0f, 0.25f, in.get()[x]};
    for (int i = 0; i < 5; ++i) {
      const float b[3] = {a[1], a[2] + 0.25f, a[0] * 0.5f};
      std::copy_n(b, 3, a);
    }
    for (std::size_t k = 0; k < 3; ++k) CHECK(out.get()(k, x) == a[k]);
  }
}

TEST_CASE("x is scaled, shifted, turned round and used as a number; grids of any size") {
  auto at = []<int Width, int Height>(std::integral_constant<int, Width>, std::integral_constant<int, Height>) {
    using in_t = std::tuple<tensor<float, Height, 2 * Width>, tensor<float, Width>>;
    constexpr auto kernel = lv::grid_kernel<"places", in_t, tensor<float, Height, Width>>(
        lv::grid<Width, Height>{}, [](auto g, auto in, auto table, auto out) {
          auto x = g.x();
          auto y = g.y();
          auto even = in(y, 2 * x), odd = in(y, x * 2 + 1), turned = table((Width - 1) - x), fixed = table(0);
          auto number = to_float(x * x - y) + to_float(g.local_x()) * 0.5f + to_float(g.group_x() - g.group_y());
          out(y, x) = even - odd * turned + fixed + number + in.padded_with(7.0f, y + 1, x - 3);
        });
    memory<in_t> in;
    fill(in, 9);
    checked(kernel, in);
  };
  at(std::integral_constant<int, 1>{}, std::integral_constant<int, 3>{});
  at(std::integral_constant<int, 7>{}, std::integral_constant<int, 2>{});
  at(std::integral_constant<int, 33>{}, std::integral_constant<int, 5>{});
}

TEST_CASE("the interpreter says where a kernel reaches outside its buffers") {
  constexpr auto reads = lv::grid_kernel<"reads", tensor<float, 8>, tensor<float, 8>>(
      lv::grid<8>{}, [](auto g, auto in, auto out) { out(g.x()) = in(g.x() + 1); });
  constexpr auto writes = lv::grid_kernel<"writes", tensor<float, 8>, tensor<float, 8>>(
      lv::grid<8>{}, [](auto g, auto in, auto out) { out(g.x() - 1) = in(g.x()); });
  memory<std::tuple<tensor<float, 8>>> in, out;
  fill(in, 10);
  CHECK_THROWS_WITH(lv::interpret(reads, in.const_pointers(), out.pointers()),
                    "interpret: a kernel reads outside buffer 0, at element 8");
  CHECK_THROWS_WITH(lv::interpret(writes, in.const_pointers(), out.pointers()),
                    "interpret: a kernel writes outside buffer 1, at element -1");
  constexpr auto shares =
      lv::grid_kernel<"shares", tensor<float, 8>, tensor<float, 8>>(lv::grid<8>{}, [](auto g, auto from, auto to) {
        auto few = g.template shared<float, 4>();
        few(g.x()) = from(g.x());
        to(g.x()) = few(g.x());
      });
  CHECK_THROWS_WITH(lv::interpret(shares, in.const_pointers(), out.pointers()),
                    "interpret: a kernel reaches outside a shared array");
}

TEST_CASE("the text shows loops and branches") {
  constexpr auto kernel =
      lv::grid_kernel<"sum", tensor<float, 4, 8>, tensor<float, 8>>(lv::grid<8>{}, [](auto g, auto in, auto out) {
        auto sum = g.fold(0, 4, 0.0f, [&](auto i, auto s) { return s + in(i, g.x()); });
        g.when(sum > 1.0f, [&] { out(g.x()) = sum; });
      });
  CHECK(lv::ir_text(kernel.program()) ==
        "%0 = constant float32 0.0\n"
        "%1 = constant int32 0\n"
        "%2 = constant int32 4\n"
        "%3 = loop int32 %1 %2\n"
        "  %4 = phi float32 %0 %10\n"
        "  %5 = built_in int32 x\n"
        "  %6 = constant int32 8\n"
        "  %7 = mul int32 %3 %6\n"
        "  %8 = add int32 %5 %7\n"
        "  %9 = load float32 %8 [0]\n"
        "  %10 = add float32 %4 %9\n"
        "%11 = end boolean\n"
        "%12 = constant float32 1.0\n"
        "%13 = less boolean %12 %4\n"
        "%14 = branch boolean %13\n"
        "  %15 = store float32 %5 %4 [1]\n"
        "%16 = end boolean\n");
}
