// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/onnx_runtime.hpp: a part of a model that is not compiled, as a stage: ONNX Runtime computes it. It reads the
// item and writes its output where they lie. Needs the header <onnxruntime_c_api.h>; the library is opened when a model
// is read, unless the program is linked with it.
//
//   const onnx_runtime_model tail(bytes_of("tail.onnx"));
//   ... | nn::relu | onnx_runtime_stage<"tail", tensor<float, 64, 7, 7>, tensor<float, 1000>>(tail)

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/stage.hpp>

namespace levada {
namespace detail {

inline const OrtApiBase* find_onnx_runtime(const char* library) {
  using entry = decltype(&OrtGetApiBase);
  void* found = ::dlsym(RTLD_DEFAULT, "OrtGetApiBase");
  if (found == nullptr) {
    void* const opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);  // never closed: it keeps threads
    if (opened == nullptr) throw error(std::string("levada: ONNX Runtime: ") + ::dlerror());
    found = ::dlsym(opened, "OrtGetApiBase");
  }
  if (found == nullptr) throw error(std::string("levada: ONNX Runtime: \"") + library + "\" is another library");
  return reinterpret_cast<entry>(found)();
}

inline const OrtApi& open_onnx_runtime(const char* library) {
  const OrtApiBase* const base = find_onnx_runtime(library);
  const OrtApi* const api = base->GetApi(ORT_API_VERSION);
  if (api == nullptr)
    throw error(std::string("levada: ONNX Runtime ") + base->GetVersionString() + " is older than its header");
  return *api;
}

/// An object of ONNX Runtime, given back by a member of its interface.
template <class T>
class ort_object {
 public:
  ort_object() = default;
  ort_object(T* object, void (*release)(T*)) : object_(object, release) {}
  T* get() const { return object_.get(); }

 private:
  std::unique_ptr<T, void (*)(T*)> object_{nullptr, [](T*) {}};
};

inline void check_ort(const OrtApi& api, OrtStatus* status) {
  if (status == nullptr) return;
  const std::string said = api.GetErrorMessage(status);
  api.ReleaseStatus(status);
  throw error("levada: ONNX Runtime: " + said);
}

template <class T>
consteval ONNXTensorElementDataType ort_element() {
  switch (element_of<T>) {
    case element::f32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    case element::f64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
    case element::i8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8;
    case element::u8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
    case element::i32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
    case element::i64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    default:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  }
}

}  // namespace detail

/// A model that ONNX Runtime has read: one input, one output. Copies share it; any number of stages and threads may run
/// it at once. It computes on the thread that calls it.
class onnx_runtime_model {
 public:
  /// The bytes of an ONNX file. `library` is opened where the program has none. Throws levada::error where that cannot
  /// be had, or it does not take the model.
  explicit onnx_runtime_model(std::string_view bytes, const char* library = "libonnxruntime.so.1")
      : of_(std::make_shared<const opened>(bytes, library)) {}

  /// Throws levada::error where the model's input and output are no such tensors: dimensions of 1 in front count as
  /// none, those that are not fixed fit any.
  template <any_tensor In, any_tensor Out>
  void check(std::string_view stage) const {
    of_->input.check<In>(stage, "input");
    of_->output.check<Out>(stage, "output");
  }

  /// Reads the input and writes the output where they lie.
  template <any_tensor In, any_tensor Out>
  void run(const In& in, Out& out) const {
    const OrtApi& api = of_->api;
    const value input(*of_, const_cast<typename In::value_type*>(in.data()), of_->input.extents_for<In>());
    const value output(*of_, out.data(), of_->output.extents_for<Out>());
    const char *const input_name = of_->input.name.c_str(), *const output_name = of_->output.name.c_str();
    const OrtValue* const given = input.get();
    OrtValue* taken = output.get();
    detail::check_ort(api, api.Run(of_->session.get(), nullptr, &input_name, &given, 1, &output_name, 1, &taken));
  }

 private:
  static constexpr std::size_t most_extents = 16;
  struct extents {
    std::array<std::int64_t, most_extents> at{};
    std::size_t rank = 0;
  };

  /// The input or the output.
  struct port {
    std::string name;
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    std::vector<std::int64_t> dimensions;

    /// The item's extents behind as many of 1 as the model has more.
    template <class Tensor>
    extents extents_for() const {
      extents e;
      e.rank = dimensions.size();
      const std::size_t front = e.rank - Tensor::extents.size();
      for (std::size_t i = 0; i < e.rank; ++i)
        e.at[i] = i < front ? 1 : static_cast<std::int64_t>(Tensor::extents[i - front]);
      return e;
    }

    template <class Tensor>
    void check(std::string_view stage, const char* which) const {
      static_assert(detail::ort_element<typename Tensor::value_type>() != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED,
                    "ONNX Runtime takes no tensors of these elements");
      bool fits = type == detail::ort_element<typename Tensor::value_type>() &&
                  dimensions.size() >= Tensor::extents.size() && dimensions.size() <= most_extents;
      if (fits) {
        const extents wanted = extents_for<Tensor>();
        for (std::size_t i = 0; i < wanted.rank; ++i)
          fits = fits && (dimensions[i] < 0 || dimensions[i] == wanted.at[i]);
      }
      if (fits) return;
      std::string text = "levada: stage \"" + std::string(stage) + "\": the model's " + which + " \"" + name +
                         "\" is another tensor: element type " + std::to_string(type) + " of ONNX, ";
      for (std::size_t i = 0; i < dimensions.size(); ++i)
        text += (i == 0 ? "" : "x") + (dimensions[i] < 0 ? std::string("?") : std::to_string(dimensions[i]));
      throw error(text);
    }
  };

  struct opened {
    opened(std::string_view bytes, const char* library) : api(detail::open_onnx_runtime(library)) {
      const auto check = [&](OrtStatus* status) { detail::check_ort(api, status); };
      const auto make = [&](auto create, auto release) {
        using object = std::remove_pointer_t<typename pointee<decltype(release)>::type>;
        object* made = nullptr;
        check(create(&made));
        return detail::ort_object<object>(made, release);
      };
      environment =
          make([&](OrtEnv** to) { return api.CreateEnv(ORT_LOGGING_LEVEL_ERROR, "levada", to); }, api.ReleaseEnv);
      const auto options =
          make([&](OrtSessionOptions** to) { return api.CreateSessionOptions(to); }, api.ReleaseSessionOptions);
      check(api.SetIntraOpNumThreads(options.get(), 1));
      check(api.SetInterOpNumThreads(options.get(), 1));
      check(api.SetSessionGraphOptimizationLevel(options.get(), ORT_ENABLE_ALL));
      session = make(
          [&](OrtSession** to) {
            return api.CreateSessionFromArray(environment.get(), bytes.data(), bytes.size(), options.get(), to);
          },
          api.ReleaseSession);
      memory =
          make([&](OrtMemoryInfo** to) { return api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, to); },
               api.ReleaseMemoryInfo);
      std::size_t inputs = 0, outputs = 0;
      check(api.SessionGetInputCount(session.get(), &inputs));
      check(api.SessionGetOutputCount(session.get(), &outputs));
      if (inputs != 1 || outputs != 1)
        throw error("levada: ONNX Runtime: a stage takes a model of one input and one output, this has " +
                    std::to_string(inputs) + " and " + std::to_string(outputs));
      input = read_port(api.SessionGetInputName, api.SessionGetInputTypeInfo);
      output = read_port(api.SessionGetOutputName, api.SessionGetOutputTypeInfo);
    }

    const OrtApi& api;
    detail::ort_object<OrtEnv> environment;
    detail::ort_object<OrtSession> session;
    detail::ort_object<OrtMemoryInfo> memory;
    port input, output;

   private:
    template <class F>
    struct pointee;
    template <class T>
    struct pointee<void (*)(T*)> {
      using type = T;
    };
    template <class T>
    struct pointee<void (*)(T*) noexcept> {
      using type = T;
    };

    port read_port(decltype(OrtApi::SessionGetInputName) name_of, decltype(OrtApi::SessionGetInputTypeInfo) type_of) {
      const auto check = [&](OrtStatus* status) { detail::check_ort(api, status); };
      port read;
      OrtAllocator* allocator = nullptr;
      check(api.GetAllocatorWithDefaultOptions(&allocator));
      char* name = nullptr;
      check(name_of(session.get(), 0, allocator, &name));
      read.name = name;
      allocator->Free(allocator, name);

      OrtTypeInfo* info = nullptr;
      check(type_of(session.get(), 0, &info));
      const detail::ort_object<OrtTypeInfo> owned(info, api.ReleaseTypeInfo);
      const OrtTensorTypeAndShapeInfo* tensor = nullptr;
      check(api.CastTypeInfoToTensorInfo(info, &tensor));
      if (tensor == nullptr) throw error("levada: ONNX Runtime: \"" + read.name + "\" is no tensor");
      check(api.GetTensorElementType(tensor, &read.type));
      std::size_t rank = 0;
      check(api.GetDimensionsCount(tensor, &rank));
      read.dimensions.resize(rank);
      check(api.GetDimensions(tensor, read.dimensions.data(), rank));
      return read;
    }
  };

  /// Memory of ours as a tensor of theirs.
  class value {
   public:
    template <class T>
    value(const opened& of, T* data, const extents& e) {
      std::size_t bytes = sizeof(T);
      for (std::size_t i = 0; i < e.rank; ++i) bytes *= static_cast<std::size_t>(e.at[i]);
      OrtValue* made = nullptr;
      detail::check_ort(of.api, of.api.CreateTensorWithDataAsOrtValue(of.memory.get(), data, bytes, e.at.data(), e.rank,
                                                                      detail::ort_element<T>(), &made));
      object_ = detail::ort_object<OrtValue>(made, of.api.ReleaseValue);
    }
    OrtValue* get() const { return object_.get(); }

   private:
    detail::ort_object<OrtValue> object_;
  };

  std::shared_ptr<const opened> of_;
};

namespace detail {

template <class In, class Out>
struct onnx_runtime_call {
  onnx_runtime_model model;
  void operator()(const In& in, Out& out) const { model.run(in, out); }
};

}  // namespace detail

/// A stage that ONNX Runtime computes, several items at once. Throws levada::error where the model takes or gives other
/// tensors.
template <fixed_string Name, any_tensor In, any_tensor Out>
auto onnx_runtime_stage(const onnx_runtime_model& model) {
  model.check<In, Out>(Name.view());
  return stage<Name, Out>(parallel(detail::onnx_runtime_call<In, Out>{model}));
}

}  // namespace levada
