// SPDX-License-Identifier: Apache-2.0
// What the way to another machine takes: measured over the loopback, and written beside the costs of kernels.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <levada/interop/profile.hpp>
#include <levada/interop/profile_way.hpp>
#include <levada/levada.hpp>
#include <levada/remote/grpc.hpp>

#include "files.hpp"

namespace remote_profile_way {

namespace lv = levada;
using levada::test::contents_of;
using levada::test::temporary_file;

using edge = lv::remote<"edge">;
using box = lv::target<lv::cpu<1>, lv::remote<"edge", lv::cpu<1>>>;
using row = lv::tensor<float, 6>;
constexpr lv::device_id here{lv::device_kind::cpu};
const lv::profile_options quick{.seconds_each = 1e-3, .rounds = 1, .seconds_wholes = 0, .progress = {}};

TEST_CASE("a way has half of an empty item's time, and a time for each byte") {
  std::vector<std::size_t> asked;
  const lv::way_costs found = lv::detail::measure_way(edge::id, [&](std::size_t there, std::size_t back) {
    asked.push_back(there + back);
    return 40e-6 + 2e-9 * static_cast<double>(there) + 0.5e-9 * static_cast<double>(back);
  });
  CHECK(found.there.seconds == doctest::Approx(20e-6));
  CHECK(found.back.seconds == doctest::Approx(20e-6));
  CHECK(found.there.seconds_per_byte == doctest::Approx(2e-9));
  CHECK(found.back.seconds_per_byte == doctest::Approx(0.5e-9));
  CHECK(std::ranges::max(asked) == std::size_t{1} << 20);
}

TEST_CASE("the way is measured, and is a part of the header of costs") {
  const temporary_file to("box.costs.hpp");
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  lv::profile<box>(lv::input<row> | lv::nn::neg, std::vector<row>(1), to.path, quick);
  lv::way_costs found;
  {
    const lv::remote_node node = lv::serve_way<"edge">({by, "127.0.0.1:0"});
    const lv::endpoints<"edge"> way{by, {node.address()}};
    found = lv::profile_way(way, to.path, quick);
  }
  CHECK(found.there.from == here);
  CHECK(found.there.to == edge::id);
  CHECK(found.back.from == edge::id);
  CHECK(found.back.to == here);
  // How long it takes is the machine's: beside other work an empty item may take longer than a large one.
  for (const lv::transfer_cost& way : {found.there, found.back}) {
    CHECK(way.seconds > 1e-6);  // wake-ups of threads
    CHECK(way.seconds_per_byte >= 0);
  }

  lv::detail::cost_header header(to.path, lv::detail::machine_text());
  CHECK(header.find("simd", "neg(float[6]) -> float[6], 6 FLOP") != nullptr);
  const lv::cost_table table = header.table();
  CHECK(lv::transfer_of(table, here, edge::id).seconds == doctest::Approx(found.there.seconds).epsilon(1e-3));
  CHECK(lv::transfer_of(table, edge::id, here).seconds_per_byte ==
        doctest::Approx(found.back.seconds_per_byte).epsilon(1e-3));

  // Measured again, the other costs do not take the place of the way's.
  lv::profile<box>(lv::input<row> | lv::nn::erf, std::vector<row>(1), to.path, quick);
  CHECK(lv::detail::cost_header(to.path, lv::detail::machine_text()).has_transfer(here, edge::id));
  CHECK(contents_of(to.path).find("{levada::device_kind::cpu, 0}, {levada::device_kind::remote, ") !=
        std::string::npos);
}

TEST_CASE("where no node serves the way, nothing is measured") {
  const temporary_file to("box.costs.hpp");
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  const lv::endpoints<"edge"> nowhere{by, {"127.0.0.1:9"}};
  CHECK_THROWS_AS(lv::profile_way(nowhere, to.path, quick), lv::remote_error);
  CHECK(contents_of(to.path).empty());
}

}  // namespace remote_profile_way
