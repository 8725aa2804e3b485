// SPDX-License-Identifier: Apache-2.0
// The smallest whole program: a network with its weights as a static pipeline, one picture, and many.

#include <cstdio>
#include <vector>

#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

using picture = lv::tensor<std::uint8_t, 1, 28, 28>;
using box = lv::target<lv::cpu<2>>;  // what the deployment has: two threads of the processor

int main() try {
  const lv::safetensors weights{LEVADA_SOURCE_DIR "/examples/fashion_mnist/weights.safetensors"};

  // clang-format off
  const lv::pipeline classify = lv::input<picture>
      | lv::transform<"normalise">([](auto px) { return to_float(px) / 255.0f; })
      | lv::nn::conv2d<"conv1", 8, lv::size<5, 5>, lv::padding<2>>(weights) | lv::nn::relu | lv::nn::max_pool2d<2>
      | lv::nn::conv2d<"conv2", 16, lv::size<5, 5>, lv::padding<2>>(weights) | lv::nn::relu | lv::nn::max_pool2d<3>
      | lv::nn::flatten | lv::nn::dense<"dense", 10>(weights) | lv::nn::softmax
      | lv::stage<"label">([](const lv::tensor<float, 10>& p) { return lv::argmax(p); });
  // clang-format on

  auto app = lv::deploy<box>(classify);  // throws where a weight is missing or has another shape
  // The plan is a constant, of which a program may assert what it relies on.
  static_assert(decltype(app)::plan.segments == 1 && decltype(app)::plan.bytes_total < 4 << 20);

  // A pair of trousers, drawn by hand.
  picture trousers{};
  for (int y = 2; y < 26; ++y)
    for (int x = 9; x < 19; ++x) trousers(0, y, x) = y < 6 || x < 13 || x > 14 ? 200 : 0;

  std::printf("one picture: label %d\n", app(trousers));

  const std::vector<picture> pictures(1000, trousers);
  int count = 0;
  for (auto&& label : app.stream(pictures)) count += label.value() == 1;  // throws what its stages threw
  std::printf("a thousand pictures: %d times label 1, trouser\n", count);
  return count == 1000 ? 0 : 1;
} catch (const lv::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
