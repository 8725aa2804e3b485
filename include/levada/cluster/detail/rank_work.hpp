// SPDX-License-Identifier: Apache-2.0
#pragma once
// cluster/detail/rank_work.hpp: what a rank does for the driver: a session of its part for each of the driver's. One
// thread takes messages; results are sent by whoever has them.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <levada/cluster/detail/message.hpp>
#include <levada/cluster/detail/world.hpp>
#include <levada/remote/detail/filtering_session.hpp>
#include <levada/remote/detail/frame.hpp>
#include <levada/remote/detail/identity.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

/// Sends what a session gives, to the tags of its items.
class rank_sender {
 public:
  explicit rank_sender(mpi_world& world) : world_(world) {}

  void send_value(std::uint64_t tag, std::span<const std::byte> bytes) {
    send(tag, bytes);
    if (bytes.empty()) send(tag, {});
  }
  void send_filtered(std::uint64_t tag) {
    send(tag, {});
    send(tag, std::as_bytes(std::span(filtered_text)));
  }
  void send_failure(std::uint64_t tag, const std::exception_ptr& why) {
    std::string text = failure_text(why);
    if (text.empty()) text = "it says nothing";
    send(tag, {});
    send(tag, std::as_bytes(std::span(text)));
  }
  void give_up() noexcept { end_all_ranks(world_.rank(), "a session can go on no more"); }

 private:
  void send(std::uint64_t tag, std::span<const std::byte> bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    int is_done = 0;
    for (int looks = 0; is_done == 0; ++looks) {
      if (looks > 16) std::this_thread::yield();
      const std::lock_guard lock(world_.calls());
      if (looks == 0)
        world_.check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, static_cast<int>(tag),
                               world_.comm(), &request));
      world_.check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE));
    }
  }

  mpi_world& world_;
};

template <class App>
class rank_work {
 public:
  rank_work(mpi_world& world, const App& app, std::string_view identity)
      : world_(world), app_(app), identity_(identity) {}

  /// Until the driver has nothing more.
  void run() {
    using clock = std::chrono::steady_clock;
    clock::time_point last = clock::now();
    for (int in_vain = 0; !is_over_;) {
      if (take_message()) {
        in_vain = 0;
      } else if (++in_vain > 64) {
        if (in_vain == 65) last = clock::now();
        if (clock::now() - last < longest_polling)
          std::this_thread::yield();
        else
          std::this_thread::sleep_for(between);
      }
    }
  }

 private:
  using item = typename App::item;
  static constexpr std::chrono::milliseconds longest_polling{1};
  static constexpr std::chrono::microseconds between{50};

  /// A session of the driver's, as it is here.
  struct open_session {
    open_session(mpi_world& world, const App& app) : sender(world), session(app, sender) { session.open(); }
    ~open_session() {
      session.end();
      session.join();
    }
    rank_sender sender;
    session_of_driver<App, rank_sender> session;
  };

  bool take_message() {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    std::optional<word> said;
    {
      const std::lock_guard lock(world_.calls());
      int is_there = 0;
      for (int looks = 0; is_there == 0 && looks < looks_at_once; ++looks)
        world_.check(MPI_Improbe(0, MPI_ANY_TAG, world_.comm(), &is_there, &message, &status));
      if (is_there == 0) return false;
      if (status.MPI_TAG == words_tag) said = receive_word(world_, message, status);
    }
    if (said)
      hear(*said);
    else
      take_item(message, status);
    return true;
  }

  void hear(const word& said) {
    const std::size_t lane = static_cast<std::size_t>(said.number);
    switch (said.kind) {
      case word_kind::hello: {
        const std::string difference = first_difference(said.text, identity_);
        const std::lock_guard lock(world_.calls());
        if (difference.empty())
          send_word(world_, 0, word_kind::welcome, App::plan.slots);
        else
          send_word(world_, 0, word_kind::refusal, 0, "the ranks are programs that differ: " + difference);
        return;
      }
      case word_kind::open:
        sessions_[lane] = std::make_unique<open_session>(world_, app_);
        return;
      case word_kind::close:
        sessions_.erase(lane);
        return;
      default:
        is_over_ = true;
    }
  }

  void take_item(MPI_Message& message, const MPI_Status& status) {
    const auto found = sessions_.find(lane_of(status.MPI_TAG));
    if (found == sessions_.end()) end_all_ranks(world_.rank(), "an item comes for no session");
    found->second->session.take(static_cast<std::uint64_t>(status.MPI_TAG),
                                [&] { return receive_item(message, status); });
  }
  /// `to` is the item's place. Two functions, as in `item_from_wire`.
  item receive_item(MPI_Message& message, const MPI_Status&)
    requires goes_as_it_lies<item>
  {
    item to;
    const std::lock_guard lock(world_.calls());
    world_.check(MPI_Mrecv(&to, static_cast<int>(sizeof to), MPI_BYTE, &message, MPI_STATUS_IGNORE));
    return to;
  }
  item receive_item(MPI_Message& message, const MPI_Status& status) {
    std::unique_lock lock(world_.calls());
    const std::vector<std::byte> bytes = receive_bytes(world_, message, status);
    lock.unlock();
    const std::span<const std::byte> pieces[] = {bytes};
    wire_reader from(pieces);
    return item_from_wire<item>(from);
  }

  mpi_world& world_;
  const App& app_;
  const std::string_view identity_;
  std::map<std::size_t, std::unique_ptr<open_session>> sessions_;  ///< by the driver's lanes
  bool is_over_ = false;
};

}  // namespace levada::detail
