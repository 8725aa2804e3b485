// SPDX-License-Identifier: Apache-2.0
#pragma once
// The programs that check modules and GLSL text, where they are installed.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include <unistd.h>

#include <doctest/doctest.h>

namespace kernel_test {

inline bool is_installed(const std::string& program) {
  const bool found = std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
  if (!found) MESSAGE(program, " is not installed: what it would check is not checked");
  return found;
}

/// Runs `command` with the name of a file that holds `bytes`; true if it succeeds.
inline bool accepts(const std::string& command, std::span<const char> bytes, const std::string& suffix) {
  static int count = 0;
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("levada_kernel_" + std::to_string(::getpid()) + "_" + std::to_string(count++) + suffix);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const int code = std::system((command + " " + path.string()).c_str());
  std::filesystem::remove(path);
  return code == 0;
}

inline bool is_valid_spirv(std::span<const std::uint32_t> module) {
  return accepts("spirv-val --target-env vulkan1.2", {reinterpret_cast<const char*>(module.data()), module.size() * 4},
                 ".spv");
}

inline bool is_valid_glsl(const std::string& text) {
  return accepts("glslangValidator --target-env vulkan1.2 -S comp -o /dev/null > /dev/null", text, ".comp");
}

}  // namespace kernel_test
