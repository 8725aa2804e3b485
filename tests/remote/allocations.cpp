// SPDX-License-Identifier: Apache-2.0
// What a part on another machine takes from the heap at both ends: nothing for an item.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <memory>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

#include <support/counting.hpp>

namespace lv = levada;

namespace {

using reading = std::array<float, 300>;
/// As long as it says.
struct numbers {
  std::uint32_t count = 0;
  reading values{};
};

}  // namespace

template <>
struct levada::wire<numbers> {
  static constexpr std::string_view name = "numbers, 1";
  static constexpr std::size_t most_bytes = 4 + sizeof(reading);
  static void write(wire_writer& to, const numbers& item) {
    to.write_count(item.count);
    to.write(item.values.data(), item.count * sizeof(float));
  }
  static numbers read(wire_reader& from) {
    numbers item;
    item.count = static_cast<std::uint32_t>(from.read_count(item.values.size()));
    from.read(item.values.data(), item.count * sizeof(float));
    return item;
  }
};

TEST_CASE_TEMPLATE("an item takes nothing from the heap, at neither end", item, reading, numbers) {
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
  using v1 = lv::version<"1">;
  const auto p = [] { return lv::input<item> | lv::on<lv::remote<"edge">>(lv::stage<"same">([](item&) {})); };
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1>(p(), {by, "a"});
  auto app = lv::deploy<box, v1>(p(), lv::endpoints<"edge">{by, {"a"}});
  auto session = app.open();
  item given{};
  if constexpr (std::same_as<item, numbers>) given.count = 300;
  int good = 0;
  const auto run = [&](int count) {
    for (int pushed = 0, popped = 0; popped < count; ++popped) {
      while (pushed < count && pushed - popped < 20) session.push(given), ++pushed;
      good += session.pop()->has_value() ? 1 : 0;
    }
  };
  run(2000);
  const allocation_counts before = allocations_now();
  run(5000);
  const allocation_counts taken = allocations_now() - before;
  CHECK(good == 7000);
  if (counts_allocations) CHECK(taken.news + taken.mallocs <= 5);  // a ring of the transport may grow once more
}
