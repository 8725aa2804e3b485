// SPDX-License-Identifier: Apache-2.0
#pragma once
// The programs that check modules and GLSL text, where they are installed.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>

#include <doctest/doctest.h>

#include <files.hpp>

namespace kernel_test {

inline bool is_installed(const std::string& program) {
  const bool found = std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
  if (!found) MESSAGE(program, " is not installed: what it would check is not checked");
  return found;
}

/// Runs `command` with a file `name` that holds `bytes`; true if it succeeds.
inline bool accepts(const std::string& command, std::span<const char> bytes, const char* name) {
  const levada::test::temporary_file file(name);
  std::ofstream(file.path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return std::system((command + " " + file.path).c_str()) == 0;
}

inline bool is_valid_spirv(std::span<const std::uint32_t> module) {
  return accepts("spirv-val --target-env vulkan1.2", {reinterpret_cast<const char*>(module.data()), module.size() * 4},
                 "module.spv");
}

inline bool is_valid_glsl(const std::string& text) {
  return accepts("glslangValidator --target-env vulkan1.2 -S comp -o /dev/null > /dev/null", text, "shader.comp");
}

}  // namespace kernel_test
