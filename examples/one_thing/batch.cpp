// SPDX-License-Identifier: Apache-2.0
// Four items are computed together, and go on one by one.

#include <array>
#include <cstdio>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  using number = lv::tensor<float, 1>;
  const auto share = lv::stage<"share">([](const lv::tensor<float, 4, 1>& four) {
    lv::tensor<float, 4, 1> shares = four;
    const float sum = four[0] + four[1] + four[2] + four[3];
    for (float& x : shares) x /= sum;
    return shares;
  });
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<number> | lv::batch<4> | share | lv::unbatch);
  std::array<number, 8> numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i][0] = static_cast<float>(i + 1);
  float sum = 0;
  for (auto&& result : app.stream(numbers)) sum += result.value()[0];
  std::printf("the shares of two batches: %g\n", static_cast<double>(sum));
  return sum > 1.999f && sum < 2.001f ? 0 : 1;
}
