// SPDX-License-Identifier: Apache-2.0
// Regions given to a backend by hand: it computes them as one where it takes them, whatever others would; else the
// sentence says why not.

#include <concepts>

#include <doctest/doctest.h>

#include <levada/backend/prepared.hpp>
#include <levada/backend/reference/detail/activation.hpp>
#include <levada/graph/detail/fork.hpp>
#include <levada/interop/report.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/broadcast.hpp>
#include <levada/plan/detail/combine.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/simulated.hpp>

namespace run_on_backend {

namespace lv = levada;

using vector = lv::tensor<float, 6>;
using box = lv::target<lv::cpu<2>>;

int runs = 0;

/// Takes what its rules find, of floats; gives 1000 more than it takes, so that it shows.
template <class Rules, lv::device_kind On = lv::device_kind::cpu>
struct marking {
  static constexpr std::string_view name = "marking";
  static constexpr lv::device_kind device = On;
  static constexpr std::size_t longest_run = 4;
  static constexpr auto rules = Rules::value;
  static constexpr bool takes(lv::op_run run) { return run.front().input().type == lv::element::f32; }
  static std::size_t prepare(lv::op_run run, lv::parameter_values) { return run.front().gives.extents.elements(); }
  static void run(const std::size_t& elements, const void* const* inputs, void* output, std::byte*) {
    for (std::size_t i = 0; i < elements; ++i)
      static_cast<float*>(output)[i] = static_cast<const float*>(inputs[0])[i] + 1000;
    ++runs;
  }
  template <class In, class... Ops>
  using kernel = lv::prepared_kernel<marking, In, Ops...>;
};

constexpr auto any = [](const lv::node_info&) { return true; };
struct chains_of_two {
  static constexpr auto value =
      lv::union_of(lv::composite("alone", lv::single(any)), lv::only_valid(lv::chains(any, 8), {.depth = 2}));
};
struct relu_first {
  static constexpr auto value = lv::matching(lv::is("softmax")(lv::is("relu")));
};
struct combined {
  static constexpr auto value = lv::combine(lv::single(any), {.depth = 2, .exits = 1}, lv::unconditionally);
};
using pairs = marking<chains_of_two>;
using with_pairs = lv::backends<lv::reference, pairs>;

constexpr auto input = lv::input<vector>;
using lv::nn::relu, lv::nn::softmax;

template <class Pipeline, class Why, lv::fixed_string Stages, class Target, class... Backends>
constexpr bool is_refused = std::same_as<lv::detail::deployment_mistake<Pipeline, Target, lv::backends<Backends...>>,
                                         lv::backend_cannot_take_this_region_as_one<"marking", Stages, Why>>;
template <class Why, lv::fixed_string Stages, class Backend = pairs>
constexpr bool refuses(auto part) {
  return is_refused<decltype(input | lv::on<Backend>(part)), Why, Stages, box, lv::reference, Backend>;
}

using too_deep = lv::its_longest_path_has_more_nodes_than_the_rules_allow;
static_assert(refuses<too_deep, "relu + relu + softmax">(relu | relu | softmax));
static_assert(refuses<too_deep, "relu + relu + softmax", marking<combined>>(relu | relu | softmax));
static_assert(refuses<lv::rules_of_the_backend_do_not_find_it, "softmax + relu", marking<relu_first>>(softmax | relu));
static_assert(refuses<lv::it_is_longer_than_what_the_backend_takes_as_one, "relu + relu + relu + relu + relu">(
    relu | relu | relu | relu | relu));
static_assert(refuses<lv::a_stage_in_it_is_no_op, "relu + own">(relu |
                                                                lv::stage<"own">([](const vector& v) { return v; })));
static_assert(refuses<lv::its_stages_are_not_in_a_line_of_which_each_gives_to_the_next_alone, "relu + softmax + add">(
    relu | lv::fork(softmax, lv::identity) | lv::nn::add));
static_assert(refuses<lv::a_border_of_two_segments_is_in_it, "relu + relu">(relu | lv::split_here | relu));
static_assert(is_refused<decltype(input | lv::on<pairs>(relu)), lv::backend_is_not_among_those_of_the_deployment,
                         "relu", box, lv::reference>);
using elsewhere = marking<chains_of_two, lv::device_kind::simulated>;
static_assert(
    refuses<lv::backend_computes_on_no_device_of_the_target_where_these_stages_may_run, "relu", elsewhere>(relu));
static_assert(is_refused<decltype(lv::input<lv::tensor<double, 6>> | lv::on<pairs>(relu)),
                         lv::backend_has_no_kernel_for_this_run_of_ops, "relu", box, lv::reference, pairs>);

TEST_CASE("a region given to a backend is one kernel of it, though others are preferred") {
  const auto app = lv::deploy<box, with_pairs>(input | relu | lv::on<pairs>(relu | softmax) | softmax);
  constexpr const auto& plan = decltype(app)::plan;
  static_assert(plan.unit.size() == 3 && plan.unit[1].count == 2);
  static_assert(plan.unit[0].backend == 0 && plan.unit[1].backend == 1 && plan.unit[2].backend == 0);
  vector in;
  in.fill(-1);
  runs = 0;
  CHECK(app(in)[0] == doctest::Approx(1.0 / 6));
  CHECK(runs == 1);
}

TEST_CASE("it is given to no other, however cheap, and is not cut") {
  static constexpr lv::roofline lines[] = {{"reference", 1e15, 1e15, 0}, {"marking", 1, 1, 1}};
  static constexpr lv::cost_table costs{.machine = "made up", .rooflines = lines};
  const auto app = lv::deploy<box, with_pairs, lv::costs<costs>>(
      input | lv::on<pairs>(relu | relu) | lv::on<pairs>(relu) | relu | lv::on<lv::reference>(relu));
  constexpr const auto& plan = decltype(app)::plan;
  static_assert(plan.unit.size() == 4);
  static_assert(plan.unit[0].count == 2 && plan.unit[0].backend == 1);
  static_assert(plan.unit[1].count == 1 && plan.unit[1].backend == 1);
  static_assert(plan.unit[2].backend == 0 && plan.unit[3].backend == 0);
}

TEST_CASE("it is on a device that computes for its backend") {
  using npu = marking<chains_of_two, lv::device_kind::simulated>;
  using target = lv::target<lv::cpu<2>, lv::simulated<0>>;
  const auto app =
      lv::deploy<target, lv::backends<lv::reference, npu>>(input | relu | lv::on<npu>(relu | softmax) | softmax);
  constexpr const auto& plan = decltype(app)::plan;
  static_assert(plan.segments == 3 && plan.segment[1].device == lv::simulated<0>::id && plan.unit[1].backend == 1);
  // The inner one counts, as with devices.
  using inner = decltype(lv::deploy<target, lv::backends<lv::reference, npu>>(
      input | lv::on<npu>(lv::on<lv::reference>(relu) | softmax)));
  static_assert(inner::plan.unit.size() == 2 && inner::plan.unit[0].backend == 0 && inner::plan.unit[1].backend == 1);
}

}  // namespace run_on_backend
