// SPDX-License-Identifier: Apache-2.0
// A profile measures what stands inside other stages as what stands around them.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <levada/backend/simd/detail/activation.hpp>
#include <levada/backend/simd/detail/reshape.hpp>
#include <levada/interop/profile.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/reshape.hpp>
#include <levada/run/detail/deploy/for_each.hpp>
#include <levada/run/detail/deploy/route.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

#include <files.hpp>

namespace interop_profile_inside {

namespace lv = levada;

TEST_CASE("kernels and callables inside a route inside a for_each are measured") {
  using crop = lv::tensor<float, 2, 3>;
  using crops = lv::bounded<crop, 4>;
  const auto pipeline =
      lv::input<crop> | lv::stage<"cut">([](const crop& c) {
        return crops{c, c};
      }) |
      lv::for_each<4>(lv::route<"sign">([](const crop& c) { return c[0] > 0; }, lv::nn::relu | lv::nn::flatten,
                                        lv::nn::flatten | lv::nn::softmax) |
                      lv::stage<"sum">([](const lv::tensor<float, 6>& t) { return t[0] + t[1]; })) |
      lv::collect;
  const levada::test::temporary_file to("inside.costs.hpp");
  const auto measure = [&] {
    return lv::profile<lv::target<lv::cpu<1>>, lv::backends<lv::simd>>(
        pipeline, std::vector<crop>(1), to.path,
        {.seconds_each = 1e-4, .rounds = 1, .seconds_wholes = 0, .progress = {}});
  };
  const auto first = measure();
  const std::string text = levada::test::contents_of(to.path);
  const auto again = measure();
  for (const char* line : {"\"callable\", \"cut(float[2x3]) -> ", "\"simd\", \"relu(float[2x3]) -> float[2x3]",
                           "\"simd\", \"softmax(float[6]) -> float[6]", "\"callable\", \"sum(float[6]) -> 4 bytes\""})
    CHECK_MESSAGE(text.find(line) != std::string::npos, line);
  CHECK(again.measured == 0);
  CHECK(again.reused >= first.measured);
}

}  // namespace interop_profile_inside
