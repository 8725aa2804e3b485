// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/stage_address.hpp: where the objects of a pipeline's stages are, in order. Behind this point a
// stage has no type of its own, so that code is made for an op or a callable and never for its place.

#include <memory>
#include <string_view>

#include <levada/graph/detail/parameters.hpp>

namespace levada::detail {

/// A stage: its callable or its op; the weights of an op are found there under its name.
struct stage_address {
  void* object = nullptr;
  const parameter_source_ref* weights = nullptr;
  std::string_view name{};
};

/// Collects the addresses of the stages that it visits.
template <class = void>
struct basic_stage_addresses {
  stage_address* next;
  template <class Stage>
  [[gnu::always_inline]] void operator()(Stage& stage) {
    if constexpr (requires { stage.callable; })
      add(const_cast<void*>(static_cast<const volatile void*>(std::addressof(stage.callable))));
    else
      add_op(std::addressof(stage.description), stage.weights, Stage::name.view());
  }

 private:
  // Called: hundreds of stores in the one function that deploys would cost a compiler the square of their number.
  [[gnu::noinline]] void add(void* callable) { *next++ = {callable, nullptr, {}}; }
  [[gnu::noinline]] void add_op(void* op, const parameter_source_ref& weights, std::string_view name) {
    *next++ = {op, &weights, name};
  }
};
using stage_addresses = basic_stage_addresses<>;

}  // namespace levada::detail
