// SPDX-License-Identifier: Apache-2.0
// Many threads bring requests to the session that answers all of them, on plain threads, for ThreadSanitizer.

#include <doctest/doctest.h>
#include <levada/run/detail/workers/thread_executor.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/run/deploy.hpp>
#include <levada/run/detail/measure/meter.hpp>
#include <levada/service/detail/infer_workers.hpp>

namespace {

namespace lv = levada;

using item = lv::tensor<std::int32_t, 2>;

class asked final : public lv::detail::infer_call {
 public:
  void begin(std::string message, const lv::detail::served_model& model) {
    message_ = std::move(message);
    clear();
    caller = lv::trace_context{{1}, {1}, 1};
    came_at = lv::detail::meter::now();
    is_done_.store(false);
    request.read(std::as_bytes(std::span(message_)), model);
    answer.begin(request, model);
  }
  /// The first number of the first result.
  std::int32_t wait() {
    is_done_.wait(false);
    item first{};
    std::memcpy(&first, answer.places()[0], 8);
    return code() == lv::detail::status_code::ok ? first[0] : -1;
  }
  bool is_given_up() const noexcept override { return false; }
  void finish() noexcept override {
    is_done_.store(true);
    is_done_.notify_one();
  }

 private:
  std::string message_;
  std::atomic<bool> is_done_{false};
};

/// So many items of that number, which begin a sequence.
std::string request(std::int32_t first, std::size_t items, std::uint64_t sequence) {
  std::string message;
  lv::detail::protobuf_writer to(message);
  to.text(1, "m");
  const auto parameter = [&](std::string_view name, std::uint32_t field, std::uint64_t value) {
    to.message(4, [&](lv::detail::protobuf_writer& entry) {
      entry.text(1, name);
      entry.message(2, [&](lv::detail::protobuf_writer& v) { v.number(field, value); });
    });
  };
  parameter("sequence_id", 2, sequence);
  parameter("sequence_start", 1, 1);
  to.message(5, [&](lv::detail::protobuf_writer& in) {
    in.text(1, "input");
    in.text(2, "INT32");
    in.message(3, [&](lv::detail::protobuf_writer& shape) { shape.varint(items), shape.varint(2); });
  });
  const std::vector<std::int32_t> numbers(2 * items, first);
  to.element(7, {reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size()});
  return message;
}

/// False: as many sequences are open as may be, those that end among them.
bool is_taken(lv::detail::infer_worker& worker, asked& call) {
  try {
    worker.submit(call);
    return true;
  } catch (const lv::detail::refusal&) {
    return false;
  }
}

/// Four threads bring two requests each at a time. Says how many had wrong answers.
int wrong_answers(lv::detail::infer_worker& worker, int rounds) {
  const auto tensors = lv::detail::wire_tensors<item>("input");
  const std::vector<lv::detail::item_tensor> known(tensors.begin(), tensors.end());
  const lv::detail::served_model model{"m", "1", known, known, true, 100};
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int client = 1; client <= 4; ++client)
    clients.emplace_back([&, client] {
      asked calls[2];
      for (int n = 0; n < rounds; ++n) {
        for (asked& call : calls) {
          const auto id = static_cast<std::uint64_t>(2 * client + (&call == calls ? 0 : 1));
          call.begin(request(client + n, 1 + static_cast<std::size_t>(n % 6), id), model);
          while (!is_taken(worker, call)) std::this_thread::yield();
          if (n % 16 == 0) wrong += worker.traced().size() > 32 ? 1 : 0;
        }
        for (asked& call : calls) wrong += call.wait() == 2 * (client + n) ? 0 : 1;
      }
    });
  for (std::thread& c : clients) c.join();
  return wrong;
}

}  // namespace

TEST_CASE("no race between those who bring requests and those who answer them") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>, lv::run_by<lv::thread_executor>>(
      lv::input<item> | lv::stage<"twice">([](item& i) { i[0] *= 2; }));
  using app_type = std::remove_const_t<decltype(app)>;
  lv::detail::shared_worker<app_type> shared(app, {16, false, 8});
  CHECK(wrong_answers(shared, 1000) == 0);
  lv::detail::sequence_worker<app_type> sequences(app, {16, false, 8}, 16, std::chrono::milliseconds(1));
  CHECK(wrong_answers(sequences, 40) == 0);
}
