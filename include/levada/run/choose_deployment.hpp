// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/choose_deployment.hpp: several deployments of one pipeline, compiled for machines that have more or less, and the
// first of them that this machine can run. As `any_pipeline`s they may come from units that are compiled for other
// instructions.
//
//   const auto classify = choose_deployment<int(picture)>({
//       {"gpu", [&] { return deploy<with_gpu>(classifier(weights)); }},
//       {"wide", make_classify_avx512, {.instructions = instruction_set::avx512, .processors = 8}},
//       {"plain", make_classify}});
//   std::puts(classify.said.c_str());

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <levada/core/detail/log.hpp>
#include <levada/core/error.hpp>
#include <levada/run/any_pipeline.hpp>

namespace levada {

/// The instruction set for which a source was compiled, by compiler flags.
enum class instruction_set : std::uint8_t {
  any,  ///< that of the whole program
  avx2,
  avx512,
  /// what quantized networks gain by; a program has sources of this or of avx512: these share the names of kernels
  avx512_vnni
};

/// The needs of a deployment besides the devices of its target.
struct machine_needs {
  instruction_set instructions = instruction_set::any;
  unsigned processors = 1;
};

/// A deployment that may be chosen. `make` throws `device_error` where a device of its target cannot be had.
template <class Signature>
struct deployment_option {
  std::string_view name;
  std::function<any_pipeline<Signature>()> make;
  machine_needs needs{};
};

/// The first deployment of several that this machine can run.
template <class Signature>
struct chosen_deployment {
  any_pipeline<Signature> app;
  std::string_view name;
  std::string said;  ///< which was chosen, and why none before it
};

namespace detail {

inline bool has_instructions([[maybe_unused]] instruction_set wanted) {
#if defined(__x86_64__) || defined(__i386__)
  if (wanted == instruction_set::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (wanted == instruction_set::avx512_vnni)
    return has_instructions(instruction_set::avx512) && __builtin_cpu_supports("avx512vnni");
  if (wanted == instruction_set::avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
  return wanted == instruction_set::any;
}

/// The needs that this machine does not meet; nothing where it meets all.
inline std::string lacking(const machine_needs& needs) {
  if (!has_instructions(needs.instructions))
    return needs.instructions == instruction_set::avx2     ? "no AVX2 with FMA here"
           : needs.instructions == instruction_set::avx512 ? "no AVX-512 here"
                                                           : "no AVX-512 with VNNI here";
  const unsigned there = std::thread::hardware_concurrency();
  if (there != 0 && there < needs.processors)
    return std::to_string(there) + " of " + std::to_string(needs.processors) + " processors here";
  return {};
}

}  // namespace detail

/// The first of the deployments that this machine can run; the log says which, and why none before it. Throws
/// levada::error with all reasons where there is none, and what `make` throws other than a device's error.
template <class Signature>
chosen_deployment<Signature> choose_deployment(std::initializer_list<deployment_option<Signature>> options) {
  std::string said;
  for (const deployment_option<Signature>& option : options) {
    std::string why = detail::lacking(option.needs);
    if (why.empty()) {
      try {
        any_pipeline<Signature> app = option.make();
        said += "deployment \"" + std::string(option.name) + "\" is chosen";
        detail::log(log_level::info, said);
        return {std::move(app), option.name, std::move(said)};
      } catch (const device_error& e) {
        why = e.what();
      }
    }
    said += "deployment \"" + std::string(option.name) + "\" cannot run: " + why + "; ";
  }
  throw error("levada: no deployment can run on this machine: " + said);
}

}  // namespace levada
