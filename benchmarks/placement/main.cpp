// SPDX-License-Identifier: Apache-2.0
// Networks over the backends simd, onednn and eigen on the processor and spirv on the first Vulkan device: the
// partition that measured costs choose against one backend wherever it can.
//
//   bench_placement [SECONDS] [NETWORK]     contests, each for so many seconds (20)
//   bench_placement --profile [NETWORK]     measures what is missing in costs/ for this machine; build again then

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>

#include "programs.hpp"

namespace {

struct network {
  std::string_view name;
  void (*profile)();
  void (*contest)(double);
};
constexpr network networks[] = {
    {"fashion", &placement::profile_fashion, &placement::contest_fashion},
    {"mobilenet", &placement::profile_mobilenet, &placement::contest_mobilenet},
    {"resnet18", &placement::profile_resnet18, &placement::contest_resnet18},
    {"squeezenet", &placement::profile_squeezenet, &placement::contest_squeezenet},
};

}  // namespace

int main(int count, char** arguments) {
  bool profiles = false;
  double seconds = 20;
  std::string_view only;
  for (int i = 1; i < count; ++i)
    if (std::strcmp(arguments[i], "--profile") == 0)
      profiles = true;
    else if (const double given = std::atof(arguments[i]); given > 0)
      seconds = given;
    else
      only = arguments[i];
  try {
    for (const network& n : networks)
      if (only.empty() || only == n.name) profiles ? n.profile() : n.contest(seconds);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
