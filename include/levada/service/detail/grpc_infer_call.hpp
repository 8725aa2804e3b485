// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/grpc_infer_call.hpp: a call of ModelInfer, whose memory is used again by the next.

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <levada/core/detail/trace_context.hpp>
#include <levada/run/detail/measure/meter.hpp>
#include <levada/service/detail/grpc_calls.hpp>
#include <levada/service/detail/infer_call.hpp>

namespace levada::detail {

class grpc_infer_call;

/// Calls that are over, and those that there are.
class infer_call_pool {
 public:
  struct counted {
    std::array<std::uint64_t, 17> by_code{};  ///< calls that were answered so
    std::size_t active = 0;
  };

  grpc_infer_call& take(const served_model& model, infer_worker& worker);
  void give_back(grpc_infer_call& call, std::size_t code) noexcept {
    const std::lock_guard lock(mutex_);
    free_.push_back(&call);  // there is room for all
    --counts_.active;
    ++counts_.by_code[code < counts_.by_code.size() ? code : 2];
  }
  counted counts() {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<grpc_infer_call>> all_;
  std::vector<grpc_infer_call*> free_;
  counted counts_;
};

class grpc_infer_call final : public infer_call {
  class reactor final : public grpc::ServerGenericBidiReactor {
   public:
    explicit reactor(grpc_infer_call& of) : of_(of) { StartRead(&of.incoming_); }

   private:
    void OnReadDone(bool ok) override { of_.received(ok); }
    void OnDone() override { of_.end(); }

    grpc_infer_call& of_;
  };

 public:
  grpc_infer_call(infer_call_pool& pool, const served_model& model, infer_worker& worker)
      : pool_(pool), model_(model), worker_(worker) {}

  grpc::ServerGenericBidiReactor* start(grpc::GenericCallbackServerContext& context) {
    clear();
    context_ = &context;
    if (worker_.keeps_traces()) read_caller();
    return &reactor_.emplace(*this);
  }

  bool is_given_up() const noexcept override {
    return context_->IsCancelled() || context_->deadline() < std::chrono::system_clock::now();
  }
  void finish() noexcept override {
    if (code() != status_code::ok) return reactor_->Finish(status_of({code(), why()}));
    const grpc::Slice slice(answer.message().data(), answer.message().size());
    grpc::ByteBuffer made(&slice, 1);
    outgoing_.Swap(&made);
    reactor_->StartWriteAndFinish(&outgoing_, {}, grpc::Status::OK);
  }

 private:
  /// A call that says it twice says nothing.
  void read_caller() {
    const auto& said = context_->client_metadata();
    const auto [first, end] = said.equal_range("traceparent");
    if (first == end || std::next(first) != end) return;
    caller = trace_context::parse({first->second.data(), first->second.size()});
    came_at = meter::now();
  }
  void received(bool ok) noexcept {
    try {
      message_.take(ok, incoming_);
      request.read(message_.bytes(), model_);
      answer.begin(request, model_);
      worker_.submit(*this);
    } catch (...) {
      refusal r = refusal_of_exception();
      fail(r.code, std::move(r.why));
      finish();
    }
  }
  /// gRPC has done with it.
  void end() noexcept {
    outgoing_.Clear();
    incoming_.Clear();
    message_.clear();
    const auto ended = static_cast<std::size_t>(code());
    reactor_.reset();
    pool_.give_back(*this, ended);
  }

  infer_call_pool& pool_;
  const served_model& model_;
  infer_worker& worker_;
  grpc::GenericCallbackServerContext* context_ = nullptr;
  std::optional<reactor> reactor_;
  grpc::ByteBuffer incoming_, outgoing_;
  whole_message message_;
};

inline grpc_infer_call& infer_call_pool::take(const served_model& model, infer_worker& worker) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    free_.reserve(all_.size() + 1);
    all_.push_back(std::make_unique<grpc_infer_call>(*this, model, worker));
    free_.push_back(all_.back().get());
  }
  grpc_infer_call& taken = *free_.back();
  free_.pop_back();
  ++counts_.active;
  return taken;
}

}  // namespace levada::detail
