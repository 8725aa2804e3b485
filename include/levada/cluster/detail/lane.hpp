// SPDX-License-Identifier: Apache-2.0
#pragma once
// cluster/detail/lane.hpp: a session's way to its segment on a rank. Items go from the driver's slots, and results come
// to them, by requests that are made once for each slot.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <levada/cluster/detail/kernel.hpp>
#include <levada/cluster/detail/message.hpp>
#include <levada/cluster/detail/world.hpp>
#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

/// A message of a slot that is sent or received again and again, from or to the same place as a rule.
class repeated_message {
 public:
  repeated_message() = default;
  ~repeated_message() {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }
  repeated_message(const repeated_message&) = delete;
  repeated_message& operator=(const repeated_message&) = delete;

  void send(const mpi_world& world, const void* from, std::size_t bytes, int rank, int tag) {
    start(world, from, bytes,
          [&] { return MPI_Send_init(from, static_cast<int>(bytes), MPI_BYTE, rank, tag, world.comm(), &request_); });
  }
  void receive(const mpi_world& world, void* to, std::size_t bytes, int rank, int tag) {
    start(world, to, bytes,
          [&] { return MPI_Recv_init(to, static_cast<int>(bytes), MPI_BYTE, rank, tag, world.comm(), &request_); });
  }
  MPI_Request* request() { return &request_; }

 private:
  template <class Make>
  void start(const mpi_world& world, const void* at, std::size_t bytes, const Make& make) {
    if (at_ != at || bytes_ != bytes || request_ == MPI_REQUEST_NULL) {
      if (request_ != MPI_REQUEST_NULL) world.check(MPI_Request_free(&request_));
      world.check(make());
      at_ = at;
      bytes_ = bytes;
    }
    world.check(MPI_Start(&request_));
  }

  MPI_Request request_ = MPI_REQUEST_NULL;
  const void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

class mpi_lane {
 public:
  /// `credits`: items that the rank takes at once.
  mpi_lane(std::size_t segment, std::size_t slots, std::size_t credits, device_client& client, const mpi_kernel& kernel)
      : world_(*kernel.way->world),
        rank_(kernel.way->rank),
        segment_(segment),
        client_(client),
        kernel_(kernel),
        slots_(slots),
        queue_(slots),
        credits_(std::min(credits, slots)),
        lane_(world_.take_lane()) {
    const std::lock_guard lock(world_.calls());
    send_word(world_, rank_, word_kind::open, lane_);
  }
  /// Nothing is in flight.
  ~mpi_lane() {
    {
      const std::lock_guard lock(world_.calls());
      send_word(world_, rank_, word_kind::close, lane_);
      slots_ = fixed_array<slot>();
    }
    world_.give_lane_back(lane_);
  }

  mpi_lane(const mpi_lane&) = delete;
  mpi_lane& operator=(const mpi_lane&) = delete;

  void submit(std::uint64_t item) {
    const void* const given = client_.input(segment_, item, 0);
    if (given == nullptr) return client_.complete(segment_, item);
    slot& s = slots_[item % slots_.size()];
    s.item = item;
    s.bytes = kernel_.item.bytes_of(given, s.written);
    s.into = client_.output(segment_, item, 0);
    under_way_.fetch_add(1);
    {
      const std::lock_guard lock(world_.calls());
      queue_[pushed_++ % queue_.size()] = &s;
      start_some();
    }
  }

  /// Items are there whose results were not reported.
  bool waits() const { return under_way_.load() != 0; }
  /// Reports what has come. Says whether it pays to look again at once; `if_held` where another thread calls MPI.
  bool look(bool if_held) noexcept {
    std::unique_lock lock(world_.calls(), std::try_to_lock);
    if (!lock) return if_held;
    if (done_ == started_) return false;
    slot& s = *queue_[done_ % queue_.size()];  // results come in the order of items
    int is_there = 0;
    MPI_Status status;
    for (int tests = 0; is_there == 0 && tests < looks_at_once; ++tests)
      world_.check(MPI_Test(s.result.request(), &is_there, &status));
    if (is_there == 0) return waits_a_moment();
    in_vain_ = 0;
    world_.check(MPI_Wait(s.sent.request(), MPI_STATUS_IGNORE));  // it was taken, since its result is there
    int count = 0;
    world_.check(MPI_Get_count(&status, MPI_BYTE, &count));
    const std::string behind = count == 0 ? text_behind(s) : std::string();
    ++done_;
    start_some();
    lock.unlock();
    finish(s, static_cast<std::size_t>(count), behind);
    return true;
  }

 private:
  using clock = std::chrono::steady_clock;

  struct slot {
    std::uint64_t item = 0;
    std::span<const std::byte> bytes;
    void* into = nullptr;
    std::vector<std::byte> written, came;  ///< where item or result do not go as they lie
    repeated_message sent, result;
  };

  bool comes_as_it_lies() const { return kernel_.result.write == nullptr; }

  void start_some() {
    for (; started_ != pushed_ && started_ - done_ < credits_; ++started_) {
      slot& s = *queue_[started_ % queue_.size()];
      const int tag = tag_of(lane_, static_cast<std::size_t>(&s - slots_.begin()));
      s.came.resize(comes_as_it_lies() ? 0 : kernel_.result.most_bytes);
      s.result.receive(world_, comes_as_it_lies() ? s.into : s.came.data(), kernel_.result.most_bytes, rank_, tag);
      s.sent.send(world_, s.bytes.data(), s.bytes.size(), rank_, tag);
    }
  }

  /// Looks that found nothing: first in a row, then letting others go first, and at last not at all.
  bool waits_a_moment() {
    if (++in_vain_ < 64) return true;
    if (in_vain_ == 64) since_ = clock::now();
    std::this_thread::yield();
    return clock::now() - since_ < std::chrono::milliseconds(2);
  }

  std::string text_behind(const slot& s) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    const int tag = tag_of(lane_, static_cast<std::size_t>(&s - slots_.begin()));
    world_.check(MPI_Mprobe(rank_, tag, world_.comm(), &message, &status));
    return text_of_bytes(receive_bytes(world_, message, status));
  }

  void finish(slot& s, std::size_t bytes, const std::string& behind) noexcept {
    under_way_.fetch_sub(1);
    try {
      if (behind == filtered_text) {
        kernel_.make_filtered(s.into);
      } else if (!behind.empty()) {
        throw remote_error("levada: rank " + std::to_string(rank_) + ": item " + std::to_string(s.item) + ": " +
                           behind);
      } else if (!comes_as_it_lies()) {
        const std::span<const std::byte> pieces[] = {std::span(s.came).first(bytes)};
        wire_reader from(pieces);
        kernel_.result.construct(from, s.into);
      }
    } catch (...) {
      return client_.fail(segment_, s.item, std::current_exception());
    }
    client_.complete(segment_, s.item);
  }

  mpi_world& world_;
  const int rank_;
  const std::size_t segment_;
  device_client& client_;
  const mpi_kernel& kernel_;
  fixed_array<slot> slots_;
  fixed_array<slot*> queue_;  ///< of items in their order: done before started before pushed
  std::uint64_t done_ = 0, started_ = 0, pushed_ = 0;
  std::atomic<std::uint64_t> under_way_{0};
  const std::size_t credits_;
  const std::size_t lane_;
  int in_vain_ = 0;
  clock::time_point since_;
};

}  // namespace levada::detail
