// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion/contenders.hpp: what is measured of each contender: the model on one picture, and picture -> label over many,
// on one thread and on two. A network has its input as a member `in` and gives the logits by `run()`.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "../../examples/quantized/network.hpp"
#include "model.hpp"

namespace fashion {

using box = levada::target<levada::cpu<2>>;

/// The model as it is, or what `computed` makes of it.
template <class Computed = example::fashion_mnist::anywhere>
auto deployed_model(Computed computed = {}) {
  namespace nn = levada::nn;
  const auto& w = weights_file();
  // clang-format off
  return levada::deploy<box>(
      levada::input<pixels>
      | computed(nn::conv2d<"conv1", 8, levada::size<5, 5>, levada::padding<2>>(w) | nn::relu | nn::max_pool2d<2>
      | nn::conv2d<"conv2", 16, levada::size<5, 5>, levada::padding<2>>(w) | nn::relu | nn::max_pool2d<3>
      | nn::flatten | nn::dense<"dense", 10>(w)));
  // clang-format on
}

using by_integers = example::fashion_mnist::by_integers<levada::scales_of<network_scales>>;

/// The whole demo.
struct deployed_demo {
  auto operator()() const { return levada::deploy<box>(example::fashion_mnist::classifier(weights_file())); }
};
/// The same by integers.
struct quantized_demo {
  auto operator()() const {
    return levada::deploy<box>(
        example::fashion_mnist::quantized_classifier(weights_file(), levada::scales<network_scales>));
  }
};

/// And with bfloat16.
struct bfloat16_demo {
  auto operator()() const {
    return levada::deploy<box>(example::fashion_mnist::classifier(weights_file(), example::fashion_mnist::anywhere{},
                                                                  example::fashion_mnist::by_bfloat16{}));
  }
};

/// The model alone, called as any user calls it.
template <class Computed = example::fashion_mnist::anywhere>
class with_levada {
 public:
  pixels in;

  const logits& run() { return result_ = app_(in); }

 private:
  decltype(deployed_model(Computed{})) app_ = deployed_model(Computed{});
  logits result_;
};

/// The demo's pipeline.
template <class Deployed>
class levada_labels {
 public:
  void inline_(const std::vector<picture>& pictures, labels& to) {
    for (std::size_t i = 0; i < pictures.size(); ++i) to[i] = app_(pictures[i]);
  }
  void streamed(const std::vector<picture>& pictures, labels& to) {
    std::size_t i = 0;
    for (auto&& label : app_.stream(pictures)) to[i++] = label.value();
  }

 private:
  decltype(Deployed{}()) app_ = Deployed{}();
};

/// A peer as its users would stream with it: two threads, a network each on common weights, taking pictures by turns.
/// Softmax, which does not change the label, is spared them.
template <class Network>
class peer_labels {
 public:
  void inline_(const std::vector<picture>& pictures, labels& to) {
    for (std::size_t i = 0; i < pictures.size(); ++i) to[i] = label(first_, pictures[i]);
  }
  void streamed(const std::vector<picture>& pictures, labels& to) {
    constexpr std::size_t portion = 64;
    std::atomic<std::size_t> next = 0;
    const auto work = [&](Network& network) {
      for (std::size_t begin; (begin = next.fetch_add(portion)) < pictures.size();)
        for (std::size_t i = begin; i < std::min(begin + portion, pictures.size()); ++i)
          to[i] = label(network, pictures[i]);
    };
    const std::jthread other([&] { work(second_); });
    work(first_);
  }

 private:
  static std::int64_t label(Network& network, const picture& p) {
    normalise(p, network.in);
    return levada::argmax(network.run());
  }

  std::shared_ptr<typename Network::shared> common_ = std::make_shared<typename Network::shared>();
  Network first_{common_}, second_{common_};
};

}  // namespace fashion
