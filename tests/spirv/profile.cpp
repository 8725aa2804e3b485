// SPDX-License-Identifier: Apache-2.0
// levada::profile on a Vulkan device: its kernels by its own clock, and the ways there and back.

#include <string_view>
#include <vector>

#include <levada/backend/spirv/ops.hpp>
#include <levada/interop/profile.hpp>
#include <levada/nn/residual.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>

#include <files.hpp>

#include "device.hpp"

namespace spirv_profile {

using namespace spirv_test;

using item = lv::tensor<float, 5000>;
using kernels = lv::backends<lv::simd, lv::spirv>;

const auto pipeline = lv::input<item> | lv::nn::relu | lv::residual(lv::nn::softmax | lv::nn::exp) |
                      lv::stage<"first">([](const item& i) { return i[0]; });

TEST_CASE("kernels of a device and the ways to it are measured, and the search knows them") {
  LEVADA_NEEDS_DEVICE();
  const levada::test::temporary_file to("vulkan.costs.hpp");
  const lv::profile_options quick{.seconds_each = 1e-3, .rounds = 1, .seconds_wholes = 0.01, .progress = {}};
  const auto first = lv::profile<box, kernels>(pipeline, std::vector<item>(1), to.path, quick);
  lv::detail::cost_header header(to.path, lv::detail::machine_text());
  const lv::cost_table table = header.table();
  std::size_t on_device = 0, regions = 0;
  for (const lv::kernel_cost& k : table.kernels) {
    if (k.backend != "spirv" || k.seconds <= 0) continue;
    ++on_device;
    regions += k.signature.find("exp") != std::string_view::npos && k.signature.find("add") != std::string_view::npos;
  }
  CHECK(on_device >= 4);
  CHECK(regions == 1);                   // of two values
  REQUIRE(table.transfers.size() == 3);  // there, back, and an item into its slot
  for (const lv::transfer_cost& t : table.transfers) CHECK(t.seconds + 20000 * t.seconds_per_byte > 0);
  bool has_roofline = false;
  for (const lv::roofline& r : table.rooflines)
    has_roofline = has_roofline || (r.backend == "spirv" && r.launch_seconds > 0);
  CHECK(has_roofline);

  const auto second = lv::profile<box, kernels>(pipeline, std::vector<item>(1), to.path, quick);
  CHECK(second.measured == 0);
  CHECK(second.reused == first.measured);
  lv::detail::cost_header again(to.path, lv::detail::machine_text());
  CHECK(again.table().transfers.size() == 3);
  CHECK(again.table().rooflines.size() == table.rooflines.size());
}

}  // namespace spirv_profile
