// SPDX-License-Identifier: Apache-2.0
// Pipelines as services over gRPC, on this machine: what clients are answered, and what happens where there is too much
// to do, where something fails, and at the end.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <levada/levada.hpp>
#include <levada/service/serve.hpp>

#include "remote/certificates.hpp"
#include "run/progress.hpp"
#include "service/client.hpp"

namespace {

namespace lv = levada;
using namespace lv::literals;
using lv::detail::protobuf_reader;
using lv::test::call, lv::test::channel, lv::test::here, lv::test::infer, lv::test::request, lv::test::results,
    lv::test::sequence, lv::test::sums;

using box = lv::target<lv::cpu<2>>;

/// The answer to a call that ends before its message.
grpc::Status without_message(const std::shared_ptr<grpc::Channel>& to) {
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  const auto stream = grpc::GenericStub(to).PrepareCall(&context, infer, &queue);
  stream->StartCall(nullptr);
  queue.Next(&tag, &ok);
  stream->WritesDone(nullptr);
  queue.Next(&tag, &ok);
  grpc::Status status;
  stream->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
  return status;
}

/// One of health, of the service as a whole: 1 serves, 2 does not.
int health(const std::shared_ptr<grpc::Channel>& to) {
  const std::string answer = call(to, "/grpc.health.v1.Health/Check", "").answer();
  protobuf_reader from(std::as_bytes(std::span(answer)));
  return from.next() ? static_cast<int>(from.number()) : 0;
}

/// Twice a number; -1 fails; waits at the gate while that is closed.
auto twice(std::atomic<bool>& is_open) {
  return lv::input<float> | lv::stage<"twice">(lv::parallel([&is_open](float x) {
           is_open.wait(false);
           if (x == -1) throw std::runtime_error("no number is less than 0");
           return 2 * x;
         }));
}

}  // namespace

TEST_CASE(
    "requests of one and of more items than there are slots are answered in order; a failure is a request's own") {
  std::atomic<bool> is_open{true};
  const lv::inference_service service = lv::serve(lv::deploy<box, lv::slots<2>>(twice(is_open)), here());
  const auto to = channel(service);
  std::vector<std::unique_ptr<call>> calls;
  for (int i = 0; i < 40; ++i)
    calls.push_back(std::make_unique<call>(
        to, infer, request({static_cast<float>(i), 1, 2, i == 7 ? -1.f : 3.f, 4, 5, 6, 7, 8, 9})));
  for (int i = 0; i < 40; ++i) {
    call& c = *calls[static_cast<std::size_t>(i)];
    if (i == 7) {
      CHECK(c.status().error_code() == grpc::StatusCode::INTERNAL);
      CHECK(c.status().error_message() == "item 3: no number is less than 0");
    } else {
      CHECK(results(c.answer()) == std::vector<float>{2 * static_cast<float>(i), 2, 4, 6, 8, 10, 12, 14, 16, 18});
    }
  }
  const grpc::Status wrong = call(to, infer, "\xff").status();
  CHECK(wrong.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(call(to, "/inference.GRPCInferenceService/None", "").status().error_code() == grpc::StatusCode::UNIMPLEMENTED);
  CHECK(without_message(to).error_message() == "levada: a call came without its message");
  CHECK(service.metrics().find("levada_requests_total{model=\"model\",version=\"1\",code=\"INTERNAL\"} 1") !=
        std::string::npos);
}

TEST_CASE("more requests than may wait are refused, and so is all when the service drains") {
  std::atomic<bool> is_open{false};
  lv::service_options few = here();
  few.most_waiting = 2;
  lv::inference_service service = lv::serve(lv::deploy<box>(twice(is_open)), few);
  const auto to = channel(service);
  CHECK(call(to, "/inference.GRPCInferenceService/ServerReady", "").answer() == "\x08\x01");
  CHECK(health(to) == 1);
  // Calls reach the service in any order: each has its place before the next is made.
  const auto has_pushed = [&](char count) {
    return service.metrics().find(std::string("levada_items_pushed_total{model=\"model\",version=\"1\"} ") + count) !=
           std::string::npos;
  };
  CHECK(levada::test::eventually([&] {
    call late(to, infer, request({1}), std::chrono::milliseconds(50));
    CHECK(late.status().error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
    return has_pushed('1');  // else it came too late; where it was in time it still has its place
  }));
  call first(to, infer, request({1}));
  CHECK(levada::test::eventually([&] { return has_pushed('2'); }));
  const grpc::Status refused = call(to, infer, request({1})).status();
  CHECK(refused.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(refused.error_message() == "2 requests wait for the model already");

  CHECK(!service.drain(std::chrono::milliseconds(1)));
  CHECK(health(to) == 2);
  CHECK(call(to, "/inference.GRPCInferenceService/ServerReady", "").answer().empty());
  CHECK(call(to, infer, request({1})).status().error_code() == grpc::StatusCode::UNAVAILABLE);
  is_open.store(true);
  is_open.notify_all();
  CHECK(results(first.answer()) == std::vector<float>{2});
  CHECK(service.drain());
}

TEST_CASE("a batch gathers the items of many clients") {
  const auto app = lv::deploy<box>(lv::input<float> | lv::batch<4, lv::timeout<500_ms>> |
                                   lv::stage<"full">([](std::array<float, 4>& b) {
                                     const bool is_full = b[2] != b[3];  // what is lacking is the last again
                                     for (float& x : b) x += is_full ? 100 : 0;
                                   }) |
                                   lv::unbatch);
  const lv::inference_service service = lv::serve(app, here());
  std::vector<std::unique_ptr<call>> calls;
  std::vector<std::shared_ptr<grpc::Channel>> clients{channel(service), channel(service)};
  for (int i = 1; i <= 8; ++i)
    calls.push_back(
        std::make_unique<call>(clients[static_cast<std::size_t>(i % 2)], infer, request({static_cast<float>(i)})));
  int together = 0;
  for (int i = 1; i <= 8; ++i) {
    const std::vector<float> r = results(calls[static_cast<std::size_t>(i - 1)]->answer());
    REQUIRE(r.size() == 1);
    CHECK((r[0] == static_cast<float>(i) || r[0] == static_cast<float>(100 + i)));
    together += r[0] > 100 ? 1 : 0;
  }
  CHECK(together >= 4);
  CHECK(results(call(clients[0], infer, request({9})).answer()) == std::vector<float>{9});  // waits no longer than that
}

TEST_CASE("a pipeline with state has a session for each sequence") {
  const auto app = lv::deploy<box>(sums());
  lv::service_options two = here();
  two.most_sequences = 2;
  const lv::inference_service service = lv::serve(app, two);
  const auto to = channel(service);
  const auto status = [&](const sequence& s) { return call(to, infer, request({1}, s)).status(); };
  CHECK(status({}).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(status({1, false, false}).error_code() == grpc::StatusCode::NOT_FOUND);
  CHECK(results(call(to, infer, request({1, 2}, {1, true, false})).answer()) == std::vector<float>{1, 3});
  CHECK(results(call(to, infer, request({10}, {2, true, false})).answer()) == std::vector<float>{10});
  CHECK(results(call(to, infer, request({3}, {1, false, false})).answer()) == std::vector<float>{6});
  CHECK(status({3, true, false}).error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(results(call(to, infer, request({1}, {2, false, true})).answer()) == std::vector<float>{11});
  CHECK(status({2, false, false}).error_code() == grpc::StatusCode::NOT_FOUND);
  CHECK(levada::test::eventually([&] { return status({3, true, false}).ok(); }));  // where the ended one was
}

TEST_CASE("a sequence that is asked for nothing ends") {
  const auto app = lv::deploy<box>(sums());
  lv::service_options soon = here();
  soon.longest_idle = std::chrono::milliseconds(20);
  const lv::inference_service service = lv::serve(app, soon);
  const auto open = [&] { return service.metrics().find("levada_sequences_open{model=\"model\",version=\"1\"} 0"); };
  CHECK(call(channel(service), infer, request({1}, {1, true, false})).status().ok());
  CHECK(levada::test::eventually([&] { return open() != std::string::npos; }));
}

TEST_CASE("other machines are served with certificates only") {
  const auto app = lv::deploy<box>(lv::input<float> | lv::stage<"twice">([](float x) { return 2 * x; }));
  lv::service_options open = here();
  open.address = "0.0.0.0:0";
  CHECK_THROWS_AS(static_cast<void>(lv::serve(app, open)), lv::remote_error);
  namespace test = lv::test;
  lv::service_options safe = here();
  safe.security = lv::certificates{test::authority_certificate, test::edge_certificate, test::edge_key, ""};
  const lv::inference_service service = lv::serve(app, safe);
  grpc::ChannelArguments named;
  named.SetSslTargetNameOverride("edge");
  const auto answered = [&](const std::shared_ptr<grpc::ChannelCredentials>& as) {
    return call(grpc::CreateCustomChannel(service.address(), as, named), infer, request({4})).answer();
  };
  CHECK(results(answered(grpc::SslCredentials(
            {test::authority_certificate, test::driver_key, test::driver_certificate}))) == std::vector<float>{8});
  CHECK(answered(grpc::SslCredentials({test::authority_certificate, "", ""})).starts_with("failed"));
  CHECK(answered(grpc::InsecureChannelCredentials()).starts_with("failed"));
}

TEST_CASE("an any_pipeline is served as its app is") {
  std::atomic<bool> is_open{true};
  const lv::any_pipeline<float(float)> known = lv::deploy<box>(twice(is_open));
  const lv::inference_service service = lv::serve(known, here());
  CHECK(results(call(channel(service), infer, request({1, 2, 3})).answer()) == std::vector<float>{2, 4, 6});
  const lv::any_pipeline<float(float)> stateful = lv::deploy<box>(sums());
  const lv::inference_service sequences = lv::serve(stateful, here());
  CHECK(results(call(channel(sequences), infer, request({1, 2}, {1, true, true})).answer()) ==
        std::vector<float>{1, 3});
}
