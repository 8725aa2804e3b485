// SPDX-License-Identifier: Apache-2.0
// Networks in ONNX Runtime, their inputs and outputs bound once to memory of ours.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <onnxruntime_c_api.h>

#include "../../common/onnxruntime.hpp"
#include "../network.hpp"

namespace {

using models::network;

/// Inputs and outputs of one run at a time.
class bound_tensors {
 public:
  /// `sizes`: the elements of each input of floats. Of the axes that the file leaves free the last has them, others
  /// are 1. `constant`: what inputs of integers are.
  bound_tensors(OrtSession* session, const std::vector<std::size_t>& sizes, std::int64_t constant)
      : constant_{constant},
        session_(session),
        binding_(ort::made<ort::binding>([&](OrtIoBinding** to) { return ort::api().CreateIoBinding(session, to); })) {
    std::size_t inputs = 0, outputs = 0;
    ort::check(ort::api().SessionGetInputCount(session, &inputs));
    ort::check(ort::api().SessionGetOutputCount(session, &outputs));
    for (std::size_t i = 0; i < inputs; ++i) {
      const auto type = ort::made<ort::type_info>(
          [&](OrtTypeInfo** to) { return ort::api().SessionGetInputTypeInfo(session, i, to); });
      const OrtTensorTypeAndShapeInfo* tensor = nullptr;
      ort::check(ort::api().CastTypeInfoToTensorInfo(type.get(), &tensor));
      ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
      ort::check(ort::api().GetTensorElementType(tensor, &element));
      const std::string name = ort::port_name(ort::api().SessionGetInputName, session, i);
      if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64)
        number_ = ort::bound(constant_.data(), {}, where_.get());
      else
        inputs_.emplace_back(fixed(ort::extents_of(tensor), sizes.at(inputs_.size())), where_.get());
      const ort::value& given = element == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 ? number_ : inputs_.back().value;
      ort::check(ort::api().BindInput(binding_.get(), name.c_str(), given.get()));
    }
    const std::vector<std::vector<std::int64_t>> extents = output_extents(outputs);
    for (std::size_t o = 0; o < outputs; ++o) {
      memory& out = outputs_.emplace_back(extents[o], where_.get());
      ort::check(ort::api().BindOutput(binding_.get(), output_name(o).c_str(), out.value.get()));
    }
  }

  void run() { ort::check(ort::api().RunWithBinding(session_, nullptr, binding_.get())); }

  std::vector<std::span<float>> inputs() {
    std::vector<std::span<float>> all;
    for (memory& m : inputs_) all.emplace_back(m.data);
    return all;
  }
  std::vector<std::span<const float>> outputs() const {
    std::vector<std::span<const float>> all;
    for (const memory& m : outputs_) all.emplace_back(m.data);
    return all;
  }

 private:
  struct memory {
    memory(const std::vector<std::int64_t>& extents, const OrtMemoryInfo* where)
        : data(ort::elements_of(extents)), value(ort::bound(data.data(), extents, where)) {}

    std::vector<float> data;
    ort::value value;
  };

  static std::vector<std::int64_t> fixed(std::vector<std::int64_t> extents, std::size_t size) {
    std::int64_t* last = nullptr;
    for (std::int64_t& e : extents)
      if (e < 0) e = 1, last = &e;
    if (last != nullptr) *last = static_cast<std::int64_t>(size / ort::elements_of(extents));
    return extents;
  }

  std::string output_name(std::size_t o) const { return ort::port_name(ort::api().SessionGetOutputName, session_, o); }

  /// Those of a first run, for which ONNX Runtime allocates: it does not infer all of them before.
  std::vector<std::vector<std::int64_t>> output_extents(std::size_t outputs) {
    for (std::size_t o = 0; o < outputs; ++o)
      ort::check(ort::api().BindOutputToDevice(binding_.get(), output_name(o).c_str(), where_.get()));
    run();
    OrtAllocator* allocator = nullptr;
    ort::check(ort::api().GetAllocatorWithDefaultOptions(&allocator));
    OrtValue** values = nullptr;
    std::size_t count = 0;
    ort::check(ort::api().GetBoundOutputValues(binding_.get(), allocator, &values, &count));
    std::vector<std::vector<std::int64_t>> extents;
    for (std::size_t o = 0; o < count; ++o) {
      const ort::value output(values[o]);
      const auto tensor = ort::made<ort::tensor_info>(
          [&](OrtTensorTypeAndShapeInfo** to) { return ort::api().GetTensorTypeAndShape(output.get(), to); });
      extents.push_back(ort::extents_of(tensor.get()));
    }
    allocator->Free(allocator, values);
    ort::api().ClearBoundOutputs(binding_.get());
    return extents;
  }

  std::array<std::int64_t, 1> constant_;
  ort::value number_;
  OrtSession* session_;
  ort::memory_info where_ = ort::processor_memory();
  std::vector<memory> inputs_, outputs_;
  ort::binding binding_;
};

/// A session of one thread, which two threads share that take half of the items each; or one of two threads for each
/// item.
template <int Threads>
class on_onnxruntime final : public network {
 public:
  on_onnxruntime(const std::string& file, const std::vector<std::size_t>& sizes, std::int64_t constant)
      : session_(ort::made<ort::session>([&](OrtSession** to) {
          return ort::api().CreateSession(ort::the_environment(), file.c_str(), ort::all_optimisations(Threads).get(),
                                          to);
        })),
        first_(session_.get(), sizes, constant),
        second_(session_.get(), sizes, constant) {}

  std::vector<std::span<float>> inputs() override { return first_.inputs(); }
  std::vector<std::span<const float>> outputs() override { return first_.outputs(); }

  void run() override { first_.run(); }

  void run_on_two(std::size_t items) override {
    models::run_halves<Threads>(
        items, [&] { first_.run(); }, [&] { second_.run(); });
  }

 private:
  ort::session session_;
  bound_tensors first_, second_;
};

template <int Threads>
std::unique_ptr<network> made(const models::entry& of, const std::vector<std::size_t>& sizes) {
  return std::make_unique<on_onnxruntime<Threads>>(of.file, sizes, of.constant);
}

[[maybe_unused]] const bool is_entered = [] {
  models::peers().push_back(
      {"onnxruntime", [](const models::entry& of, const std::vector<std::size_t>& sizes, int threads) {
         if (ort::find() == nullptr) return std::unique_ptr<network>();  // older than its header
         return threads == 1 ? made<1>(of, sizes) : made<2>(of, sizes);
       }});
  return true;
}();

}  // namespace
