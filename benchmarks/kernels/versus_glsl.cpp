// SPDX-License-Identifier: Apache-2.0
// Traced modules against those that glslc -O makes of equal GLSL: the same bits of the same dispatch on the same device.
// kernels/glsl/<name>: `traced_us` and `glsl_us` are medians of one dispatch, `ratio_time` is the median of the pairs' ratios,
// `ratio_size` that of the modules' bytes.

#include <cstdio>
#include <cstdlib>

#include "device.hpp"
#include "kernels.hpp"

namespace {

using namespace kernels;

#if LEVADA_HAS_GLSLC
constexpr std::uint32_t transform_glsl[] =
#include "transform.comp.inc"
    ;
constexpr std::uint32_t chain_glsl[] =
#include "chain.comp.inc"
    ;
constexpr std::uint32_t conv_glsl[] =
#include "conv.comp.inc"
    ;
constexpr std::uint32_t conv_padded_glsl[] =
#include "conv_padded.comp.inc"
    ;
constexpr std::uint32_t matmul_glsl[] =
#include "matmul.comp.inc"
    ;
constexpr std::uint32_t pool_glsl[] =
#include "pool.comp.inc"
    ;
constexpr std::uint32_t softmax_glsl[] =
#include "softmax.comp.inc"
    ;

void compare(benchmark::State& state, const char* name, const lv::dispatch& traced, std::span<const std::uint32_t> glsl,
             unsigned repeats) {
  lv::dispatch twin = traced;
  twin.module = glsl;
  on_device ours(*device(), traced, repeats), theirs(*device(), twin, repeats);
  ours.run();
  theirs.run();
  if (ours.result() != theirs.result()) {
    std::fprintf(stderr, "%s: the traced module and the one of glslc give different bits\n", name);
    std::exit(1);
  }
  const compared c = alternate_on_device(
      state, [&] { ours.run(); }, [&] { theirs.run(); });
  state.counters["traced_us"] = c.first / repeats;
  state.counters["glsl_us"] = c.second / repeats;
  state.counters["ratio_time"] = c.ratio;
  state.counters["ratio_size"] =
      static_cast<double>(traced.module.size_bytes()) / static_cast<double>(glsl.size_bytes());
}

void add(const char* name, const lv::dispatch& traced, std::span<const std::uint32_t> glsl, unsigned repeats) {
  benchmark::RegisterBenchmark(("kernels/glsl/" + std::string(name)).c_str(),
                               [=](benchmark::State& state) { compare(state, name, traced, glsl, repeats); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(101);
}

const bool added = [] {
  if (device() == nullptr) return false;
  add("transform", transform_dispatch(transform, elements), transform_glsl, 1);
  add("chain", transform_dispatch(chain, elements), chain_glsl, 1);
  add("conv", grid_dispatch(conv), conv_glsl, 1);
  add("conv_padded", grid_dispatch(conv_padded), conv_padded_glsl, 1);
  add("matmul", grid_dispatch(matmul), matmul_glsl, 1);
  add("pool", grid_dispatch(kernels::pool), pool_glsl, 4);
  add("softmax", grid_dispatch(softmax), softmax_glsl, 1);
  return true;
}();
#endif

}  // namespace
