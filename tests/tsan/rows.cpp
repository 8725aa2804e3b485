// SPDX-License-Identifier: Apache-2.0
// Threads look at items where their owner has them: run/rows.hpp.

#include <run/rows.hpp>

#include <levada/run/detail/workers/thread_executor.hpp>

namespace lv = levada;
using namespace levada::test;

namespace {

template <class Pipeline>
auto deployed(const Pipeline& pipeline) {
  return lv::deploy<lv::target<lv::cpu<3>>, lv::run_by<lv::thread_executor>>(pipeline);
}

}  // namespace

TEST_CASE("items in a row are read by workers behind their owner's writes, and left alone before he goes on") {
  const auto changes = deployed(lv::input<std::uint64_t> | lv::stage<"sum">(summing{}) | lv::stage<"slow">(slow{}) |
                                lv::stage<"mix">(mixing{}));
  const auto looks =
      deployed(lv::input<std::uint64_t> | lv::stage<"slow">(lv::parallel(slow{})) | lv::stage<"mix">(mixing{}));
  const auto cheap = deployed(lv::input<std::uint64_t> | lv::stage<"sum">(summing{}) | lv::stage<"mix">(mixing{}));
  for (int round = 0; round < 20; ++round) {
    CHECK(wrong_in_a_row(changes, reference_of(summing{}, slow{}, mixing{}), items_in_a_row(500)) == 0);
    CHECK(wrong_in_a_row(looks, reference_of(slow{}, mixing{}), items_in_a_row(500)) == 0);
    CHECK(wrong_in_a_row(cheap, reference_of(summing{}, mixing{}), items_in_a_row(5'000)) == 0);
    CHECK(wrong_until_stopped(changes, reference_of(summing{}, slow{}, mixing{}), items_in_a_row(500), 50) == 0);
  }
}
