// SPDX-License-Identifier: Apache-2.0
// What is moved between devices: a plan lists it, and a device with memory of its own counts it.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <levada/interop/report.hpp>
#include <levada/levada.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/detail/transfers.hpp>
#include <levada/run/simulated.hpp>

namespace run_transfers {

namespace lv = levada;

using box = lv::target<lv::cpu<2>, lv::simulated<0>>;
using device = lv::simulated<0>;
using row = lv::tensor<float, 16>;
constexpr std::size_t row_bytes = sizeof(row);

struct moved {
  std::size_t count = 0, bytes = 0;
  bool operator==(const moved&) const = default;
};

/// What a plan says that an item has moved to a device, or back.
template <class App>
moved planned(const App&, bool to_device) {
  moved all;
  for (const lv::planned_transfer& t : lv::transfers_of(App::plan))
    if ((t.to == device::id) == to_device) {
      all.count += t.times;
      all.bytes += t.times * t.bytes;
    }
  return all;
}

/// Streams items, and compares what the device counted with the plan.
template <class App, class Item, class Check>
void check_moves(const App& app, const std::vector<Item>& items, Check check) {
  lv::simulated_device<0>().reset();
  std::size_t i = 0;
  for (auto&& r : app.stream(items)) check(items[i++], r.value());
  CHECK(i == items.size());
  const auto counted = [&](const auto& copies) {
    return moved{copies.count.load() / items.size(), copies.bytes.load() / items.size()};
  };
  CHECK(lv::simulated_device<0>().uploads.count.load() % items.size() == 0);
  CHECK(counted(lv::simulated_device<0>().uploads) == planned(app, true));
  CHECK(counted(lv::simulated_device<0>().downloads) == planned(app, false));
}

std::vector<row> rows() {
  std::vector<row> all(20);
  float next = -3;
  for (row& r : all)
    for (float& x : r) x = next += 0.125f;
  return all;
}

/// TVM's PlanDevices: a negative here, two negatives and their sum there, a negative here.
const auto diamond =
    lv::input<row> | lv::on<lv::cpu<2>>(lv::nn::neg) |
    lv::fork(lv::on<device>(lv::named<"left">(lv::nn::neg)), lv::on<device>(lv::named<"right">(lv::nn::neg))) |
    lv::on<device>(lv::nn::add) | lv::on<lv::cpu<2>>(lv::named<"last">(lv::nn::neg));

TEST_CASE("what two branches on a device take is moved there once, and their sum back once") {
  const auto app = lv::deploy<box>(diamond);
  CHECK(planned(app, true) == moved{1, row_bytes});
  CHECK(planned(app, false) == moved{1, row_bytes});
  check_moves(app, rows(), [](const row& in, const row& out) {
    for (std::size_t i = 0; i < in.size(); ++i) CHECK(out[i] == -2 * in[i]);
  });
}

TEST_CASE("the caller's items and results are moved where the first and the last stage are on a device") {
  const auto app = lv::deploy<box>(lv::input<row> | lv::on<device>(lv::nn::neg));
  CHECK(planned(app, true) == moved{1, row_bytes});
  check_moves(app, rows(), [](const row& in, const row& out) { CHECK(out[3] == -in[3]); });
}

TEST_CASE("what a segment makes and others take, too, comes back, and goes there again for the next") {
  const auto app = lv::deploy<box>(lv::input<row> | lv::on<device>(lv::stage<"half">([](const row& r) {
                                     row made = r;
                                     for (float& x : made) x *= 0.5f;
                                     return made;
                                   })) |
                                   lv::fork(lv::on<lv::cpu<2>>(lv::nn::exp), lv::on<device>(lv::nn::tanh)) |
                                   lv::on<lv::cpu<2>>(lv::nn::sub));
  check_moves(app, rows(), [](const row& in, const row& out) {
    CHECK(out[5] == doctest::Approx(std::exp(in[5] / 2) - std::tanh(in[5] / 2)).epsilon(1e-6));
  });
}

TEST_CASE("stages that change their items in place do so in the device's memory") {
  const auto app =
      lv::deploy<box>(lv::input<row> | lv::on<lv::cpu<2>>(lv::nn::neg) | lv::on<device>(lv::stage<"more">([](row& r) {
                        for (float& x : r) x += 1;
                      })) |
                      lv::on<device>(lv::stage<"twice">([](row& r) {
                        for (float& x : r) x *= 2;
                      })) |
                      lv::on<lv::cpu<2>>(lv::named<"last">(lv::nn::neg)));
  CHECK(planned(app, true) == moved{1, row_bytes});
  check_moves(app, rows(), [](const row& in, const row& out) { CHECK(out[7] == -2 * (1 - in[7])); });
}

TEST_CASE("what cannot be copied as bytes stays where it is") {
  const auto app = lv::deploy<box>(
      lv::input<std::string> | lv::on<device>(lv::stage<"longer">([](const std::string& s) { return s + s; })) |
      lv::on<lv::cpu<2>>(lv::stage<"length">([](const std::string& s) { return s.size(); })));
  CHECK(planned(app, true) == moved{});
  check_moves(app, std::vector<std::string>(5, std::string(40, 'x')),
              [](const std::string&, std::size_t length) { CHECK(length == 80); });
}

template <class Second>
using pair_with = lv::named_items<lv::named_item<"a", row>, lv::named_item<"b", Second>>;

TEST_CASE("parts of what a device makes are there for its next stages") {
  const auto app = lv::deploy<box>(
      lv::input<row> | lv::on<device>(lv::stage<"pair">([](const row& r) {
        return pair_with<row>{r, r};
      })) |
      lv::graph(lv::port<"a", row>, lv::port<"b", row>, lv::node<"minus", "a">(lv::on<device>(lv::nn::neg)),
                lv::node<"exp", "b">(lv::on<lv::cpu<2>>(lv::nn::exp)),
                lv::node<"sum", "minus", "exp">(lv::on<device>(lv::nn::add)), lv::output<"sum", "sum">));
  check_moves(app, rows(), [](const row& in, const row& out) {
    CHECK(out[2] == doctest::Approx(std::exp(in[2]) - in[2]).epsilon(1e-6));
  });
}

TEST_CASE("parts of what cannot be copied as bytes are used where they are") {
  const auto app = lv::deploy<box>(
      lv::input<row> | lv::on<device>(lv::stage<"pair">([](const row& r) {
        return pair_with<std::string>{r, std::string(40, 'y')};
      })) |
      lv::graph(lv::port<"a", row>, lv::port<"b", std::string>, lv::node<"minus", "a">(lv::on<device>(lv::nn::neg)),
                lv::node<"size", "minus", "b">(lv::on<device>(lv::join<"size">(
                    [](const row& r, const std::string& s) { return r[1] + static_cast<float>(s.size()); }))),
                lv::output<"size", "size">));
  check_moves(app, rows(), [](const row& in, float out) { CHECK(out == 40 - in[1]); });
}

TEST_CASE("reports list what is moved: from where, where to, how large, how often, at what cost") {
  const auto app = lv::deploy<box>(diamond);
  const std::string text = lv::report(app), json = lv::report<lv::format::json>(app);
  CAPTURE(text);
  for (const char* line :
       {"what neg gives goes from cpu to simulated<0>: float[16], 64 B, once an item, 10.0 us, estimated\n",
        "what add gives goes from simulated<0> to cpu: float[16], 64 B, once an item, 10.0 us, estimated\n"})
    CHECK_MESSAGE(text.find(line) != std::string::npos, line);
  CHECK(json.find("\"transfers\":[{\"value\":1,\"from\":\"cpu\",\"to\":\"simulated<0>\",\"bytes\":64,\"times\":1,"
                  "\"seconds\":") != std::string::npos);
}

constexpr lv::transfer_cost ways[] = {{lv::cpu<2>::id, device::id, 2e-6, 1e-9}};
constexpr lv::cost_table costs{.machine = "a made-up one", .transfers = ways};

TEST_CASE("transfers cost what the table says that the plan was chosen by") {
  const auto app = lv::deploy<box, lv::costs<costs>>(diamond);
  constexpr const auto& plan = decltype(app)::plan;
  static_assert(lv::transfers_of(plan).size() == 2);
  static_assert(lv::transfers_of(plan)[0].price.origin == lv::cost_origin::measured);
  static_assert(lv::transfers_of(plan)[1].price.origin == lv::cost_origin::estimated);
  CHECK(lv::transfers_of(plan)[0].seconds() == doctest::Approx(2.064e-6));
}

}  // namespace run_transfers
