// SPDX-License-Identifier: Apache-2.0
// Parts of a line that the search places on another machine by itself: where that is cheaper, its ways among it.

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/levada.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/detail/report.hpp>
#include <levada/plan/detail/transfers.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace remote_by_cost {

namespace lv = levada;

using edge = lv::remote<"edge">;
using box = lv::target<lv::cpu<1>, lv::remote<"edge", lv::cpu<2>>>;
using v1 = lv::version<"1">;
using row = lv::tensor<float, 6>;
constexpr lv::device_id here{lv::device_kind::cpu};

/// A light op, a heavy one, and a light one.
constexpr auto line = lv::input<row> | lv::nn::neg | lv::nn::erf | lv::nn::tanh;

constexpr lv::kernel_cost here_kernels[] = {{"simd", "neg(float[6]) -> float[6], 6 FLOP", 1e-6},
                                            {"simd", "erf(float[6]) -> float[6], 6 FLOP", 1e-3},
                                            {"simd", "tanh(float[6]) -> float[6], 6 FLOP", 1e-6}};
constexpr lv::kernel_cost there_kernels[] = {{"simd", "neg(float[6]) -> float[6], 6 FLOP", 5e-6},
                                             {"simd", "erf(float[6]) -> float[6], 6 FLOP", 1e-4},
                                             {"simd", "tanh(float[6]) -> float[6], 6 FLOP", 5e-6}};
/// Of what was not measured: ops that are fused.
constexpr lv::roofline here_lines[] = {{"simd", 1e4, 1e4, 0}};
constexpr lv::cost_table node_table{.machine = "the node", .kernels = there_kernels};

constexpr lv::transfer_cost fast_way[] = {{here, edge::id, 1e-4, 1e-9}, {edge::id, here, 1e-4, 1e-9}};
constexpr lv::transfer_cost slow_way[] = {{here, edge::id, 1e-3, 1e-9}, {edge::id, here, 1e-4, 1e-9}};
constexpr lv::cost_table fast{
    .machine = "the driver", .kernels = here_kernels, .transfers = fast_way, .rooflines = here_lines};
constexpr lv::cost_table slow{
    .machine = "the driver", .kernels = here_kernels, .transfers = slow_way, .rooflines = here_lines};
constexpr lv::cost_table no_way{.machine = "the driver", .kernels = here_kernels, .rooflines = here_lines};

using known = lv::node_costs<"edge", node_table>;

template <class... Options, class Pipeline>
auto driver(Pipeline pipeline, const std::shared_ptr<lv::transport>& by) {
  return lv::deploy<box, v1, Options...>(pipeline, lv::endpoints<"edge">{by, {"a"}});
}
template <class Pipeline, class... Options>
using app_of = decltype(driver<Options...>(std::declval<Pipeline>(), nullptr));

/// How many stages of a driver's plan are of its own, and how many segments are there.
struct parted {
  std::size_t stages_here = 0, segments_there = 0;
  bool operator==(const parted&) const = default;
};
template <class App>
constexpr parted parts_of() {
  parted found{App::plan.nodes};
  for (const lv::planned_segment& s : App::plan.segment)
    if (s.device == edge::id) --found.stages_here, ++found.segments_there;
  return found;
}
template <class Pipeline, class... Options>
constexpr parted parts_with = parts_of<app_of<Pipeline, Options...>>();

using line_type = decltype(line);
static_assert(parts_with<line_type, lv::costs<fast>, known> == parted{2, 1}, "the heavy op alone");
static_assert(parts_with<line_type, lv::costs<slow>, known> == parted{3, 0}, "the way takes more than it saves");
static_assert(parts_with<line_type, lv::costs<no_way>, known> == parted{3, 0}, "nobody has measured the way");
static_assert(parts_with<line_type, known> == parted{3, 0}, "nobody asked for a search");

constexpr lv::kernel_cost vague_kernels[] = {{"simd", "neg(float[6]) -> float[6], 6 FLOP", 1e-6},
                                             {"simd", "erf(float[6]) -> float[6], 6 FLOP", 1e-3, 7.5e-4},
                                             {"simd", "tanh(float[6]) -> float[6], 6 FLOP", 1e-6}};
constexpr lv::cost_table vague{
    .machine = "the driver", .kernels = vague_kernels, .transfers = fast_way, .rooflines = here_lines};
static_assert(parts_with<line_type, lv::costs<vague>, known> == parted{3, 0},
              "it saves 0.7 ms, of which 0.75 are vague");
constexpr lv::cost_table some_unknown{.machine = "the driver", .kernels = here_kernels, .transfers = fast_way};
static_assert(parts_with<line_type, lv::costs<some_unknown>, known> == parted{3, 0},
              "nobody knows what ops that are fused take here");

/// So many of the heavy op behind a light one.
template <std::size_t Count>
constexpr auto heavy_line = heavy_line<Count - 1> | lv::nn::erf;
template <>
constexpr auto heavy_line<0> = lv::input<row> | lv::nn::neg;
static_assert(parts_with<decltype(heavy_line<47>), lv::costs<fast>, known> == parted{1, 1},
              "48 ops are within the compilers' limits");

// ---- items a second: the ways load the devices that take what they bring ----

constexpr lv::transfer_cost loading_way[] = {{here, edge::id, 1e-3, 0}, {edge::id, here, 2e-4, 0}};
constexpr lv::cost_table loading{
    .machine = "the driver", .kernels = here_kernels, .transfers = loading_way, .rooflines = here_lines};
static_assert(parts_with<line_type, lv::costs<loading>, known> == parted{3, 0}, "1.2 ms of ways for 0.9 ms");
static_assert(parts_with<line_type, lv::costs<loading, lv::objective::throughput>, known>.segments_there == 1,
              "two threads there, with half of 1.1 ms each, and 0.2 ms here");
static_assert(parts_with<line_type, lv::costs<fast, lv::objective::devices>, known> == parted{3, 0});

// ---- two such devices ----

using far = lv::remote<"far">;
using two_boxes = lv::target<lv::cpu<1>, lv::remote<"edge", lv::cpu<2>>, lv::remote<"far", lv::cpu<2>>>;
using two_heavy = decltype(lv::input<row> | lv::nn::erf | lv::nn::tanh);
constexpr lv::kernel_cost both_here[] = {{"simd", "erf(float[6]) -> float[6], 6 FLOP", 1e-3},
                                         {"simd", "tanh(float[6]) -> float[6], 6 FLOP", 1e-3}};
constexpr lv::kernel_cost both_near[] = {{"simd", "erf(float[6]) -> float[6], 6 FLOP", 1e-4},
                                         {"simd", "tanh(float[6]) -> float[6], 6 FLOP", 4e-4}};
constexpr lv::kernel_cost one_far[] = {{"simd", "tanh(float[6]) -> float[6], 6 FLOP", 1e-4}};
template <int Microseconds>
constexpr double way_seconds = 1e-6 * Microseconds;
template <int Microseconds>
inline constexpr lv::transfer_cost ways_to_both[] = {{here, edge::id, way_seconds<Microseconds>, 0},
                                                     {edge::id, here, way_seconds<Microseconds>, 0},
                                                     {here, far::id, way_seconds<Microseconds>, 0},
                                                     {far::id, here, way_seconds<Microseconds>, 0}};
template <int Microseconds>
inline constexpr lv::cost_table of_both{
    .machine = "the driver", .kernels = both_here, .transfers = ways_to_both<Microseconds>, .rooflines = here_lines};
constexpr lv::cost_table near_table{.machine = "near", .kernels = both_near};
constexpr lv::cost_table far_table{.machine = "far", .kernels = one_far};

template <int Microseconds>
using app_of_two = decltype(lv::deploy<two_boxes, v1, lv::costs<of_both<Microseconds>>,
                                       lv::node_costs<"edge", near_table>, lv::node_costs<"far", far_table>>(
    two_heavy{}, lv::endpoints<"edge">{nullptr, {"a"}}, lv::endpoints<"far">{nullptr, {"b"}}));
template <int Microseconds, class Device>
constexpr bool is_used = [] {
  for (const lv::planned_segment& s : app_of_two<Microseconds>::plan.segment)
    if (s.device == Device::id) return true;
  return false;
}();
static_assert(is_used<10, edge> && is_used<10, far>, "each has what it is the best for");
static_assert(is_used<300, edge> && !is_used<300, far>, "what goes from one to the other comes by here");

// ---- what may not go ----

/// It says where something is.
using located = std::span<const float, 6>;
constexpr lv::kernel_cost heavy_stages[] = {{"callable", "heavy(float[6]) -> float[6]", 1e-3},
                                            {"callable", "locate(float[6]) -> 8 bytes", 1e-3},
                                            {"callable", "found(8 bytes) -> float[6]", 1e-3},
                                            {"callable", "count(float[6]) -> float[6]", 1e-3}};
constexpr lv::kernel_cost quick_stages[] = {{"callable", "heavy(float[6]) -> float[6]", 1e-5},
                                            {"callable", "locate(float[6]) -> 8 bytes", 1e-5},
                                            {"callable", "found(8 bytes) -> float[6]", 1e-5},
                                            {"callable", "count(float[6]) -> float[6]", 1e-5}};
constexpr lv::cost_table stages_here{.machine = "the driver", .kernels = heavy_stages, .transfers = fast_way};
constexpr lv::cost_table stages_there{.machine = "the node", .kernels = quick_stages};
using stages = lv::costs<stages_here>;
using stages_known = lv::node_costs<"edge", stages_there>;
using nothing_known = lv::node_costs<"edge", no_way>;

constexpr auto heavy = lv::stage<"heavy">([](const row& r) { return r; });
constexpr auto pointing = lv::stage<"locate">([](const row& r) { return located(r.data(), 6); });
constexpr auto found = lv::stage<"found">([](const located& l) { return row{l[0]}; });

using one = decltype(lv::input<row> | heavy);
static_assert(parts_with<one, stages, stages_known> == parted{0, 1});
static_assert(parts_with<one, stages, nothing_known> == parted{1, 0}, "nobody knows what it takes there");

using between = decltype(lv::input<row> | pointing | found);
static_assert(!lv::has_wire_form<located>);
static_assert(parts_with<between, stages, stages_known> == parted{0, 1}, "both, with what is between them");
using in_front = decltype(lv::input<located> | found);
static_assert(parts_with<in_front, stages, stages_known> == parted{1, 0}, "it does not fit the wire");
using behind = decltype(lv::input<row> | pointing);
static_assert(parts_with<behind, stages, stages_known> == parted{1, 0}, "nor does its result");

struct counting {
  float seen = 0;
  row operator()(const row& r) {
    ++seen;
    return row{r[0] + seen};
  }
};
using with_state = decltype(lv::input<row> | lv::stage<"count">(counting{}));
static_assert(parts_with<with_state, stages, stages_known> == parted{1, 0}, "its state would be lost");
static_assert(parts_with<with_state, stages, stages_known, lv::state_restarts> == parted{0, 1});

constexpr auto first = [](const row& a, const row&) { return a; };
using branches = decltype(lv::input<row> | lv::fork(heavy, lv::named<"light">(lv::nn::neg)) | lv::join<"first">(first));
static_assert(parts_with<branches, stages, stages_known> == parted{3, 0}, "not out of a branch, nor what is not known");

using pinned_here = decltype(lv::input<row> | lv::on<lv::cpu<1>>(heavy));
static_assert(parts_with<pinned_here, stages, stages_known> == parted{1, 0});
using pinned_there = decltype(lv::input<row> | heavy | lv::on<edge>(lv::nn::neg) | heavy);
static_assert(parts_with<pinned_there, stages, stages_known> == parted{2, 1}, "a pin decides alone");

static_assert(parts_with<one, stages, stages_known, lv::budget<lv::traffic<2 * sizeof(row)>>> == parted{0, 1});
static_assert(parts_with<one, stages, stages_known, lv::budget<lv::traffic<2 * sizeof(row) - 1>>> == parted{1, 0});

// ---- a node plans by its own costs ----

static_assert(std::is_same_v<lv::detail::options_of_node<"edge", v1, lv::slots<8>, lv::costs<fast>, known>,
                             lv::type_list<lv::slots<8>, lv::costs<node_table>>>);

// ---- what is placed there runs there ----

TEST_CASE("what the search places on another machine runs there") {
  const auto by = std::make_shared<lv::in_process>();
  const lv::remote_node node = lv::serve<box, "edge", v1, lv::costs<fast>, known>(line, {by, "a"});
  auto app = lv::deploy<box, v1, lv::costs<fast>, known>(line, lv::endpoints<"edge">{by, {"a"}});
  {
    auto session = app.open();
    session.push(row{0.5f});
    CHECK(session.pop()->value()[0] == doctest::Approx(std::tanh(std::erf(-0.5))));
    CHECK(node.sessions() == 1);
  }
  int next = 0;
  for (auto&& r : app.stream(std::vector<row>(100, row{0.5f})))
    next += r.value()[0] == doctest::Approx(std::tanh(std::erf(-0.5))) ? 1 : 0;
  CHECK(next == 100);
}

TEST_CASE("without a node, what is placed there is an error, and what stays here needs none") {
  const auto nowhere = std::make_shared<lv::in_process>();
  CHECK_THROWS_AS((driver<lv::costs<fast>, known>(line, nowhere)), lv::remote_error);
  CHECK(driver<lv::costs<slow>, known>(line, nowhere)(row{0.5f})[0] == doctest::Approx(std::tanh(std::erf(-0.5))));
}

TEST_CASE("a plan has the bytes over the wire, and what was measured of the ways") {
  using app = app_of<line_type, lv::costs<fast>, known>;
  constexpr std::size_t ways = lv::transfers_of(app::plan).size();
  static_assert(ways == 2);
  for (const lv::planned_transfer& t : lv::transfers_of(app::plan)) {
    CHECK(t.bytes == sizeof(row));
    CHECK(t.price.origin == lv::cost_origin::measured);
    CHECK(t.seconds() == doctest::Approx(1e-4 + 1e-9 * sizeof(row)));
  }
  CHECK(lv::text_report(app::plan).find("what neg gives goes from cpu to remote<\"edge\">: float[6], 64 B, once an "
                                        "item, 100.1 us, measured") != std::string::npos);
}

}  // namespace remote_by_cost
