// SPDX-License-Identifier: Apache-2.0
// What a part on an MPI rank costs over a program by hand that sends the same bytes there and back: an item of 8 bytes,
// one at a time, and different items of 1 MiB, four at once. Rank 1 serves the part of the small item, rank 2 that of
// the large ones, and rank 3 answers the program by hand; whose turn it is not sleeps. `ratio` is the median of the
// pairs, ours by theirs; `beyond_us` what ours takes beyond 1.3 of theirs.
//
// mpirun -n 4 --oversubscribe bench_cluster

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <levada/cluster.hpp>
#include <levada/levada.hpp>

#include "../kernels/alternate.hpp"

namespace {

namespace lv = levada;

using box = lv::target<lv::cpu<1>, lv::mpi<1, lv::cpu<1>>, lv::mpi<2, lv::cpu<1>>>;
constexpr int by_hand = 3, bytes_tag = 1, count_tag = 2;

template <class Item, int Rank>
auto line() {
  return lv::input<Item> | lv::on<lv::mpi<Rank>>(lv::stage<"same">([](Item& i) { ++i[0]; }));
}
using small = std::array<std::uint64_t, 1>;
using large = lv::tensor<std::uint8_t, std::size_t{1} << 20>;

/// Rank 3: answers so many messages as it is told, until it is told none.
void answer() {
  std::vector<std::uint8_t> bytes(std::size_t{1} << 20);
  for (;;) {
    int is_there = 0;
    while (is_there == 0) {
      MPI_Iprobe(0, count_tag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
      if (is_there == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    std::int64_t told[2];  // messages, and bytes of each
    MPI_Recv(told, 2, MPI_INT64_T, 0, count_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (told[0] == 0) return;
    for (std::int64_t i = 0; i < told[0]; ++i) {
      MPI_Recv(bytes.data(), static_cast<int>(told[1]), MPI_BYTE, 0, bytes_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ++bytes[0];
      MPI_Send(bytes.data(), static_cast<int>(told[1]), MPI_BYTE, 0, bytes_tag, MPI_COMM_WORLD);
    }
  }
}
void tell(std::int64_t count, std::int64_t bytes) {
  const std::int64_t told[] = {count, bytes};
  MPI_Send(told, 2, MPI_INT64_T, by_hand, count_tag, MPI_COMM_WORLD);
}

/// Several messages are under way at once, as many of ours as of theirs.
constexpr int in_flight = 4;

void exchange_by_hand(int count, int bytes, std::vector<std::vector<std::uint8_t>>& there,
                      std::vector<std::vector<std::uint8_t>>& back) {
  tell(count, bytes);
  MPI_Request sent[in_flight], received[in_flight];
  const auto begin = [&](int i) {
    const auto at = static_cast<std::size_t>(i % in_flight);
    MPI_Irecv(back[at].data(), bytes, MPI_BYTE, by_hand, bytes_tag, MPI_COMM_WORLD, &received[at]);
    MPI_Isend(there[static_cast<std::size_t>(i)].data(), bytes, MPI_BYTE, by_hand, bytes_tag, MPI_COMM_WORLD,
              &sent[at]);
  };
  for (int i = 0; i < in_flight; ++i) begin(i);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i % in_flight);
    MPI_Wait(&received[at], MPI_STATUS_IGNORE);
    MPI_Wait(&sent[at], MPI_STATUS_IGNORE);
    if (i + in_flight < count) begin(i + in_flight);
  }
}

void report(benchmark::State& state, const kernels::compared& found, int count) {
  const double each = 1.0 / count;
  state.counters["ours_us"] = found.first * each;
  state.counters["hand_us"] = found.second * each;
  state.counters["beyond_us"] = (found.first - 1.3 * found.second) * each;
  state.counters["ratio"] = found.ratio;
}

void round_trip(benchmark::State& state, lv::cluster& ranks) {
  constexpr int count = 2000, bytes = sizeof(small);
  const auto app = lv::deploy<box>(line<small, 1>(), ranks);
  auto session = app.open();
  small given{};
  const auto ours = [&] {
    for (int i = 0; i < count; ++i) {
      session.push(given);
      session.pop()->value();
    }
  };
  const auto theirs = [&] {
    tell(count, bytes);
    for (int i = 0; i < count; ++i) {
      MPI_Send(given.data(), bytes, MPI_BYTE, by_hand, bytes_tag, MPI_COMM_WORLD);
      MPI_Recv(given.data(), bytes, MPI_BYTE, by_hand, bytes_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  };
  ours();
  theirs();
  report(state, kernels::alternate(state, ours, theirs), count);
}

void throughput(benchmark::State& state, lv::cluster& ranks) {
  constexpr int count = 60, bytes = sizeof(large);
  const auto app = lv::deploy<box, lv::slots<in_flight>>(line<large, 2>(), ranks);
  const std::vector<large> items(count);
  std::vector<std::vector<std::uint8_t>> there(count, std::vector<std::uint8_t>(bytes)), back(in_flight, there[0]);
  const auto ours = [&] {
    for (auto&& r : app.stream(items)) r.value();
  };
  const auto theirs = [&] { exchange_by_hand(count, bytes, there, back); };
  ours();
  theirs();
  report(state, kernels::alternate(state, ours, theirs), count);
}

}  // namespace

int main(int argc, char** argv) {
  lv::cluster ranks(argc, argv);
  if (ranks.size() != 4) {
    if (ranks.rank() == 0) std::fputs("bench_cluster: mpirun -n 4 --oversubscribe bench_cluster\n", stderr);
    return 2;
  }
  if (ranks.rank() == by_hand) return answer(), 0;
  if (ranks.rank() == 1) return lv::serve<box>(line<small, 1>(), ranks), 0;
  if (ranks.rank() == 2) return lv::serve<box, lv::slots<in_flight>>(line<large, 2>(), ranks), 0;
  for (const auto& [name, run] :
       {std::pair{"round_trip/8_bytes", &round_trip}, std::pair{"throughput/1_MiB", &throughput}})
    benchmark::RegisterBenchmark(name, [&ranks, run = run](benchmark::State& state) { run(state, ranks); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  tell(0, 0);
  return 0;
}
