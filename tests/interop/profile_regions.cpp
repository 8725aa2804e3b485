// SPDX-License-Identifier: Apache-2.0
// A profile measures regions whose ops do not stand in a row, by the signature by which a deployment looks them up.

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include <levada/backend/reference/ops.hpp>
#include <levada/graph/detail/fork.hpp>
#include <levada/interop/profile.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/broadcast.hpp>
#include <levada/nn/element_wise.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/rules.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

#include <backend/interpreter.hpp>
#include <files.hpp>

namespace interop_profile_regions {

namespace lv = levada;

using box = lv::target<lv::cpu<1>>;
using item = lv::tensor<float, 2, 3>;

struct differences : lv::test::interpreter<differences> {
  static constexpr std::string_view name = "differences";
  static constexpr auto rules = lv::matching(lv::is("sub")(lv::is("neg"), lv::anything));
  static constexpr bool takes(const lv::region_info& region) { return knows(region); }
};

TEST_CASE("regions whose ops have others between them are measured, whoever is named first") {
  const lv::test::temporary_file to("levada_profile_regions.costs.hpp");
  const auto pipeline = lv::input<item> | lv::fork(lv::nn::neg, lv::nn::abs | lv::nn::relu) | lv::nn::sub;
  const lv::profile_options quick{.seconds_each = 1e-4, .rounds = 1, .seconds_wholes = 0.01, .progress = {}};
  lv::profile<box, lv::backends<lv::reference, differences>>(pipeline, std::vector<item>(1), to.path, quick);
  lv::detail::cost_header header(to.path, lv::detail::machine_text());
  CHECK(header.find("differences",
                    "neg(float[2x3]) -> float[2x3], 6 FLOP + sub(#1, float[2x3]) -> float[2x3], 6 FLOP") != nullptr);
  CHECK(header.find("reference", "neg(float[2x3]) -> float[2x3], 6 FLOP") != nullptr);

  const auto app = lv::deploy<box, lv::backends<differences, lv::reference>>(pipeline);
  static_assert(decltype(app)::plan.units == 3);
  const lv::additive_check check = lv::check_sum(app, header.table(), std::vector<item>(1), 0);
  CHECK(check.estimated + check.unknown == 0);
}

}  // namespace interop_profile_regions
