// SPDX-License-Identifier: Apache-2.0
// Requests that are parts of their callers' traces, and so the sessions of sequences and their nodes.

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <levada/interop/trace.hpp>
#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>
#include <levada/service/serve.hpp>

#include "run/progress.hpp"
#include "service/client.hpp"

namespace {

namespace lv = levada;
using lv::test::call, lv::test::channel, lv::test::here, lv::test::infer, lv::test::request, lv::test::results,
    lv::test::sequence, lv::test::sums;

using box = lv::target<lv::cpu<2>>;
const std::string first = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const std::string other = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

lv::service_options traced() {
  lv::service_options options = here();
  options.traced_events = 1000;
  return options;
}
auto twice() {
  return lv::input<float> | lv::stage<"twice">([](float x) { return 2 * x; });
}

class client {
 public:
  explicit client(const lv::inference_service& of) : to_(channel(of)) {}
  std::vector<float> ask(const std::vector<float>& items, const std::vector<std::string>& traceparents,
                         const sequence& in = {}) const {
    return results(call(to_, infer, request(items, in), std::chrono::minutes(2), traceparents).answer());
  }

 private:
  std::shared_ptr<grpc::Channel> to_;
};

std::string written(const lv::session_trace& trace) {
  std::ostringstream text;
  lv::write_trace(text, trace);
  return text.str();
}

}  // namespace

TEST_CASE("of a session that all share each request is a part of its caller's trace") {
  const lv::inference_service service = lv::serve(lv::deploy<box>(twice()), traced());
  const client by(service);
  CHECK(by.ask({1}, {}) == std::vector<float>{2});
  CHECK(by.ask({1, 2, 3}, {first}) == std::vector<float>{2, 4, 6});
  CHECK(by.ask({4, 5}, {other}) == std::vector<float>{8, 10});
  CHECK(by.ask({6}, {"cc" + first.substr(2) + "-more"}) == std::vector<float>{12});  // of a later version
  const std::vector<lv::session_trace> all = service.traced();
  REQUIRE(all.size() == 1);
  CHECK(!all[0].context);
  CHECK(!all[0].events.empty());
  CHECK(all[0].overwritten == 0);
  const std::vector<lv::traced_request>& found = all[0].requests;
  REQUIRE(found.size() == 3);
  const struct {
    std::string caller;
    std::uint64_t item, items;
  } asked[] = {{first, 1, 3}, {other, 4, 2}, {first, 6, 1}};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(found[i].caller.text() == asked[i].caller);
    CHECK(found[i].item == asked[i].item);
    CHECK(found[i].items == asked[i].items);
    CHECK(found[i].begin < found[i].end);
    if (i != 0) CHECK(found[i - 1].end < found[i].begin);
    for (const lv::trace_event& e : all[0].events)
      if (e.kind == lv::trace_kind::stage && e.item == found[i].item) {
        CHECK(e.begin >= found[i].begin);
        CHECK(e.end <= found[i].end);
      }
  }
  const std::string text = written(all[0]);
  CHECK(text.find(R"("args":{"item":4,"items":2,"traceparent":")" + other + R"("})") != std::string::npos);
}

TEST_CASE("a traceparent that is none is passed over, and one that is said twice") {
  const lv::inference_service service = lv::serve(lv::deploy<box>(twice()), traced());
  const client by(service);
  const std::vector<std::vector<std::string>> wrong = {{""},
                                                       {"00"},
                                                       {first + "-more"},
                                                       {"ff" + first.substr(2)},
                                                       {"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"},
                                                       {"00-00000000000000000000000000000000-b7ad6b7169203331-01"},
                                                       {"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"},
                                                       {first, other},
                                                       {first, first}};
  for (const auto& said : wrong) CHECK(by.ask({3}, said) == std::vector<float>{6});
  CHECK(service.traced().at(0).requests.empty());
  CHECK(by.ask({3}, {first}) == std::vector<float>{6});
  CHECK(service.traced().at(0).requests.size() == 1);
}

TEST_CASE("the last requests are kept, and nothing where nobody asked for it") {
  lv::service_options few = traced();
  few.traced_events = 2;
  const lv::inference_service service = lv::serve(lv::deploy<box>(twice()), few);
  const lv::inference_service silent = lv::serve(lv::deploy<box>(twice()), here());
  const client by(service);
  for (float x = 0; x < 5; ++x) CHECK(by.ask({x}, {first}) == std::vector<float>{2 * x});
  const lv::session_trace kept = service.traced().at(0);
  REQUIRE(kept.requests.size() == 2);
  CHECK(kept.requests[0].item + kept.requests[1].item == 7);
  CHECK(kept.overwritten >= 3);
  CHECK(client(silent).ask({1}, {first}) == std::vector<float>{2});
  CHECK(silent.traced().empty());
}

TEST_CASE("a sequence, and its session on another machine, are parts of the trace of the request that began it") {
  using both = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
  using v1 = lv::version<"1">;
  const auto line = lv::input<float> | lv::on<lv::remote<"edge">>(lv::stage<"twice">([](float x) { return 2 * x; })) |
                    lv::stage<"sum">([sum = 0.f](float x) mutable { return sum += x; });
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<both, "edge", v1>(line, {by, "a", 16, 1000});
  const lv::inference_service service =
      lv::serve(lv::deploy<both, v1>(line, lv::endpoints<"edge">{by, {"a"}}), traced());
  const client of(service);
  CHECK(of.ask({1, 2}, {first}, {1, true, false}) == std::vector<float>{2, 6});
  CHECK(of.ask({1}, {other}, {1, false, false}) == std::vector<float>{8});
  REQUIRE(service.traced().size() == 1);  // it is open
  CHECK(of.ask({1}, {}, {1, false, true}) == std::vector<float>{10});
  CHECK(of.ask({5}, {}, {2, true, true}) == std::vector<float>{10});
  CHECK(lv::test::eventually([&] { return node.sessions() == 0 && node.traced().size() == 1; }));
  CHECK(node.traced()[0].context->text() == first);
  const std::vector<lv::session_trace> ended = service.traced();
  REQUIRE(ended.size() == 2);
  REQUIRE(ended[0].context);
  CHECK(ended[0].context->text() == first);
  REQUIRE(ended[0].requests.size() == 2);
  CHECK(ended[0].requests[0].caller.text() == first);
  CHECK(ended[0].requests[1].caller.text() == other);
  CHECK(ended[0].requests[1].item == 2);
  CHECK(!ended[1].context);
  CHECK(written(ended[0]).find("\"otherData\":{\"overwritten\":0,\"traceparent\":\"" + first) != std::string::npos);
}

TEST_CASE("an any_pipeline's requests and sequences are parts of their callers' traces, too") {
  const lv::any_pipeline<float(float)> known = lv::deploy<box>(sums());
  const lv::inference_service service = lv::serve(known, traced());
  const client by(service);
  CHECK(by.ask({1, 2}, {first}, {7, true, false}) == std::vector<float>{1, 3});
  const lv::session_trace open = service.traced().at(0);
  CHECK(open.context->text() == first);
  CHECK(open.requests.size() == 1);
}
