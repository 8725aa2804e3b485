// SPDX-License-Identifier: Apache-2.0
// Libraries whose pipeline is null in one way or another: OF_NULL says which.

#include "answer.hpp"

#include <utility>

#include <levada/interop/pipeline_library.hpp>

namespace lv = levada;
using pipeline = lv::any_pipeline<answer(int)>;

#if OF_NULL == 1
extern "C" [[gnu::visibility("default")]] const lv::pipeline_library* levada_pipeline();
const lv::pipeline_library* levada_pipeline() { return nullptr; }
#elif OF_NULL == 2
extern "C" [[gnu::visibility("default")]] const lv::pipeline_library* levada_pipeline();
const lv::pipeline_library* levada_pipeline() {
  static const lv::pipeline_library library = lv::detail::library_of<answer(int)>::describe(nullptr);
  return &library;
}
#elif OF_NULL == 3
pipeline make() { return pipeline(nullptr); }
LEVADA_EXPORT_PIPELINE(make);
#else
struct nobody final : lv::detail::pipeline_interface<answer, int> {
  answer call(lv::detail::given_item<int>) override { return {}; }
  std::unique_ptr<lv::detail::session_interface<int, answer>> open(const lv::detail::session_settings&) override {
    return nullptr;
  }
  std::unique_ptr<lv::detail::stream_interface<answer>> stream(std::unique_ptr<lv::detail::feed_interface<int>>,
                                                               bool) override {
    return nullptr;
  }
  bool keeps_state() const noexcept override { return false; }
};
pipeline make() {
  pipeline made(std::make_shared<nobody>());
  const pipeline taken = std::move(made);
  return made;
}
LEVADA_EXPORT_PIPELINE(make);
#endif
