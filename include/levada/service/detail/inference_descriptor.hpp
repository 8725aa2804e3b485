// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/inference_descriptor.hpp: the definition of the Open Inference Protocol's gRPC service, as a client
// asks for it by reflection: a FileDescriptorProto of open_inference_grpc.proto, made from a table of its fields. A
// test compares it with the published file (https://github.com/kserve/open-inference-protocol, specification/protocol).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <levada/service/detail/protobuf.hpp>

namespace levada::detail {

inline constexpr std::string_view inference_service_name = "inference.GRPCInferenceService";
inline constexpr std::string_view inference_file_name = "open_inference_grpc.proto";

/// Types of fields, by the numbers of FieldDescriptorProto, and maps of strings.
enum class field_type : std::uint8_t {
  real64 = 1,
  real32 = 2,
  int64 = 3,
  uint64 = 4,
  int32 = 5,
  boolean = 8,
  string = 9,
  message = 11,
  bytes = 12,
  uint32 = 13,
  parameters = 254,  ///< map<string, InferParameter>
  properties = 255,  ///< map<string, string>
};

struct field_row {
  std::string_view message;  ///< with those around it
  std::string_view name;     ///< empty: the message has no field
  std::uint32_t number = 0;
  field_type type = field_type::string;
  bool is_repeated = false;
  std::string_view type_name{};  ///< of a message
  bool is_choice = false;        ///< in the one oneof of its message
};

// clang-format off
inline constexpr field_row inference_fields[] = {
  {"ServerLiveRequest", ""},
  {"ServerLiveResponse", "live", 1, field_type::boolean},
  {"ServerReadyRequest", ""},
  {"ServerReadyResponse", "ready", 1, field_type::boolean},
  {"ModelReadyRequest", "name", 1},
  {"ModelReadyRequest", "version", 2},
  {"ModelReadyResponse", "ready", 1, field_type::boolean},
  {"ServerMetadataRequest", ""},
  {"ServerMetadataResponse", "name", 1},
  {"ServerMetadataResponse", "version", 2},
  {"ServerMetadataResponse", "extensions", 3, field_type::string, true},
  {"ModelMetadataRequest", "name", 1},
  {"ModelMetadataRequest", "version", 2},
  {"ModelMetadataResponse", "name", 1},
  {"ModelMetadataResponse", "versions", 2, field_type::string, true},
  {"ModelMetadataResponse", "platform", 3},
  {"ModelMetadataResponse", "inputs", 4, field_type::message, true, "ModelMetadataResponse.TensorMetadata"},
  {"ModelMetadataResponse", "outputs", 5, field_type::message, true, "ModelMetadataResponse.TensorMetadata"},
  {"ModelMetadataResponse", "properties", 6, field_type::properties},
  {"ModelMetadataResponse.TensorMetadata", "name", 1},
  {"ModelMetadataResponse.TensorMetadata", "datatype", 2},
  {"ModelMetadataResponse.TensorMetadata", "shape", 3, field_type::int64, true},
  {"ModelInferRequest", "model_name", 1},
  {"ModelInferRequest", "model_version", 2},
  {"ModelInferRequest", "id", 3},
  {"ModelInferRequest", "parameters", 4, field_type::parameters},
  {"ModelInferRequest", "inputs", 5, field_type::message, true, "ModelInferRequest.InferInputTensor"},
  {"ModelInferRequest", "outputs", 6, field_type::message, true, "ModelInferRequest.InferRequestedOutputTensor"},
  {"ModelInferRequest", "raw_input_contents", 7, field_type::bytes, true},
  {"ModelInferRequest.InferInputTensor", "name", 1},
  {"ModelInferRequest.InferInputTensor", "datatype", 2},
  {"ModelInferRequest.InferInputTensor", "shape", 3, field_type::int64, true},
  {"ModelInferRequest.InferInputTensor", "parameters", 4, field_type::parameters},
  {"ModelInferRequest.InferInputTensor", "contents", 5, field_type::message, false, "InferTensorContents"},
  {"ModelInferRequest.InferRequestedOutputTensor", "name", 1},
  {"ModelInferRequest.InferRequestedOutputTensor", "parameters", 2, field_type::parameters},
  {"ModelInferResponse", "model_name", 1},
  {"ModelInferResponse", "model_version", 2},
  {"ModelInferResponse", "id", 3},
  {"ModelInferResponse", "parameters", 4, field_type::parameters},
  {"ModelInferResponse", "outputs", 5, field_type::message, true, "ModelInferResponse.InferOutputTensor"},
  {"ModelInferResponse", "raw_output_contents", 6, field_type::bytes, true},
  {"ModelInferResponse.InferOutputTensor", "name", 1},
  {"ModelInferResponse.InferOutputTensor", "datatype", 2},
  {"ModelInferResponse.InferOutputTensor", "shape", 3, field_type::int64, true},
  {"ModelInferResponse.InferOutputTensor", "parameters", 4, field_type::parameters},
  {"ModelInferResponse.InferOutputTensor", "contents", 5, field_type::message, false, "InferTensorContents"},
  {"InferParameter", "bool_param", 1, field_type::boolean, false, {}, true},
  {"InferParameter", "int64_param", 2, field_type::int64, false, {}, true},
  {"InferParameter", "string_param", 3, field_type::string, false, {}, true},
  {"InferParameter", "double_param", 4, field_type::real64, false, {}, true},
  {"InferParameter", "uint64_param", 5, field_type::uint64, false, {}, true},
  {"InferTensorContents", "bool_contents", 1, field_type::boolean, true},
  {"InferTensorContents", "int_contents", 2, field_type::int32, true},
  {"InferTensorContents", "int64_contents", 3, field_type::int64, true},
  {"InferTensorContents", "uint_contents", 4, field_type::uint32, true},
  {"InferTensorContents", "uint64_contents", 5, field_type::uint64, true},
  {"InferTensorContents", "fp32_contents", 6, field_type::real32, true},
  {"InferTensorContents", "fp64_contents", 7, field_type::real64, true},
  {"InferTensorContents", "bytes_contents", 8, field_type::bytes, true},
};
// clang-format on

/// The methods, each of whose messages are called after it.
inline constexpr std::string_view inference_methods[] = {"ServerLive",     "ServerReady",   "ModelReady",
                                                         "ServerMetadata", "ModelMetadata", "ModelInfer"};

constexpr bool is_map(const field_row& field) {
  return field.type == field_type::parameters || field.type == field_type::properties;
}
/// The message of the entries of a map.
inline std::string_view entry_of(const field_row& map) {
  return map.type == field_type::parameters ? "ParametersEntry" : "PropertiesEntry";
}

/// A FieldDescriptorProto of a field of that message.
inline void describe_field(protobuf_writer& to, const field_row& field) {
  to.text(1, field.name);
  to.number(3, field.number);
  to.number(4, field.is_repeated || is_map(field) ? 3 : 1);
  to.number(5, static_cast<std::uint64_t>(is_map(field) ? field_type::message : field.type));
  if (is_map(field)) to.text(6, ".inference." + std::string(field.message) + '.' + std::string(entry_of(field)));
  if (!field.type_name.empty()) to.text(6, ".inference." + std::string(field.type_name));
  if (field.is_choice) to.present(9, 0);
}
/// A DescriptorProto of the entries of a map.
inline void describe_entry(protobuf_writer& to, const field_row& map) {
  to.text(1, entry_of(map));
  to.message(2, [](protobuf_writer& key) { describe_field(key, {"", "key", 1}); });
  to.message(2, [&](protobuf_writer& value) {
    if (map.type == field_type::parameters)
      describe_field(value, {"", "value", 2, field_type::message, false, "InferParameter"});
    else
      describe_field(value, {"", "value", 2});
  });
  to.message(7, [](protobuf_writer& options) { options.number(7, 1); });
}

/// A DescriptorProto of the message of that name, and of those inside.
inline void describe_message(protobuf_writer& to, std::string_view message) {
  to.text(1, message.substr(message.rfind('.') + 1));
  bool has_choice = false;
  for (const field_row& field : inference_fields) {
    if (field.message != message || field.name.empty()) continue;
    to.message(2, [&](protobuf_writer& one) { describe_field(one, field); });
    has_choice = has_choice || field.is_choice;
  }
  std::string_view last;
  for (const field_row& field : inference_fields) {
    const bool is_inside = field.message.starts_with(message) && field.message.size() > message.size() &&
                           field.message[message.size()] == '.';
    if (!is_inside || field.message == last) continue;
    last = field.message;
    to.message(3, [&](protobuf_writer& inner) { describe_message(inner, field.message); });
  }
  for (const field_row& field : inference_fields)
    if (field.message == message && is_map(field))
      to.message(3, [&](protobuf_writer& entry) { describe_entry(entry, field); });
  if (has_choice) to.message(8, [](protobuf_writer& choice) { choice.text(1, "parameter_choice"); });
}

/// The FileDescriptorProto.
inline std::string inference_descriptor() {
  std::string file;
  protobuf_writer to(file);
  to.text(1, inference_file_name);
  to.text(2, "inference");
  std::string_view last;
  for (const field_row& field : inference_fields) {
    if (field.message == last || field.message.find('.') != std::string_view::npos) continue;
    last = field.message;
    to.message(4, [&](protobuf_writer& message) { describe_message(message, field.message); });
  }
  to.message(6, [](protobuf_writer& service) {
    service.text(1, inference_service_name.substr(inference_service_name.find('.') + 1));
    for (const std::string_view name : inference_methods)
      service.message(2, [&](protobuf_writer& method) {
        method.text(1, name);
        method.text(2, ".inference." + std::string(name) + "Request");
        method.text(3, ".inference." + std::string(name) + "Response");
      });
  });
  to.text(12, "proto3");
  return file;
}

}  // namespace levada::detail
