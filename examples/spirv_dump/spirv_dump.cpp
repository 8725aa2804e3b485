// SPDX-License-Identifier: Apache-2.0
// Two kernels, each a lambda, printed as what they become: instructions, GLSL, and the words of a SPIR-V module that
// the compiler made. `spirv_dump --save FOLDER` also writes the modules, for spirv-dis and spirv-val.

#include <cstdio>
#include <string>
#include <string_view>

#include <levada/kernel.hpp>

namespace lv = levada;

constexpr auto scale_and_clip = [](auto pixel) { return clamp(pixel / 255.0f * 2.0f - 1.0f, -1.0f, 1.0f); };

constexpr auto blend = [mix = lv::uniform{0.25f}](auto a, auto b) { return tanh(a + (b - a) * mix); };

template <const auto& Program>
bool show(const char* name, const std::string& folder) {
  constexpr auto& words = lv::spirv_module<Program, lv::module_options{.debug_names = true}>;
  static_assert(words[0] == 0x07230203 && words.size() < 4096);
  std::printf("---- %s: %zu instructions\n%s\n", name, Program.code.size(), lv::ir_text(Program).c_str());
  std::printf("---- %s as GLSL\n%s\n", name, lv::glsl_text(Program).c_str());
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
  const bool first = show<lv::program_of<decltype(scale_and_clip), float>>("scale_and_clip", folder);
  const bool second = show<lv::program_of<decltype(blend), float, float>>("blend", folder);
  return first && second ? 0 : 1;
}
