// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/onnx_runtime.hpp: a part of a model that is not compiled, as a stage: ONNX Runtime computes it. It reads the
// item and writes its output where they lie. Needs the header <onnxruntime_c_api.h>; the library is opened when a model
// is read, unless the program is linked with it.
//
//   const onnx_runtime_model tail(bytes_of("tail.onnx"));
//   ... | nn::relu | onnx_runtime_stage<"tail", tensor<float, 64, 7, 7>, tensor<float, 1000>>(tail)
//
// Several inputs and outputs are a std::tuple each, in the model's order.

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/detail/parameters.hpp>
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
    case element::f16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
    case element::bf16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16;
    case element::i8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8;
    case element::u8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
    case element::i16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16;
    case element::u16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16;
    case element::i32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
    case element::u32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32;
    case element::i64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    case element::u64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64;
    case element::boolean:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;
    default:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  }
}

/// A tensor, or each of a tuple of several, by reference.
template <any_tensor T>
std::tuple<T&> tied_tensors(T& one) {
  return std::tie(one);
}
template <any_tensor T>
std::tuple<const T&> tied_tensors(const T& one) {
  return std::tie(one);
}
template <class... T>
auto tied_tensors(std::tuple<T...>& several) {
  return std::apply([](auto&... each) { return std::tie(each...); }, several);
}
template <class... T>
auto tied_tensors(const std::tuple<T...>& several) {
  return std::apply([](const auto&... each) { return std::tie(each...); }, several);
}

template <class T>
struct tensors_in;
template <any_tensor T>
struct tensors_in<T> {
  static constexpr std::size_t count = 1;
  template <class F>
  static void for_each(F f) {
    f(type_tag<T>{}, 0);
  }
};
template <any_tensor... T>
struct tensors_in<std::tuple<T...>> {
  static constexpr std::size_t count = sizeof...(T);
  template <class F>
  static void for_each(F f) {
    std::size_t i = 0;
    (f(type_tag<T>{}, i++), ...);
  }
};

}  // namespace detail

/// A model that ONNX Runtime has read. Copies share it; any number of stages and threads may run it at once. It
/// computes on the thread that calls it.
class onnx_runtime_model {
 public:
  /// The bytes of an ONNX file. `library` is opened where the program has none. Throws levada::error where that cannot
  /// be had, or it does not take the model.
  explicit onnx_runtime_model(std::string_view bytes, const char* library = "libonnxruntime.so.1")
      : of_(std::make_shared<const opened>(bytes, library)) {}
  /// The same of bytes that a source of parameters has under that name, as `onnx_to_levada` writes them.
  template <parameter_source Source>
  onnx_runtime_model(const Source& source, std::string_view name, const char* library = "libonnxruntime.so.1")
      : onnx_runtime_model(source.find(name), name, library) {}

  /// Throws levada::error where the model's inputs and outputs are no such tensors: dimensions of 1 in front count as
  /// none, those that are not fixed fit any. `In`, `Out`: a tensor, or a std::tuple of several.
  template <class In, class Out>
  void check(std::string_view stage) const {
    check_ports<In>(of_->inputs, stage, "input");
    check_ports<Out>(of_->outputs, stage, "output");
  }

  /// Reads the inputs and writes the outputs where they lie.
  template <class In, class Out>
  void run(const In& in, Out& out) const {
    const auto from = detail::tied_tensors(in);
    const auto to = detail::tied_tensors(out);
    run_tied(from, to, std::make_index_sequence<std::tuple_size_v<decltype(from)>>{},
             std::make_index_sequence<std::tuple_size_v<decltype(to)>>{});
  }

 private:
  onnx_runtime_model(const std::optional<stored_tensor>& stored, std::string_view name, const char* library)
      : onnx_runtime_model(bytes_of(stored, name), library) {}
  static std::string_view bytes_of(const std::optional<stored_tensor>& stored, std::string_view name) {
    if (!stored || stored->type != element::u8)
      throw error("levada: ONNX Runtime: the weights have no model \"" + std::string(name) + "\"");
    return {static_cast<const char*>(stored->data), stored->extents.elements()};
  }

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
      std::size_t input_count = 0, output_count = 0;
      check(api.SessionGetInputCount(session.get(), &input_count));
      check(api.SessionGetOutputCount(session.get(), &output_count));
      for (std::size_t i = 0; i < input_count; ++i)
        inputs.push_back(read_port(i, api.SessionGetInputName, api.SessionGetInputTypeInfo));
      for (std::size_t i = 0; i < output_count; ++i)
        outputs.push_back(read_port(i, api.SessionGetOutputName, api.SessionGetOutputTypeInfo));
    }

    const OrtApi& api;
    detail::ort_object<OrtEnv> environment;
    detail::ort_object<OrtSession> session;
    detail::ort_object<OrtMemoryInfo> memory;
    std::vector<port> inputs, outputs;

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

    port read_port(std::size_t i, decltype(OrtApi::SessionGetInputName) name_of,
                   decltype(OrtApi::SessionGetInputTypeInfo) type_of) {
      const auto check = [&](OrtStatus* status) { detail::check_ort(api, status); };
      port read;
      OrtAllocator* allocator = nullptr;
      check(api.GetAllocatorWithDefaultOptions(&allocator));
      char* name = nullptr;
      check(name_of(session.get(), i, allocator, &name));
      read.name = name;
      allocator->Free(allocator, name);

      OrtTypeInfo* info = nullptr;
      check(type_of(session.get(), i, &info));
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

  template <class Ports>
  static void check_ports(const std::vector<port>& all, std::string_view stage, const char* which) {
    using tensors = detail::tensors_in<Ports>;
    if (all.size() != tensors::count)
      throw error("levada: stage \"" + std::string(stage) + "\": the model has " + std::to_string(all.size()) + " " +
                  which + "s, the stage " + std::to_string(tensors::count));
    tensors::for_each([&]<class Tensor>(type_tag<Tensor>, std::size_t i) { all[i].check<Tensor>(stage, which); });
  }

  template <class From, class To, std::size_t... I, std::size_t... O>
  void run_tied(const From& from, const To& to, std::index_sequence<I...>, std::index_sequence<O...>) const {
    const value inputs[] = {value_of(of_->inputs[I], std::get<I>(from))...};
    const value outputs[] = {value_of(of_->outputs[O], std::get<O>(to))...};
    const char* const input_names[] = {of_->inputs[I].name.c_str()...};
    const char* const output_names[] = {of_->outputs[O].name.c_str()...};
    const OrtValue* const given[] = {inputs[I].get()...};
    OrtValue* taken[] = {outputs[O].get()...};
    const OrtApi& api = of_->api;
    detail::check_ort(
        api, api.Run(of_->session.get(), nullptr, input_names, given, sizeof...(I), output_names, sizeof...(O), taken));
  }
  template <class Tensor>
  value value_of(const port& at, Tensor& tensor) const {
    using number = typename std::remove_const_t<Tensor>::value_type;
    return value(*of_, const_cast<number*>(tensor.data()), at.extents_for<std::remove_const_t<Tensor>>());
  }

  std::shared_ptr<const opened> of_;
};

namespace detail {

template <class In, class Out>
struct onnx_runtime_call {
  onnx_runtime_model model;
  void operator()(const In& in, Out& out) const { model.run(in, out); }
};
template <class... In, class Out>
struct onnx_runtime_call<std::tuple<In...>, Out> {
  onnx_runtime_model model;
  Out operator()(const In&... in) const {
    Out out;
    model.run(std::tie(in...), out);
    return out;
  }
};

}  // namespace detail

/// A stage that ONNX Runtime computes, several items at once. Of several inputs, `In` a std::tuple, it joins branches
/// or is a node of a graph; of several outputs it gives a std::tuple. Throws levada::error where the model takes or
/// gives other tensors.
template <fixed_string Name, class In, class Out>
auto onnx_runtime_stage(const onnx_runtime_model& model) {
  model.check<In, Out>(Name.view());
  if constexpr (any_tensor<In>)
    return stage<Name, Out>(parallel(detail::onnx_runtime_call<In, Out>{model}));
  else
    return join<Name>(parallel(detail::onnx_runtime_call<In, Out>{model}));
}

}  // namespace levada
