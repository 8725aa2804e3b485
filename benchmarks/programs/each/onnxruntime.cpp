// SPDX-License-Identifier: Apache-2.0
// A whole program on ONNX Runtime: the network of the ONNX file that is its argument, and its first item, on the
// calling thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <onnxruntime_c_api.h>

#include "../../../examples/common/run.hpp"
#include "../../common/onnxruntime.hpp"
#include "../../common/tensors.hpp"
#include "answer.hpp"

namespace {

int run(const char* file) {
  if (ort::find() == nullptr) throw levada::error("the ONNX Runtime found is older than its header");
  const auto session = ort::made<ort::session>([&](OrtSession** to) {
    return ort::api().CreateSession(ort::the_environment(), file, ort::all_optimisations(1).get(), to);
  });
  const ort::memory_info where = ort::processor_memory();
  std::size_t inputs = 0, outputs = 0;
  ort::check(ort::api().SessionGetInputCount(session.get(), &inputs));
  ort::check(ort::api().SessionGetOutputCount(session.get(), &outputs));

  std::vector<std::vector<float>> memory;
  std::vector<std::span<float>> given;
  std::vector<ort::value> values;
  std::vector<const OrtValue*> in;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs; ++i) {
    const auto type = ort::made<ort::type_info>(
        [&](OrtTypeInfo** to) { return ort::api().SessionGetInputTypeInfo(session.get(), i, to); });
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    ort::check(ort::api().CastTypeInfoToTensorInfo(type.get(), &tensor));
    const std::vector<std::int64_t> extents = ort::extents_of(tensor);
    given.emplace_back(memory.emplace_back(ort::elements_of(extents)));
    values.push_back(ort::bound(memory.back().data(), extents, where.get()));
    in.push_back(values.back().get());
    names.push_back(ort::port_name(ort::api().SessionGetInputName, session.get(), i));
  }
  tensors::fill(given);
  for (std::size_t o = 0; o < outputs; ++o)
    names.push_back(ort::port_name(ort::api().SessionGetOutputName, session.get(), o));
  std::vector<const char*> said;
  for (const std::string& name : names) said.push_back(name.c_str());

  std::vector<OrtValue*> out(outputs);
  ort::check(ort::api().Run(session.get(), nullptr, said.data(), in.data(), inputs, said.data() + inputs, outputs,
                            out.data()));
  std::vector<ort::value> results(out.begin(), out.end());
  std::vector<std::span<const float>> all;
  for (const ort::value& result : results) {
    const auto tensor = ort::made<ort::tensor_info>(
        [&](OrtTensorTypeAndShapeInfo** to) { return ort::api().GetTensorTypeAndShape(result.get(), to); });
    void* data = nullptr;
    ort::check(ort::api().GetTensorMutableData(result.get(), &data));
    all.emplace_back(static_cast<const float*>(data), ort::elements_of(ort::extents_of(tensor.get())));
  }
  return programs::answer(all);
}

}  // namespace

int main(int count, char** arguments) {
  return example::run([&] { return count == 2 ? run(arguments[1]) : 2; });
}
