// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion/onnxruntime.hpp: the network in ONNX Runtime through its C interface, for the least latency on one thread.

#if LEVADA_HAS_ONNXRUNTIME

#include <memory>
#include <string>

#include <onnxruntime_c_api.h>

#include "../common/onnxruntime.hpp"
#include "onnx_model.hpp"

namespace fashion {

/// One session: sequential, one thread, all optimisations of the graph, input and output bound once to memory of ours.
/// Its arena and memory pattern are left on: off, it is no faster here.
class with_onnxruntime {
 public:
  /// What the sessions of several threads have in common.
  struct shared {
    std::string model = onnx_model();
    ort::options options = ort::all_optimisations(1);
  };

  explicit with_onnxruntime(const std::shared_ptr<shared>& common)
      : common_(common), session_(ort::made<ort::session>([&](OrtSession** to) {
          return ort::api().CreateSessionFromArray(ort::the_environment(), common->model.data(), common->model.size(),
                                                   common->options.get(), to);
        })) {
    ort::check(ort::api().BindInput(binding_.get(), "pixels", bound_in_.get()));
    ort::check(ort::api().BindOutput(binding_.get(), "logits", bound_result_.get()));
  }

  pixels in;

  const logits& run() {
    ort::check(ort::api().RunWithBinding(session_.get(), nullptr, binding_.get()));
    return result_;
  }

 private:
  logits result_;
  std::shared_ptr<shared> common_;
  ort::session session_;
  ort::memory_info memory_ = ort::processor_memory();
  ort::value bound_in_ = ort::bound(in.data(), {1, 1, 28, 28}, memory_.get());
  ort::value bound_result_ = ort::bound(result_.data(), {1, 10}, memory_.get());
  ort::binding binding_ =
      ort::made<ort::binding>([&](OrtIoBinding** to) { return ort::api().CreateIoBinding(session_.get(), to); });
};

}  // namespace fashion

#endif
