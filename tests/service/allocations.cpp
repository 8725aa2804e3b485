// SPDX-License-Identifier: Apache-2.0
// What a request takes from the heap on its way through a service, beside what gRPC takes: nothing.

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <levada/levada.hpp>
#include <levada/run/detail/measure/meter.hpp>
#include <levada/service/detail/infer_workers.hpp>

#include <support/counting.hpp>

namespace {

namespace lv = levada;

using item = lv::tensor<float, 4>;
struct counting {
  int before = 0;
  void operator()(item& i) { i[0] += static_cast<float>(before++); }
};
auto counter() { return lv::deploy<lv::target<lv::cpu<2>>>(lv::input<item> | lv::stage<"count">(counting())); }
using app = decltype(counter());

class asked final : public lv::detail::infer_call {
 public:
  void begin(const std::string& message, const lv::detail::served_model& model) {
    clear();
    caller = lv::trace_context{{1}, {1}, 1};
    came_at = lv::detail::meter::now();
    is_done_.store(false);
    request.read(std::as_bytes(std::span(message)), model);
    answer.begin(request, model);
  }
  bool is_good() {
    is_done_.wait(false);
    return code() == lv::detail::status_code::ok;
  }
  bool is_given_up() const noexcept override { return false; }
  void finish() noexcept override {
    is_done_.store(true);
    is_done_.notify_one();
  }

 private:
  std::atomic<bool> is_done_{false};
};

/// Three items, of that sequence.
std::string request(bool typed, bool starts) {
  std::string message;
  lv::detail::protobuf_writer to(message);
  const std::string numbers(3 * 16, '\0');
  to.text(1, "m");
  for (const auto& [name, field] :
       {std::pair<std::string_view, std::uint32_t>{"sequence_id", 2}, {"sequence_start", 1}})
    if (field == 2 || starts)
      to.message(4, [&, n = name, f = field](lv::detail::protobuf_writer& entry) {
        entry.text(1, n);
        entry.message(2, [&](lv::detail::protobuf_writer& value) { value.number(f, 1); });
      });
  to.message(5, [&](lv::detail::protobuf_writer& in) {
    in.text(1, "input");
    in.text(2, "FP32");
    in.message(3, [](lv::detail::protobuf_writer& shape) { shape.varint(3), shape.varint(4); });
    if (typed) in.message(5, [&](lv::detail::protobuf_writer& contents) { contents.element(6, numbers); });
  });
  if (!typed) to.element(7, numbers);
  return message;
}

}  // namespace

TEST_CASE("a request takes nothing from the heap, in a session for all and in one of its sequence, traced or not") {
  const auto tensors = lv::detail::wire_tensors<item>("input");
  const std::vector<lv::detail::item_tensor> known(tensors.begin(), tensors.end());
  const lv::detail::served_model model{"m", "1", known, known, true, 8};
  std::vector<std::unique_ptr<lv::detail::infer_worker>> workers;
  for (const std::size_t traced : {std::size_t{0}, std::size_t{100}}) {
    const lv::detail::answering how{16, false, traced};
    workers.push_back(std::make_unique<lv::detail::shared_worker<app>>(counter(), how));
    workers.push_back(std::make_unique<lv::detail::sequence_worker<app>>(counter(), how, 4, std::chrono::minutes(1)));
  }
  for (auto& worker : workers)
    for (const bool typed : {false, true}) {
      CAPTURE(typed);
      const std::string first = request(typed, true), next = request(typed, false);
      asked calls[4];
      std::size_t good = 0;
      const auto run = [&](int count, const std::string& message) {
        for (int n = 0; n < count; ++n) {
          for (asked& call : calls) {
            call.begin(message, model);
            worker->submit(call);
          }
          for (asked& call : calls) good += call.is_good() ? 1 : 0;
        }
      };
      calls[0].begin(first, model);
      worker->submit(calls[0]);
      CHECK(calls[0].is_good());
      run(500, next);
      const allocation_counts before = allocations_now();
      run(2000, next);
      const allocation_counts taken = allocations_now() - before;
      CHECK(good == 4 * 2500);
      if (counts_allocations) {
        CHECK(taken.news + taken.mallocs <= 5);      // a thread that comes for the first time
        CHECK(taken.tbb_heap <= 3 * 4 * 2000 / 64);  // for every 64th worker that is asked for
      }
    }
}
