// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/grpc_calls.hpp: the calls of a service as gRPC's generic reactors: one message and its answer, or one
// answer for each message of a stream.

#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <levada/remote/detail/wire.hpp>
#include <levada/service/detail/model.hpp>

namespace levada::detail {

/// A message in one piece.
class whole_message {
 public:
  /// `ok` is gRPC's word for one that came. Throws wire_error where none did.
  void take(bool ok, grpc::ByteBuffer& from) {
    if (!ok || !(from.TrySingleSlice(&slice_).ok() || from.DumpToSingleSlice(&slice_).ok()))
      throw wire_error("levada: a call came without its message");
    from.Clear();
  }
  std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(slice_.begin()), slice_.size()};
  }
  void clear() { slice_ = grpc::Slice(); }

 private:
  grpc::Slice slice_;
};

inline grpc::Status status_of(const refusal& r) { return {static_cast<grpc::StatusCode>(r.code), r.why}; }
/// Of the exception that is being handled.
inline refusal refusal_of_exception() noexcept {
  try {
    throw;
  } catch (refusal& r) {
    return std::move(r);
  } catch (const wire_error& e) {
    return {status_code::invalid_argument, e.what()};
  } catch (const std::exception& e) {
    return {status_code::internal, e.what()};
  } catch (...) {
    return {status_code::internal, "levada: an exception of no known type"};
  }
}

/// `Answer(message)` makes the answer, a string; it may throw.
template <class Answer>
class answered_message final : public grpc::ServerGenericBidiReactor {
 public:
  /// `once`: there is one message, else a stream of them.
  answered_message(Answer answer, bool once) : answer_(std::move(answer)), once_(once) { StartRead(&message_); }

 private:
  void OnReadDone(bool ok) override {
    if (!ok && !once_) return Finish(grpc::Status::OK);
    try {
      whole_message whole;
      whole.take(ok, message_);
      const std::string answer = answer_(whole.bytes());
      const grpc::Slice slice(answer.data(), answer.size());
      grpc::ByteBuffer made(&slice, 1);
      message_.Swap(&made);
    } catch (...) {
      return Finish(status_of(refusal_of_exception()));
    }
    if (once_)
      StartWriteAndFinish(&message_, {}, grpc::Status::OK);
    else
      StartWrite(&message_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    message_.Clear();
    StartRead(&message_);
  }
  void OnDone() override { delete this; }

  Answer answer_;
  const bool once_;
  grpc::ByteBuffer message_;
};

class refused_message final : public grpc::ServerGenericBidiReactor {
 public:
  explicit refused_message(const grpc::Status& why) { Finish(why); }

 private:
  void OnDone() override { delete this; }
};

}  // namespace levada::detail
