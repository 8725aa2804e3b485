// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/reflection.hpp: answers of gRPC's server reflection (grpc/reflection/v1/reflection.proto, and v1alpha,
// which is the same): which services are here, and their definition.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <levada/service/detail/inference_descriptor.hpp>
#include <levada/service/detail/model.hpp>
#include <levada/service/detail/protobuf.hpp>

namespace levada::detail {

/// A ServerReflectionResponse. Throws wire_error where that is no ServerReflectionRequest.
inline std::string reflection_answer(std::span<const std::byte> request) {
  std::string message;
  protobuf_writer to(message);
  std::string_view asked;
  std::uint32_t question = 0;
  for (protobuf_reader from(request); from.next();) {
    if (from.field() == 1) to.text(1, from.text());
    if (from.field() < 3 || from.field() > 7) continue;
    question = from.field();
    if (from.type() == protobuf_type::bytes) asked = from.text();
  }
  to.message(2,
             [&](protobuf_writer&) { message.append(reinterpret_cast<const char*>(request.data()), request.size()); });
  const bool is_file = question == 3 && asked == inference_file_name;
  const bool is_symbol = question == 4 && asked.starts_with("inference.");
  if (is_file || is_symbol) {
    to.message(4, [](protobuf_writer& files) { files.element(1, inference_descriptor()); });
  } else if (question == 7) {
    to.message(6, [](protobuf_writer& services) {
      services.message(1, [](protobuf_writer& service) { service.text(1, inference_service_name); });
    });
  } else {
    to.message(7, [&](protobuf_writer& error) {
      error.number(1, static_cast<std::uint64_t>(status_code::not_found));
      error.text(2, "reflection knows " + std::string(inference_service_name) + " alone");
    });
  }
  return message;
}

}  // namespace levada::detail
