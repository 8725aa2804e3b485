// SPDX-License-Identifier: Apache-2.0
// Measures the kernels of the demo on this machine and writes demo.costs.hpp, with which the demo is compiled.

#include <string>

#include "../common/fashion_mnist.hpp"
#include "../common/run.hpp"
#include "deployment.hpp"
#include "network.hpp"

#include <CLI/CLI.hpp>
#include <levada/interop/profile.hpp>
#include <levada/interop/safetensors.hpp>

int main(int argc, char** argv) {
  namespace lv = levada;
  namespace fashion = example::fashion_mnist;
  std::string costs, data, weights = LEVADA_SOURCE_DIR "/examples/fashion_mnist/weights.safetensors";
  CLI::App arguments("Measures the kernels of the demo.");
  arguments.add_option("--profile", costs, "Writes the costs to this header")->required();
  arguments.add_option("--data", data, "The folder of the data set; default LEVADA_FASHION_MNIST, then Debian's");
  arguments.add_option("--weights", weights, "The weights as a safetensors file")->capture_default_str();
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] {
    const auto set = fashion::read(fashion::folder(data), "t10k");
    const lv::safetensors file(weights);
    lv::profile<fashion::box, fashion::kernels>(fashion::classifier(file), set.pictures, costs,
                                                {.progress = lv::print_progress});
    return 0;
  });
}
