// SPDX-License-Identifier: Apache-2.0
#pragma once
// common/onnxruntime.hpp: ONNX Runtime's C interface with owners and exceptions, as far as benchmarks need it.

#if LEVADA_HAS_ONNXRUNTIME

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <onnxruntime_c_api.h>

#include <levada/core/error.hpp>

namespace ort {

/// The interface that the header describes; null where the library is older than the header.
inline const OrtApi* find() {
  static const OrtApi* const api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  return api;
}
inline const OrtApi& api() { return *find(); }

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
using type_info = owned<OrtTypeInfo, &OrtApi::ReleaseTypeInfo>;
using tensor_info = owned<OrtTensorTypeAndShapeInfo, &OrtApi::ReleaseTensorTypeAndShapeInfo>;

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

inline OrtEnv* the_environment() {
  static const environment one =
      made<environment>([](OrtEnv** to) { return api().CreateEnv(ORT_LOGGING_LEVEL_ERROR, "benchmark", to); });
  return one.get();
}

/// Sequential, all optimisations of the graph. The arena and the memory pattern are left on.
inline options all_optimisations(int threads) {
  options o = made<options>([](OrtSessionOptions** to) { return api().CreateSessionOptions(to); });
  check(api().SetIntraOpNumThreads(o.get(), threads));
  check(api().SetInterOpNumThreads(o.get(), 1));
  check(api().SetSessionExecutionMode(o.get(), ORT_SEQUENTIAL));
  check(api().SetSessionGraphOptimizationLevel(o.get(), ORT_ENABLE_ALL));
  return o;
}

inline memory_info processor_memory() {
  return made<memory_info>(
      [](OrtMemoryInfo** to) { return api().CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, to); });
}

inline std::size_t elements_of(std::span<const std::int64_t> extents) {
  std::size_t elements = 1;
  for (const std::int64_t extent : extents) elements *= static_cast<std::size_t>(extent);
  return elements;
}

/// Memory of ours, of floats or std::int64_t, as a value of theirs.
template <class T>
value bound(T* data, const std::vector<std::int64_t>& extents, const OrtMemoryInfo* where) {
  constexpr auto element =
      std::same_as<T, float> ? ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT : ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
  return made<value>([&](OrtValue** to) {
    return api().CreateTensorWithDataAsOrtValue(where, data, sizeof(T) * elements_of(extents), extents.data(),
                                                extents.size(), element, to);
  });
}

inline std::vector<std::int64_t> extents_of(const OrtTensorTypeAndShapeInfo* tensor) {
  std::size_t rank = 0;
  check(api().GetDimensionsCount(tensor, &rank));
  std::vector<std::int64_t> extents(rank);
  check(api().GetDimensions(tensor, extents.data(), rank));
  return extents;
}

/// The name of an input or output: `of` is a member of the interface.
template <class Of>
std::string port_name(Of of, const OrtSession* network, std::size_t index) {
  OrtAllocator* allocator = nullptr;
  check(api().GetAllocatorWithDefaultOptions(&allocator));
  char* name = nullptr;
  check(of(network, index, allocator, &name));
  const std::string copy = name;
  allocator->Free(allocator, name);
  return copy;
}

}  // namespace ort

#endif
