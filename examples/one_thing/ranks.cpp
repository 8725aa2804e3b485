// SPDX-License-Identifier: Apache-2.0
// A pipeline over the ranks of one MPI program: mpirun -n 3 one_thing_ranks

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <levada/cluster.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

using picture = lv::tensor<std::uint8_t, 240, 320>;
using box = lv::target<lv::cpu<2>, lv::mpi<1, lv::cpu<2>>, lv::mpi<2, lv::cpu<1>>>;

auto counted_pictures() {
  return lv::input<int> |
         lv::stage<"draw", picture>([](const int& n, picture& p) { p.fill(static_cast<std::uint8_t>(n)); }) |
         lv::on<lv::mpi<1>>(lv::stage<"mean">([](const picture& p) {
           double sum = 0;
           for (const std::uint8_t x : p) sum += x;
           return sum / picture::elements;
         })) |
         lv::on<lv::mpi<2>>(lv::stage<"sum so far">([sum = 0.0](double mean) mutable { return sum += mean; })) |
         lv::stage<"round">([](double sum) { return static_cast<int>(sum + 0.5); });
}

int main(int count, char** arguments) {
  lv::cluster ranks(count, arguments);
  if (ranks.rank() != 0) {
    lv::serve<box>(counted_pictures(), ranks);  // until rank 0 ends
    return 0;
  }
  const auto app = lv::deploy<box>(counted_pictures(), ranks);
  int n = 0, last = 0;
  for (auto&& r : app.stream(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})) {
    last = r.value();
    ++n;
  }
  std::printf("%d pictures, whose means are %d together\n", n, last);
  return last == 55 ? 0 : 1;
}
