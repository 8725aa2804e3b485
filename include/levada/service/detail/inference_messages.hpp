// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/inference_messages.hpp: the small calls of the Open Inference Protocol, each an answer to a message.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <levada/core/detail/version.hpp>
#include <levada/service/detail/infer_answer.hpp>
#include <levada/service/detail/model.hpp>
#include <levada/service/detail/protobuf.hpp>

namespace levada::detail {

/// ServerLiveResponse, ServerReadyResponse and ModelReadyResponse are the same.
inline std::string yes_or_no(bool is_so) {
  std::string message;
  protobuf_writer(message).number(1, is_so ? 1 : 0);
  return message;
}

/// Throws refusal, and wire_error where that is no ModelReadyRequest or ModelMetadataRequest.
inline void check_model_asked_for(std::span<const std::byte> request, const served_model& model) {
  std::string_view name, version;
  for (protobuf_reader from(request); from.next();) {
    if (from.field() == 1) name = from.text();
    if (from.field() == 2) version = from.text();
  }
  model.check(name, version);
}

inline std::string server_metadata(const served_model& model) {
  std::string message;
  protobuf_writer to(message);
  to.text(1, "levada");
  to.text(2, std::to_string(LEVADA_VERSION / 10000) + '.' + std::to_string(LEVADA_VERSION / 100 % 100) + '.' +
                 std::to_string(LEVADA_VERSION % 100));
  if (model.keeps_state) to.element(3, "sequence");
  return message;
}

inline std::string model_metadata(const served_model& model) {
  std::string message;
  protobuf_writer to(message);
  to.text(1, model.name);
  to.element(2, model.version);
  to.text(3, "levada");
  for (const item_tensor& t : model.inputs) to.message(4, [&](protobuf_writer& in) { write_tensor_fields(in, t, -1); });
  for (const item_tensor& t : model.outputs)
    to.message(5, [&](protobuf_writer& out) { write_tensor_fields(out, t, -1); });
  return message;
}

}  // namespace levada::detail
