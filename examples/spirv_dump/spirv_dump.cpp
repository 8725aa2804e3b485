// SPDX-License-Identifier: Apache-2.0
// Three kernels, each a lambda, printed as what they become: instructions, GLSL, and the words of a SPIR-V module that
// the compiler made. The third is a loop over a grid. `spirv_dump --save FOLDER` also writes the modules, for spirv-dis
// and spirv-val.

#include <cstdio>
#include <string>
#include <string_view>

#include <levada/kernel.hpp>

namespace lv = levada;

constexpr auto scale_and_clip = [](auto pixel) { return clamp(pixel / 255.0f * 2.0f - 1.0f, -1.0f, 1.0f); };

constexpr auto blend = [mix = lv::uniform{0.25f}](auto a, auto b) { return tanh(a + (b - a) * mix); };

constexpr auto row_sums = lv::grid_kernel<"row_sums", lv::tensor<float, 100, 64>, lv::tensor<float, 100>>(
    lv::grid<100>{}, [](auto g, auto in, auto out) {
      auto row = g.x();
      out(row) = g.fold(0, 64, 0.0f, [&](auto i, auto sum) { return sum + in(row, i); });
    });

template <class Kernel, class Words>
bool show(const char* name, const Kernel& kernel, const Words& words, const std::string& folder) {
  std::printf("---- %s: %zu instructions\n%s\n", name, kernel.code.size(), lv::ir_text(kernel).c_str());
  std::printf("---- %s as GLSL\n%s\n", name, lv::glsl_text(kernel).c_str());
  std::printf("---- %s as SPIR-V: %zu words\n", name, words.size());
  for (std::size_t i = 0; i < words.size(); ++i) std::printf("%08x%c", words[i], i % 8 == 7 ? '\n' : ' ');
  std::printf("\n\n");
  if (folder.empty()) return true;

  const std::string path = folder + "/" + name + ".spv";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    std::fprintf(stderr, "spirv_dump: cannot write %s\n", path.c_str());
    return false;
  }
  const bool written = std::fwrite(words.data(), 4, words.size(), file) == words.size();
  return (std::fclose(file) == 0) && written;
}

int main(int argc, char** argv) {
  const bool save = argc == 3 && std::string_view(argv[1]) == "--save";
  if (argc > 1 && !save) {
    std::fprintf(stderr, "usage: spirv_dump [--save FOLDER]\n");
    return 2;
  }
  const std::string folder = save ? argv[2] : "";
  static constexpr auto& scale = lv::program_of<decltype(scale_and_clip), float>;
  static constexpr auto& mix = lv::program_of<decltype(blend), float, float>;
  constexpr lv::module_options named{.debug_names = true};
  static_assert(lv::spirv_module<scale>[0] == 0x07230203);
  const bool first = show("scale_and_clip", scale, lv::spirv_module<scale, named>, folder);
  const bool second = show("blend", mix, lv::spirv_module<mix, named>, folder);
  const bool third = show("row_sums", row_sums.program(), row_sums.module<true>(), folder);
  return first && second && third ? 0 : 1;
}
