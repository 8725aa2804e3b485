// SPDX-License-Identifier: Apache-2.0
// Traced modules against those that glslc -O makes of equal GLSL: the same bits of the same dispatch on the same
// device. kernels/glsl/<name>: `traced_us` and `glsl_us` are medians of one dispatch, `ratio_time` is the median of the
// pairs' ratios, `ratio_size` that of the modules' bytes.

#include <cstdio>
#include <cstdlib>

#include "device.hpp"
#include "kernels.hpp"

namespace {

using namespace kernels;

#if LEVADA_HAS_GLSLC
/// The words of both modules of a shader; see meaning.glsl.
struct twins {
  std::span<const std::uint32_t> equal, loose;
};
constexpr std::uint32_t transform_words[] =
#include "transform.comp.inc"
    ;
constexpr std::uint32_t transform_loose_words[] =
#include "transform.comp.loose.inc"
    ;
constexpr twins transform_glsl{transform_words, transform_loose_words};
constexpr std::uint32_t chain_words[] =
#include "chain.comp.inc"
    ;
constexpr std::uint32_t chain_loose_words[] =
#include "chain.comp.loose.inc"
    ;
constexpr twins chain_glsl{chain_words, chain_loose_words};
constexpr std::uint32_t conv_words[] =
#include "conv.comp.inc"
    ;
constexpr std::uint32_t conv_loose_words[] =
#include "conv.comp.loose.inc"
    ;
constexpr twins conv_glsl{conv_words, conv_loose_words};
constexpr std::uint32_t conv_padded_words[] =
#include "conv_padded.comp.inc"
    ;
constexpr std::uint32_t conv_padded_loose_words[] =
#include "conv_padded.comp.loose.inc"
    ;
constexpr twins conv_padded_glsl{conv_padded_words, conv_padded_loose_words};
constexpr std::uint32_t matmul_words[] =
#include "matmul.comp.inc"
    ;
constexpr std::uint32_t matmul_loose_words[] =
#include "matmul.comp.loose.inc"
    ;
constexpr twins matmul_glsl{matmul_words, matmul_loose_words};
constexpr std::uint32_t pool_words[] =
#include "pool.comp.inc"
    ;
constexpr std::uint32_t pool_loose_words[] =
#include "pool.comp.loose.inc"
    ;
constexpr twins pool_glsl{pool_words, pool_loose_words};
constexpr std::uint32_t softmax_words[] =
#include "softmax.comp.inc"
    ;
constexpr std::uint32_t softmax_loose_words[] =
#include "softmax.comp.loose.inc"
    ;
constexpr twins softmax_glsl{softmax_words, softmax_loose_words};

void compare(benchmark::State& state, const char* name, const lv::dispatch& traced, std::span<const std::uint32_t> glsl,
             bool equal, unsigned repeats) {
  lv::dispatch twin = traced;
  twin.module = glsl;
  on_device ours(*device(), traced, repeats), theirs(*device(), twin, repeats);
  ours.run();
  theirs.run();
  if (equal && ours.result() != theirs.result()) {
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

void add(const char* name, const lv::dispatch& traced, const twins& glsl, unsigned repeats = 1) {
  const auto with = [&](const char* group, std::span<const std::uint32_t> twin, bool equal) {
    benchmark::RegisterBenchmark((std::string(group) + name).c_str(),
                                 [=](benchmark::State& state) { compare(state, name, traced, twin, equal, repeats); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(51);
  };
  with("kernels/glsl/", glsl.equal, true);
  with("kernels/loose_glsl/", glsl.loose, false);
}

const bool added = [] {
  if (device() == nullptr) return false;
  add("transform", transform_dispatch<guarded>(transform, elements), transform_glsl);
  add("chain", transform_dispatch<guarded>(chain, elements), chain_glsl);
  add("conv", grid_dispatch(conv), conv_glsl);
  add("conv_padded", grid_dispatch(conv_padded), conv_padded_glsl);
  add("matmul", grid_dispatch(matmul), matmul_glsl);
  add("pool", grid_dispatch(kernels::pool), pool_glsl, 4);
  add("softmax", grid_dispatch(softmax), softmax_glsl);
  return true;
}();
#endif

}  // namespace
