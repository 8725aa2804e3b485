// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/client.hpp: a client of the tests' services, and what it asks for.

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <levada/levada.hpp>
#include <levada/service/serve.hpp>

namespace levada::test {

namespace lv = levada;
using lv::detail::protobuf_reader;
using lv::detail::protobuf_writer;

/// One of a method, which is under way from its start.
class call {
 public:
  call(const std::shared_ptr<grpc::Channel>& to, const std::string& method, const std::string& message,
       std::chrono::milliseconds patience = std::chrono::minutes(2),
       const std::vector<std::string>& traceparents = {}) {
    for (const std::string& t : traceparents) context_.AddMetadata("traceparent", t);
    const grpc::Slice slice(message.data(), message.size());
    grpc::ByteBuffer request(&slice, 1);
    context_.set_deadline(std::chrono::system_clock::now() + patience);
    call_ = grpc::GenericStub(to).PrepareUnaryCall(&context_, method, request, &queue_);
    call_->StartCall();
    call_->Finish(&answer_, &status_, this);
  }
  /// Waits for it.
  const grpc::Status& status() {
    void* tag = nullptr;
    bool ok = false;
    if (!is_done_) queue_.Next(&tag, &ok);
    is_done_ = true;
    return status_;
  }
  std::string answer() {
    if (!status().ok()) return "failed: " + status_.error_message();
    grpc::Slice slice;
    static_cast<void>(answer_.DumpToSingleSlice(&slice));
    return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
  }

 private:
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> call_;
  grpc::ByteBuffer answer_;
  grpc::Status status_;
  bool is_done_ = false;
};

inline constexpr char infer[] = "/inference.GRPCInferenceService/ModelInfer";

struct sequence {
  std::uint64_t id = 0;
  bool starts = false, ends = false;
};
/// Of numbers, each an item.
inline std::string request(const std::vector<float>& items, sequence in = {}) {
  std::string message;
  protobuf_writer to(message);
  to.text(1, "model");
  const auto parameter = [&](std::string_view name, std::uint32_t field, std::uint64_t value) {
    to.message(4, [&](protobuf_writer& entry) {
      entry.text(1, name);
      entry.message(2, [&](protobuf_writer& v) { v.number(field, value); });
    });
  };
  if (in.id != 0) parameter("sequence_id", 2, in.id);
  if (in.starts) parameter("sequence_start", 1, 1);
  if (in.ends) parameter("sequence_end", 1, 1);
  to.message(5, [&](protobuf_writer& input) {
    input.text(1, "input");
    input.text(2, "FP32");
    input.message(3, [&](protobuf_writer& shape) { shape.varint(items.size()); });
  });
  to.begin_bytes(7, 4 * items.size());
  message.append(reinterpret_cast<const char*>(items.data()), 4 * items.size());
  return message;
}
inline std::vector<float> results(const std::string& answer) {
  std::vector<float> all;
  for (protobuf_reader from(std::as_bytes(std::span(answer))); from.next();)
    if (from.field() == 6) {
      all.resize(from.bytes().size() / 4);
      std::memcpy(all.data(), from.bytes().data(), from.bytes().size());
    }
  return all;
}
inline lv::service_options here() { return {.address = "127.0.0.1:0", .security = lv::plain_text{}}; }
inline std::shared_ptr<grpc::Channel> channel(const lv::inference_service& to) {
  return grpc::CreateChannel(to.address(), grpc::InsecureChannelCredentials());
}

/// Of all numbers of a session.
inline auto sums() {
  return lv::input<float> | lv::stage<"sum">([sum = 0.f](float x) mutable { return sum += x; });
}

}  // namespace levada::test
