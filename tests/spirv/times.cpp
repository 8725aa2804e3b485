// SPDX-License-Identifier: Apache-2.0
// What a Vulkan device says of its time: upload, compute and download of each item in statistics and trace, and that
// those of successive slots overlap.

#include <algorithm>
#include <map>
#include <sstream>

#include <levada/backend/spirv.hpp>
#include <levada/interop/report.hpp>
#include <levada/interop/trace.hpp>
#include <levada/run/detail/measure/statistics_report.hpp>

#include "device.hpp"

namespace spirv_times {

using namespace spirv_test;

using item = lv::tensor<float, 3000>;

constexpr auto step = [](auto x) { return x * 0.5f + 1.0f; };
constexpr std::uint64_t count = 300;

/// The processor hands the device what has come together.
auto pipeline() {
  return lv::input<item> | lv::stage<"before">([](item& i) { i[0] += 1.0f; }) | there(lv::transform<"there">(step));
}

bool has_timestamps() {
  const lv::detail::vulkan_context open(0, {});
  for (std::size_t role = 0; role < lv::detail::vulkan_roles::count; ++role)
    if (open.timestamp_bits(role) == 0) {
      MESSAGE("not tested: the device has no timestamps, or the host cannot reset them");
      return false;
    }
  return true;
}

struct measured {
  lv::session_statistics statistics;
  lv::session_trace trace;
  std::map<std::uint64_t, std::map<lv::trace_kind, lv::trace_event>> items;
};

/// `settings` of the device; all items are on their way, as many as there are slots for.
measured run(lv::vulkan_settings settings) {
  const device_settings<0> as(std::move(settings));
  const auto app = lv::deploy<box, lv::slots<32>>(pipeline());
  const std::vector<item> items(count);
  auto results = app.stream(items);
  results.measure();
  results.trace(1 << 14);
  std::uint64_t values = 0;
  for (const auto& r : results) values += r.has_value();
  CHECK(values == count);
  measured m{results.statistics(), results.traced(), {}};
  for (const lv::trace_event& e : m.trace.events) m.items[e.item][e.kind] = e;
  return m;
}

TEST_CASE("an item that is copied is uploaded, computed and downloaded, in this order, while it is at the device") {
  LEVADA_NEEDS_DEVICE();
  if (!has_timestamps()) return;
  const measured m = run(with_own_submissions());
  REQUIRE(m.statistics.segments.size() == 2);
  CHECK(m.statistics.segments[0].compute.count == 0);
  const lv::segment_statistics& s = m.statistics.segments[1];
  CHECK(s.upload.count == count);
  CHECK(s.compute.count == count);
  CHECK(s.download.count == count);
  CHECK(s.compute.max > 0);
  CHECK(m.trace.overwritten == 0);

  std::uint64_t whole = 0;
  for (const auto& [number, events] : m.items) {
    if (!events.contains(lv::trace_kind::device)) continue;
    CAPTURE(number);
    REQUIRE(events.contains(lv::trace_kind::download));
    const auto& device = events.at(lv::trace_kind::device);
    const auto &upload = events.at(lv::trace_kind::upload), &compute = events.at(lv::trace_kind::compute),
               &download = events.at(lv::trace_kind::download);
    CHECK(device.begin <= upload.begin);
    CHECK(upload.begin <= upload.end);
    CHECK(upload.end <= compute.begin);
    CHECK(compute.begin <= compute.end);
    CHECK(compute.end <= download.begin);
    CHECK(download.begin <= download.end);
    CHECK(download.end <= device.end);
    CHECK(compute.what == 1);
    ++whole;
  }
  CHECK(whole == count);
}

TEST_CASE("the parts of successive items overlap") {
  LEVADA_NEEDS_DEVICE();
  if (!has_timestamps()) return;
  const measured m = run(with_own_submissions());
  std::size_t uploads = 0, computes = 0;
  for (std::uint64_t i = 0; i + 1 < count; ++i) {
    const auto &one = m.items.at(i), &next = m.items.at(i + 1);
    using enum lv::trace_kind;
    uploads += next.at(upload).begin < one.at(compute).end;
    computes += next.at(compute).begin < one.at(download).end;
  }
  MESSAGE(uploads, " uploads began before the item ahead was computed, ", computes,
          " computed before it was downloaded");
  CHECK(uploads > 0);
  CHECK(computes > 0);
}

TEST_CASE("where memory is used in place nothing is copied, and one submission has the same parts as three") {
  LEVADA_NEEDS_DEVICE();
  if (!has_timestamps()) return;
  const measured staged = run(with_staging());
  CHECK(staged.statistics.segments[1].upload.count == count);
  CHECK(staged.statistics.segments[1].download.count == count);
  bool in_place = false;
  {
    const lv::detail::vulkan_context open(0, {});
    in_place = lv::detail::is_in_place(open.memory(), lv::detail::block_use::to_device);
  }
  const measured plain = run({});
  CHECK(plain.statistics.segments[1].compute.count == count);
  CHECK(plain.statistics.segments[1].upload.count == (in_place ? 0 : count));
}

TEST_CASE("measuring may begin and end while items are on their way, and costs nothing before") {
  LEVADA_NEEDS_DEVICE();
  if (!has_timestamps()) return;
  const auto app = lv::deploy<box, lv::slots<8>>(pipeline());
  auto session = app.open();
  const auto computed = [&] { return session.statistics().segments[1].compute.count; };
  for (int i = 0; i < 8; ++i) session.push(item{});
  CHECK(computed() == 0);
  session.measure();
  for (int i = 0; i < 8; ++i) CHECK(session.pop().has_value());
  const std::uint64_t before = computed();
  CHECK(before <= 8);
  for (int i = 0; i < 8; ++i) session.push(item{});
  for (int i = 0; i < 8; ++i) CHECK(session.pop().has_value());
  CHECK(computed() == before + 8);
  session.measure(false);
  for (int i = 0; i < 8; ++i) session.push(item{});
  for (int i = 0; i < 8; ++i) CHECK(session.pop().has_value());
  CHECK(computed() == before + 8);
}

TEST_CASE("reports and trace files show the parts") {
  LEVADA_NEEDS_DEVICE();
  if (!has_timestamps()) return;
  const measured m = run(with_staging());
  const std::string text = lv::report(m.statistics);
  CAPTURE(text);
  CHECK(text.find("upload of segment 1") != std::string::npos);
  CHECK(text.find("compute of segment 1") != std::string::npos);
  CHECK(text.find("download of segment 1") != std::string::npos);
  std::ostringstream file;
  lv::write_trace(file, m.trace);
  CHECK(file.str().find("\"name\":\"compute\",\"ph\":\"b\"") != std::string::npos);
}

}  // namespace spirv_times
