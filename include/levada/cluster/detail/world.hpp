// SPDX-License-Identifier: Apache-2.0
#pragma once
// cluster/detail/world.hpp: MPI as this process has it: one call at a time, whatever thread makes it, in a communicator
// of our own.

// MPI's own classes for C++, which MPI 3 has no more.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

namespace levada::detail {

/// Where MPI fails all ranks end: it promises nothing behind that.
[[noreturn]] inline void end_all_ranks(int rank, const std::string& why) {
  std::fprintf(stderr, "levada: rank %d: %s: all ranks end\n", rank, why.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::terminate();  // it does not return
}

/// Threads hold it in the order in which they asked: beside one that makes call after call, some of them long, others
/// get their turn.
class ordered_mutex {
 public:
  void lock() {
    const std::uint32_t mine = next_.fetch_add(1);
    for (std::uint32_t serving = serving_.load(); serving != mine; serving = serving_.load()) serving_.wait(serving);
  }
  bool try_lock() {
    std::uint32_t serving = serving_.load();
    return next_.compare_exchange_strong(serving, serving + 1);
  }
  void unlock() {
    serving_.fetch_add(1);
    serving_.notify_all();
  }
  /// Asked by the thread that holds it.
  bool is_waited_for() const { return next_.load() != serving_.load() + 1; }

 private:
  std::atomic<std::uint32_t> next_{0}, serving_{0};
};

/// How often a thread that holds MPI looks for a message: what comes behind the first look is seen sooner.
inline constexpr int looks_at_once = 4;

class mpi_world {
 public:
  mpi_world(int* argc, char*** argv) {
    int given = 0;
    MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &given);  // where it fails it ends the program
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (given < MPI_THREAD_SERIALIZED) end_all_ranks(rank_, "this MPI lets no other thread call it than the first");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    void* most = nullptr;
    int is_known = 0;
    MPI_Comm_get_attr(comm_, MPI_TAG_UB, &most, &is_known);
    if (is_known == 0 || *static_cast<int*>(most) < most_tag)
      end_all_ranks(rank_, "this MPI has fewer tags than a pipeline needs");
  }
  ~mpi_world() {
    MPI_Comm_free(&comm_);
    MPI_Finalize();
  }
  mpi_world(const mpi_world&) = delete;
  mpi_world& operator=(const mpi_world&) = delete;

  static constexpr int most_tag = (1 << 30) - 1;
  static constexpr std::size_t most_lanes = std::size_t{1} << 13;

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm comm() const { return comm_; }
  /// Held by whoever calls MPI.
  ordered_mutex& calls() { return calls_; }

  /// What a call gave.
  void check(int result) const {
    if (result == MPI_SUCCESS) [[likely]]
      return;
    char text[MPI_MAX_ERROR_STRING + 1] = {};
    int length = 0;
    MPI_Error_string(result, text, &length);
    end_all_ranks(rank_, text);
  }

  /// A number for a session's way to a rank, which no other has at that time.
  std::size_t take_lane() {
    const std::lock_guard lock(calls_);
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      if (!lanes_[i]) {
        lanes_[i] = true;
        return i;
      }
    if (lanes_.size() == most_lanes) end_all_ranks(rank_, "more than 8,192 sessions have parts on ranks");
    lanes_.push_back(true);
    return lanes_.size() - 1;
  }
  void give_lane_back(std::size_t lane) {
    const std::lock_guard lock(calls_);
    lanes_[lane] = false;
  }

 private:
  int rank_ = 0, size_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
  ordered_mutex calls_;
  std::vector<bool> lanes_;  ///< those that are taken
};

}  // namespace levada::detail
