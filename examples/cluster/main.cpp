// SPDX-License-Identifier: Apache-2.0
// The network of examples/fashion_mnist, split over the four ranks of an MPI program:
//
//   mpirun -n 4 cluster
//
// Rank 0 reads the pictures and names what was found. Each other rank computes some of the layers, and says the same as
// the whole network on rank 0.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../common/fashion_mnist.hpp"
#include "../common/progress.hpp"
#include "../common/run.hpp"
#include "../fashion_mnist/network.hpp"

#include <CLI/CLI.hpp>
#include <levada/cluster.hpp>
#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>

namespace {

namespace lv = levada;
namespace fashion = example::fashion_mnist;

using box = lv::target<lv::cpu<2>, lv::mpi<1, lv::cpu<1>>, lv::mpi<2, lv::cpu<1>>, lv::mpi<3, lv::cpu<1>>>;

auto split_classifier(const lv::safetensors& weights) {
  // clang-format off
  return lv::input<fashion::picture>
      | lv::on<lv::mpi<1>>(
            lv::transform<"normalise">([](auto px) { return to_float(px) / 255.0f; })
          | lv::nn::conv2d<"conv1", 8, lv::size<5, 5>, lv::padding<2>>(weights)
          | lv::nn::relu | lv::nn::max_pool2d<2>)
      | lv::on<lv::mpi<2>>(
            lv::nn::conv2d<"conv2", 16, lv::size<5, 5>, lv::padding<2>>(weights)
          | lv::nn::relu | lv::nn::max_pool2d<3>)
      | lv::on<lv::mpi<3>>(lv::nn::flatten | lv::nn::dense<"dense", 10>(weights) | lv::nn::softmax)
      | lv::stage<"label">([](const lv::tensor<float, 10>& p) { return lv::argmax(p); });
  // clang-format on
}

template <class App>
std::vector<int> classify(App app, const std::vector<fashion::picture>& pictures, const char* by) {
  std::vector<int> labels;
  labels.reserve(pictures.size());
  example::progress bar(by, pictures.size());
  for (auto&& label : app.stream(pictures)) {
    labels.push_back(label.value());
    bar.advance();
  }
  return labels;
}

int drive(const lv::cluster& ranks, const lv::safetensors& weights, const std::string& data, std::size_t limit) {
  fashion::labelled set = fashion::read(fashion::folder(data), "t10k");
  if (limit < set.pictures.size()) set.pictures.resize(limit);
  const auto together = classify(lv::deploy<box>(split_classifier(weights), ranks), set.pictures, "on four ranks");
  const auto alone = classify(lv::deploy<lv::target<lv::cpu<2>>>(fashion::classifier(weights)), set.pictures, "on one");
  std::size_t correct = 0, unlike = 0;
  for (std::size_t i = 0; i < together.size(); ++i) {
    correct += together[i] == set.labels[i] ? 1u : 0u;
    unlike += together[i] != alone[i] ? 1u : 0u;
  }
  std::printf("%zu of %zu pictures have their label; %zu differ from those of one process\n", correct, together.size(),
              unlike);
  return unlike == 0 && correct > together.size() * 8 / 10 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  lv::cluster ranks(count, arguments);
  CLI::App program("Classifies pictures by a network that is split over four ranks", "cluster");
  std::string data, file = LEVADA_SOURCE_DIR "/examples/fashion_mnist/weights.safetensors";
  std::size_t limit = 10'000;
  program.add_option("--data", data, "the folder of Fashion-MNIST, where it is not that of Debian's package");
  program.add_option("--weights", file, "the weights that examples/fashion_mnist/train.py writes");
  program.add_option("--limit", limit, "so many pictures at most");
  CLI11_PARSE(program, count, arguments);
  return example::run([&] {
    if (ranks.size() != 4) throw lv::error("start it on four ranks: mpirun -n 4 cluster");
    const lv::safetensors weights{file};
    if (ranks.rank() == 0) return drive(ranks, weights, data, limit);
    lv::serve<box>(split_classifier(weights), ranks);  // until rank 0 ends
    return 0;
  });
}
