// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/grpc_stream.hpp: a stream of gRPC as a connection: messages wait in a row and are written one after the
// other; long payloads are sent from where they lie.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>

#include <levada/remote/detail/transport.hpp>

namespace levada::detail {

inline constexpr char grpc_method[] = "/levada.Remote/Session";

/// From so many bytes on a payload is not copied: gRPC keeps a slice of it until it is written.
inline constexpr std::size_t least_borrowed_bytes = 4096;

/// What driver's and node's end have in common. It lives until gRPC has done with it, and its owner, too.
class grpc_stream {
 public:
  virtual ~grpc_stream() = default;

  void set_events(connection_events& events) { events_ = &events; }

  void send(std::span<const std::byte> head, std::span<const std::byte> payload, std::uint64_t tag) {
    const bool is_borrowed = payload.size() >= least_borrowed_bytes;
    grpc::ByteBuffer message = is_borrowed ? borrowed(head, payload, tag) : copied(head, payload);
    if (!is_borrowed) events_->released(tag);
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_) return;  // the message ends here, and its payload is released
      if (std::exchange(is_writing_, true)) return put(message);
      message_.Swap(&message);
    }
    write(message_);
  }
  virtual void cancel() noexcept = 0;

  /// For the owner's end.
  void wait_until_done() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_done_ && borrowed_ == 0; });
  }

 protected:
  /// The call is started, and the owner has to wait for its end.
  virtual void write(const grpc::ByteBuffer& message) = 0;
  virtual void read(grpc::ByteBuffer& message) = 0;
  /// No write is under way, and none will be.
  virtual void finish() = 0;

  void begin_reading() { read(incoming_); }
  void on_write(bool ok) {
    message_.Clear();  // its payload is released, which takes the lock
    bool writes = false;
    {
      const std::lock_guard lock(mutex_);
      if (!ok) is_ending_ = true;
      if (!is_ending_ && waiting_count_ != 0) {
        message_.Swap(&waiting_[first_waiting_]);
        first_waiting_ = (first_waiting_ + 1) % waiting_.size();
        --waiting_count_;
        writes = true;
      } else {
        is_writing_ = false;
      }
      if (!writes && !(is_ending_ && has_read_all_)) return;
    }
    if (writes)
      write(message_);
    else
      finish();
  }
  void on_read(bool ok) {
    if (ok) {
      receive();
      return read(incoming_);
    }
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = has_read_all_ = true;
      if (is_writing_) return;
    }
    finish();
  }
  /// The last call.
  void on_done(const std::string& why) {
    std::vector<grpc::ByteBuffer> left;
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
      left.swap(waiting_);
      waiting_count_ = 0;
    }
    left.clear();
    message_.Clear();
    incoming_.Clear();
    events_->closed(why);
    const std::lock_guard lock(mutex_);
    is_done_ = true;
    changed_.notify_all();
  }

 private:
  struct borrowed_payload {
    grpc_stream* of = nullptr;
    std::uint64_t tag = 0;
    borrowed_payload* next = nullptr;
  };

  /// A buffer of gRPC's is copied where it is moved, and swapped where it is not to be.
  void put(grpc::ByteBuffer& message) {
    if (waiting_count_ == waiting_.size()) {
      std::vector<grpc::ByteBuffer> more(2 * waiting_count_ + 8);
      for (std::size_t i = 0; i < waiting_count_; ++i) more[i].Swap(&waiting_[(first_waiting_ + i) % waiting_count_]);
      waiting_.swap(more);
      first_waiting_ = 0;
    }
    waiting_[(first_waiting_ + waiting_count_++) % waiting_.size()].Swap(&message);
  }

  static grpc::ByteBuffer copied(std::span<const std::byte> head, std::span<const std::byte> payload) {
    grpc_slice raw = grpc_slice_malloc(head.size() + payload.size());
    std::memcpy(GRPC_SLICE_START_PTR(raw), head.data(), head.size());
    if (!payload.empty()) std::memcpy(GRPC_SLICE_START_PTR(raw) + head.size(), payload.data(), payload.size());
    const grpc::Slice slice(raw, grpc::Slice::STEAL_REF);
    return grpc::ByteBuffer(&slice, 1);
  }
  grpc::ByteBuffer borrowed(std::span<const std::byte> head, std::span<const std::byte> payload, std::uint64_t tag) {
    borrowed_payload* record;
    {
      const std::lock_guard lock(mutex_);
      ++borrowed_;
      if (free_ == nullptr) {
        records_.push_back(std::make_unique<borrowed_payload>());
        free_ = records_.back().get();
        free_->of = this;
      }
      record = std::exchange(free_, free_->next);
      record->tag = tag;
    }
    const grpc::Slice slices[] = {grpc::Slice(head.data(), head.size()),
                                  grpc::Slice(
                                      const_cast<std::byte*>(payload.data()), payload.size(),
                                      [](void* of) {
                                        auto* const one = static_cast<borrowed_payload*>(of);
                                        one->of->give_back(one);
                                      },
                                      record)};
    return grpc::ByteBuffer(slices, 2);
  }
  void give_back(borrowed_payload* one) {
    events_->released(one->tag);
    const std::lock_guard lock(mutex_);
    one->next = std::exchange(free_, one);
    if (--borrowed_ == 0 && is_done_) changed_.notify_all();
  }

  void receive() {
    slices_.clear();
    pieces_.clear();
    if (!incoming_.Dump(&slices_).ok()) return cancel();
    for (const grpc::Slice& s : slices_) pieces_.emplace_back(reinterpret_cast<const std::byte*>(s.begin()), s.size());
    events_->received(pieces_);
    incoming_.Clear();
  }

  connection_events* events_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  grpc::ByteBuffer message_;               ///< that is being written
  std::vector<grpc::ByteBuffer> waiting_;  ///< a ring
  std::size_t first_waiting_ = 0, waiting_count_ = 0;
  bool is_writing_ = false, is_ending_ = false, has_read_all_ = false, is_done_ = false;
  std::size_t borrowed_ = 0;
  borrowed_payload* free_ = nullptr;
  std::vector<std::unique_ptr<borrowed_payload>> records_;
  grpc::ByteBuffer incoming_;  ///< that is being read
  std::vector<grpc::Slice> slices_;
  std::vector<std::span<const std::byte>> pieces_;
};

/// The owner's end of a stream.
class grpc_connection final : public connection {
 public:
  grpc_connection(std::shared_ptr<grpc_stream> stream, std::string peer)
      : stream_(std::move(stream)), peer_(std::move(peer)) {}
  ~grpc_connection() override {
    if (!is_started_) return;
    stream_->cancel();
    stream_->wait_until_done();
  }

  /// Nobody was told of it before.
  void set_started() { is_started_ = true; }

  void send(std::span<const std::byte> head, std::span<const std::byte> payload, std::uint64_t tag) override {
    stream_->send(head, payload, tag);
  }
  void close() noexcept override { stream_->cancel(); }
  std::string peer() const override { return peer_; }

 private:
  std::shared_ptr<grpc_stream> stream_;
  std::string peer_;
  bool is_started_ = false;
};

}  // namespace levada::detail
