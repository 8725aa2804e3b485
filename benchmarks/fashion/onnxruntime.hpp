// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion/onnxruntime.hpp: the network in ONNX Runtime through its C interface, for the least latency on one thread.

#if LEVADA_HAS_ONNXRUNTIME

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include <onnxruntime_c_api.h>

#include "onnx_model.hpp"

namespace fashion {

/// The interface that the header describes; null where the library is older than the header.
inline const OrtApi* find_onnxruntime() {
  static const OrtApi* const api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  return api;
}

namespace ort {

inline const OrtApi& api() { return *find_onnxruntime(); }

/// An object of ONNX Runtime, given back by the member `Release` of its interface.
template <class T, auto Release>
struct releases {
  void operator()(T* object) const { (api().*Release)(object); }
};
template <class T, auto Release>
using owned = std::unique_ptr<T, releases<T, Release>>;

using environment = owned<OrtEnv, &OrtApi::ReleaseEnv>;
using options = owned<OrtSessionOptions, &OrtApi::ReleaseSessionOptions>;
using session = owned<OrtSession, &OrtApi::ReleaseSession>;
using memory_info = owned<OrtMemoryInfo, &OrtApi::ReleaseMemoryInfo>;
using value = owned<OrtValue, &OrtApi::ReleaseValue>;
using binding = owned<OrtIoBinding, &OrtApi::ReleaseIoBinding>;

inline void check(OrtStatus* status) {
  if (status == nullptr) return;
  const owned<OrtStatus, &OrtApi::ReleaseStatus> failure(status);
  throw levada::error(std::string("ONNX Runtime: ") + api().GetErrorMessage(status));
}

/// What `create(T**)` makes.
template <class Owned, class Create>
Owned made(Create create) {
  typename Owned::pointer object = nullptr;
  check(create(&object));
  return Owned(object);
}

/// Memory of ours as a value of theirs.
template <std::size_t Rank>
value bound(float* data, const std::array<std::int64_t, Rank>& extents) {
  const auto where = made<memory_info>(
      [](OrtMemoryInfo** to) { return api().CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, to); });
  std::size_t bytes = sizeof(float);
  for (const std::int64_t extent : extents) bytes *= static_cast<std::size_t>(extent);
  return made<value>([&](OrtValue** to) {
    return api().CreateTensorWithDataAsOrtValue(where.get(), data, bytes, extents.data(), Rank,
                                                ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, to);
  });
}

}  // namespace ort

/// One session: sequential, one thread, all optimisations of the graph, input and output bound once to memory of ours.
/// Its arena and memory pattern are left on: off, it is no faster here.
class with_onnxruntime {
 public:
  /// What the sessions of several threads have in common.
  class shared {
   public:
    shared() {
      ort::check(ort::api().SetIntraOpNumThreads(options_.get(), 1));
      ort::check(ort::api().SetInterOpNumThreads(options_.get(), 1));
      ort::check(ort::api().SetSessionExecutionMode(options_.get(), ORT_SEQUENTIAL));
      ort::check(ort::api().SetSessionGraphOptimizationLevel(options_.get(), ORT_ENABLE_ALL));
    }

   private:
    friend with_onnxruntime;
    std::string model_ = onnx_model();
    ort::environment environment_ = ort::made<ort::environment>(
        [](OrtEnv** to) { return ort::api().CreateEnv(ORT_LOGGING_LEVEL_ERROR, "fashion", to); });
    ort::options options_ =
        ort::made<ort::options>([](OrtSessionOptions** to) { return ort::api().CreateSessionOptions(to); });
  };

  explicit with_onnxruntime(const std::shared_ptr<shared>& common)
      : common_(common), session_(ort::made<ort::session>([&](OrtSession** to) {
          return ort::api().CreateSessionFromArray(common->environment_.get(), common->model_.data(),
                                                   common->model_.size(), common->options_.get(), to);
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
  ort::value bound_in_ = ort::bound<4>(in.data(), {1, 1, 28, 28});
  ort::value bound_result_ = ort::bound<2>(result_.data(), {1, 10});
  ort::binding binding_ =
      ort::made<ort::binding>([&](OrtIoBinding** to) { return ort::api().CreateIoBinding(session_.get(), to); });
};

}  // namespace fashion

#endif
