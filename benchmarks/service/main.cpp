// SPDX-License-Identifier: Apache-2.0
// Requests a second of a served pipeline: beside a server of gRPC that answers the same bytes without looking at the
// request, and of the demo's network with its items in batches beside without. Servers and clients are in this process,
// on the loopback, and share its cores. The two take turns; `ratio` is the median of the pairs, time of the first by
// time of the second.

#include <cstdint>
#include <string>
#include <string_view>

#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>
#include <levada/service/serve.hpp>

#include "../../examples/fashion_mnist/network.hpp"
#include "../kernels/alternate.hpp"
#include "by_hand.hpp"

namespace {

namespace lv = levada;
using namespace lv::literals;

using box = lv::target<lv::cpu<2>>;

std::string request_of(std::string_view datatype, std::initializer_list<std::uint64_t> shape, std::size_t bytes) {
  std::string message;
  lv::detail::protobuf_writer to(message);
  to.text(1, "model");
  to.message(5, [&](lv::detail::protobuf_writer& input) {
    input.text(1, "input");
    input.text(2, datatype);
    input.message(3, [&](lv::detail::protobuf_writer& packed) {
      for (const std::uint64_t extent : shape) packed.varint(extent);
    });
  });
  to.element(7, std::string(bytes, '\1'));
  return message;
}

template <class App>
lv::inference_service served(const App& app) {
  return lv::serve(app, {.address = "127.0.0.1:0", .security = lv::plain_text{}});
}

/// The answers of `first` and `second`, by the time that each takes for so many items. A request of the first has
/// `together` of them.
void compare(benchmark::State& state, by_hand::clients& first, by_hand::clients& second, std::size_t together = 1) {
  constexpr std::size_t items = 640;
  const std::size_t requests = items / together;
  if (first.run(requests) != requests || second.run(items) != items)
    return state.SkipWithError((first.last_error() + second.last_error()).c_str());
  const kernels::compared found = kernels::alternate(
      state, [&] { first.run(requests); }, [&] { second.run(items); });
  state.counters["first_per_s"] = 1e6 * items / found.first;
  state.counters["second_per_s"] = 1e6 * items / found.second;
  state.counters["ratio"] = found.ratio;
}

/// A service, and the server by hand that answers the bytes that the service does.
void compare_by_hand(benchmark::State& state, const lv::inference_service& service, const std::string& request) {
  const auto count = static_cast<std::size_t>(state.range(0));
  by_hand::clients ours(service.address(), count, request);
  ours.run(count);
  const by_hand::server hand(ours.answer());
  by_hand::clients theirs(hand.address(), count, request);
  compare(state, ours, theirs);
}

/// A service and the server by hand, of 64 bytes there and back.
void service_by_hand(benchmark::State& state) {
  using item = lv::tensor<float, 16>;
  const auto app = lv::deploy<box>(lv::input<item> | lv::stage<"same">([](item& i) { i[0] += 1; }));
  const lv::inference_service service = served(app);
  const std::string request = request_of("FP32", {1, 16}, 64);
  compare_by_hand(state, service, request);
}

const lv::safetensors& trained() {
  static const lv::safetensors weights{LEVADA_SOURCE_DIR "/examples/fashion_mnist/weights.safetensors"};
  return weights;
}
auto network() { return lv::deploy<box>(example::fashion_mnist::classifier(trained())); }

/// The network with its items in batches, and without.
void batched_by_single(benchmark::State& state) {
  const auto single = network();
  const auto in_batches = [](auto layers) { return lv::batch<16, lv::timeout<1_ms>> | layers | lv::unbatch; };
  const auto batched =
      lv::deploy<box>(example::fashion_mnist::classifier(trained(), example::fashion_mnist::anywhere{}, in_batches));
  const lv::inference_service one = served(single), many = served(batched);
  const std::string request = request_of("UINT8", {1, 1, 28, 28}, 784);
  const auto count = static_cast<std::size_t>(state.range(0));
  by_hand::clients first(many.address(), count, request), second(one.address(), count, request);
  compare(state, first, second);
}

/// The network, and a server that answers its bytes without computing anything.
void network_by_hand(benchmark::State& state) {
  const auto single = network();
  const lv::inference_service service = served(single);
  const std::string request = request_of("UINT8", {1, 1, 28, 28}, 784);
  compare_by_hand(state, service, request);
}

/// Pictures that a client sends together, and one by one.
void together_by_single(benchmark::State& state) {
  const auto app = network();
  const lv::inference_service service = served(app);
  constexpr std::size_t together = 16;
  by_hand::clients first(service.address(), 4, request_of("UINT8", {together, 1, 28, 28}, together * 784));
  by_hand::clients second(service.address(), 64, request_of("UINT8", {1, 1, 28, 28}, 784));
  compare(state, first, second, together);
}

}  // namespace

BENCHMARK(service_by_hand)->Arg(1)->Arg(64)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(network_by_hand)->Arg(64)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(batched_by_single)->Arg(64)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(together_by_single)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
