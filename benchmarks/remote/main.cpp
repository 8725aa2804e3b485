// SPDX-License-Identifier: Apache-2.0
// What a part on another machine costs over a generic stream of gRPC that one would write by hand, with the same bytes:
// the round trip of an item of 64 bytes, one at a time, and items of 1 MiB, four at once, as plain text and by TLS with
// certificates of both ends. Both ends in this process, on the loopback. The two take turns; `ratio` is the median of
// the pairs, ours by theirs.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/grpc.hpp>

#include "../../tests/remote/certificates.hpp"
#include "../kernels/alternate.hpp"
#include "by_hand.hpp"

namespace {

namespace lv = levada;

using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
using v1 = lv::version<"1">;
using slots = lv::slots<16>;

/// How both ends know each other: for levada, and for the program by hand.
struct known_ends {
  std::shared_ptr<lv::grpc_transport> driver, node;
  std::shared_ptr<grpc::ServerCredentials> server;
  std::shared_ptr<grpc::ChannelCredentials> client;
  grpc::ChannelArguments arguments = {};
};
known_ends in_plain_text() {
  const auto both = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  return {both, both, grpc::InsecureServerCredentials(), grpc::InsecureChannelCredentials()};
}
known_ends by_tls() {
  using namespace levada::test;
  const lv::certificates edge{authority_certificate, edge_certificate, edge_key, ""},
      driver{authority_certificate, driver_certificate, driver_key, "edge"};
  known_ends ends{std::make_shared<lv::grpc_transport>(driver), std::make_shared<lv::grpc_transport>(edge),
                  lv::detail::server_credentials(edge), lv::detail::channel_credentials(driver)};
  ends.arguments.SetSslTargetNameOverride("edge");
  return ends;
}

template <std::size_t Bytes>
void compare(benchmark::State& state, known_ends (*make)()) {
  using item = lv::tensor<std::uint8_t, Bytes>;
  constexpr std::size_t in_flight = Bytes < 4096 ? 1 : 4, count = Bytes < 4096 ? 500 : 100;
  const auto p = [] {
    return lv::input<item> |
           lv::on<lv::remote<"edge">>(lv::stage<"same">([](item& i) { i[0] = static_cast<std::uint8_t>(i[0] + 1); }));
  };
  const known_ends ends = make();
  const lv::remote_node node = lv::serve<box, "edge", v1, slots>(p(), {ends.node, "127.0.0.1:0"});
  auto app = lv::deploy<box, v1, slots>(p(), lv::endpoints<"edge">{ends.driver, {node.address()}});
  auto session = app.template open<lv::external_results>();
  by_hand::stream hand(ends.server, ends.client, ends.arguments);

  const auto given = std::make_unique<item>();
  std::vector<item> results(in_flight);
  std::vector<std::uint8_t> raw(Bytes), raw_result(Bytes);
  const auto ours = [&] {
    std::size_t pushed = 0, popped = 0;
    while (popped != count) {
      while (pushed != count && pushed - popped != in_flight) session.push(*given, results[pushed++ % in_flight]);
      session.pop()->value();
      ++popped;
    }
  };
  const auto theirs = [&] { hand.run(count, in_flight, raw, raw_result); };
  ours();
  theirs();
  const kernels::compared found = kernels::alternate(state, ours, theirs);
  const double each = 1.0 / static_cast<double>(count);
  state.counters["ours_us"] = found.first * each;
  state.counters["hand_us"] = found.second * each;
  state.counters["ratio"] = found.ratio;
}

}  // namespace

int main(int count, char** arguments) {
  for (const auto& [how, make] : {std::pair{"plain", &in_plain_text}, std::pair{"tls", &by_tls}}) {
    const auto add = [&](const char* name, void (*run)(benchmark::State&, known_ends (*)())) {
      benchmark::RegisterBenchmark((std::string(name) + "/" + how).c_str(),
                                   [run, make = make](benchmark::State& state) { run(state, make); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    };
    add("round_trip/64_bytes", &compare<64>);
    add("throughput/1_MiB", &compare<1 << 20>);
  }
  benchmark::Initialize(&count, arguments);
  return benchmark::RunSpecifiedBenchmarks() == 0;
}
