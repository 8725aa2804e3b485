// SPDX-License-Identifier: Apache-2.0
// A part of a pipeline on another machine, by gRPC. Alone the program is both ends; as two:
//   one_thing_other_machine node 127.0.0.1:7000
//   one_thing_other_machine drive 127.0.0.1:7000

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/grpc.hpp>

namespace lv = levada;

using picture = lv::tensor<std::uint8_t, 240, 320>;
using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
using program = lv::version<"1">;  // changed with the body of any stage

auto brightness() {
  return lv::input<int> |
         lv::stage<"draw", picture>([](const int& n, picture& p) { p.fill(static_cast<std::uint8_t>(n)); }) |
         lv::on<lv::remote<"edge">>(lv::stage<"mean">([](const picture& p) {
           double sum = 0;
           for (const std::uint8_t x : p) sum += x;
           return sum / picture::elements;
         })) |
         lv::stage<"round">([](double mean) { return static_cast<int>(mean + 0.5); });
}

lv::remote_node serve(const std::shared_ptr<lv::transport>& by, const std::string& address) {
  return lv::serve<box, "edge", program>(brightness(), {.by = by, .address = address});
}
bool drive(const std::shared_ptr<lv::transport>& by, std::vector<std::string> addresses) {
  auto app = lv::deploy<box, program>(brightness(), lv::endpoints<"edge">{by, std::move(addresses)});
  std::vector<int> items(200);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int>(i);
  int next = 0;
  for (auto&& r : app.stream(items))
    if (r.value() != next++) return false;
  std::printf("%d results from the other machine\n", next);
  return next == 200;
}

int main(int count, char** arguments) try {
  const std::string_view what = count > 2 ? arguments[1] : "both";
  // To other machines than this one with certificates: grpc_transport(lv::certificates{...}).
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  if (what == "node") {
    const lv::remote_node node = serve(by, arguments[2]);
    std::printf("listening at %s until a line is read\n", node.address().c_str());
    std::getchar();
    return 0;
  }
  if (what == "drive") return drive(by, {arguments + 2, arguments + count}) ? 0 : 1;
  const lv::remote_node node = serve(by, "127.0.0.1:0");
  return drive(by, {node.address()}) ? 0 : 1;
} catch (const lv::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
