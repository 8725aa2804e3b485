// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/machine.hpp: which machine a program runs on, in words, as a table of costs says where it was
// measured.

#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

#include <levada/core/detail/log.hpp>

namespace levada::detail {

/// The processor's name, as the system gives it.
template <class = void>
[[gnu::cold]] inline std::string processor_name() {
  std::string name = "an unknown processor";
  std::FILE* const info = std::fopen("/proc/cpuinfo", "r");
  if (info == nullptr) return name;
  for (char line[512]; std::fgets(line, sizeof line, info) != nullptr;) {
    const std::string_view text(line);
    const std::size_t colon = text.find(": ");
    if (!text.starts_with("model name") || colon == std::string_view::npos) continue;
    name.clear();
    for (const char c : text.substr(colon + 2))
      if (c != '"' && c != '\\' && c != '\n') name += c;
    break;
  }
  std::fclose(info);
  return name;
}

/// The processor, its number of threads, and the instruction set of the compiled kernels.
template <class = void>
[[gnu::cold]] inline std::string machine_text() {
  const char* set = "its compiler's default instruction set";
#if defined(LEVADA_INSTRUCTION_SETS)  // of its kernels, by levada_add_kernels
#define LEVADA_TEXT_OF(...) #__VA_ARGS__
#define LEVADA_TEXT(...) LEVADA_TEXT_OF(__VA_ARGS__)
  constexpr std::string_view sets = LEVADA_TEXT(LEVADA_INSTRUCTION_SETS);
#undef LEVADA_TEXT
#undef LEVADA_TEXT_OF
  if (sets.find("::avx2") != sets.npos && __builtin_cpu_supports("avx2")) set = "AVX2";
  if (sets.find("::avx512") != sets.npos && __builtin_cpu_supports("avx512bw")) set = "AVX-512";
#elif defined(__AVX512F__)
  set = "AVX-512";
#elif defined(__AVX2__)
  set = "AVX2";
#endif
#if defined(__clang__)
  const char* const compiler = "clang ";
#else
  const char* const compiler = "g++ ";
#endif
  std::string version = __VERSION__;
  version = version.substr(0, version.find('('));
  while (!version.empty() && version.back() == ' ') version.pop_back();
  return std::to_string(std::thread::hardware_concurrency()) + " processors of " + processor_name() + ", " + set +
         ", " + compiler + version;
}

/// Whether costs were measured on this machine; the log has a warning where they were not.
template <class = void>
[[gnu::cold]] inline bool are_of_this_machine(std::string_view costs) {
  const std::string here = machine_text();
  if (costs == here) return true;
  log(log_level::warning, "stale costs: the app is placed by those of " + std::string(costs) + ", this is " + here);
  return false;
}

/// Warns of the costs that an option of `deploy` has.
template <class Option>
void check_machine_of() {
  if constexpr (requires { Option::machine; })
    if (is_logged()) are_of_this_machine(Option::machine);
}

}  // namespace levada::detail
