// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/deploy_with.hpp: `deploy` with options that are a list, as both ends make them of those they are given.

#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/run/deploy.hpp>

namespace levada::detail {

template <class Target, class Pipeline, class... Options>
auto deploy_with(Pipeline&& line, type_list<Options...>) {
  return levada::deploy<Target, Options...>(std::forward<Pipeline>(line));
}

}  // namespace levada::detail
