// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/in_process.hpp: a transport inside one process, for tests: nodes that fail when they are told to, without a
// network and without a port. Each connection has a thread for each way.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/start_thread.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/frame.hpp>
#include <levada/remote/detail/transport.hpp>

namespace levada {
namespace detail {

/// One way of a connection: what is put there is received by the other end, on a thread of its own.
class in_process_way {
 public:
  struct message {
    std::byte head[most_head_bytes];
    std::size_t head_bytes = 0;
    std::span<const std::byte> payload;
    std::uint64_t tag = 0;
  };

  /// False: it is closed, and the message is lost.
  bool put(const message& m) {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_) return false;
      waiting_.push_back(m);
    }
    changed_.notify_one();
    return true;
  }
  void close(const std::string& why) {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_) return;
      is_closed_ = true;
      why_ = why;
    }
    changed_.notify_one();
  }
  /// Until it is closed; what is left then is lost.
  void carry(connection_events* from, connection_events* to) {
    std::vector<message> taken;
    for (bool is_open = true; is_open;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
        taken.swap(waiting_);
        is_open = !is_closed_;
      }
      for (const message& m : taken) {
        const std::span<const std::byte> pieces[] = {std::span(m.head, m.head_bytes), m.payload};
        if (to != nullptr && !is_closed()) to->received(pieces);
        if (from != nullptr) from->released(m.tag);
      }
      taken.clear();
    }
    if (to != nullptr) to->closed(why_);
  }

 private:
  bool is_closed() {
    const std::lock_guard lock(mutex_);
    return is_closed_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<message> waiting_;
  bool is_closed_ = false;
  std::string why_;
};

/// Both ends of a connection.
class in_process_pair {
 public:
  in_process_pair(std::string address, connection_events& driver_end)
      : address_(std::move(address)), driver_(&driver_end) {}
  ~in_process_pair() {
    for (std::thread& t : carriers_)
      if (t.joinable()) t.join();
  }

  const std::string& address() const { return address_; }
  connection_events& events(bool of_driver) { return of_driver ? *driver_ : *node_; }
  in_process_way& way(bool of_driver) { return of_driver ? there_ : back_; }

  /// `node_end`: null where nobody takes it.
  void start(connection_events* node_end) {
    node_ = node_end;
    if (node_ == nullptr) close("nobody listens there");
    running_ = 2;
    carriers_[0] = start_thread("a connection", [this] { carry(there_, driver_, node_); });
    carriers_[1] = start_thread("a connection", [this] { carry(back_, node_, driver_); });
  }
  /// The first reason counts, for both ends.
  void close(const std::string& why) {
    {
      const std::lock_guard lock(mutex_);
      if (why_.empty()) why_ = why;
    }
    there_.close(why_);
    back_.close(why_);
  }
  /// Until neither end is told anything any more.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return running_ == 0; });
  }

 private:
  void carry(in_process_way& way, connection_events* from, connection_events* to) {
    way.carry(from, to);
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  const std::string address_;
  connection_events* driver_;
  connection_events* node_ = nullptr;
  in_process_way there_, back_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
  std::string why_;
  std::thread carriers_[2];
};

/// One end, which is one of the two that have the pair.
class in_process_end final : public connection {
 public:
  in_process_end(std::shared_ptr<in_process_pair> pair, bool is_driver)
      : pair_(std::move(pair)), is_driver_(is_driver) {}
  ~in_process_end() override {
    close();
    pair_->wait();
  }

  void send(std::span<const std::byte> head, std::span<const std::byte> payload, std::uint64_t tag) override {
    in_process_way::message m{};
    std::memcpy(m.head, head.data(), head.size());
    m.head_bytes = head.size();
    m.payload = payload;
    m.tag = tag;
    if (!pair_->way(is_driver_).put(m)) pair_->events(is_driver_).released(tag);
  }
  void close() noexcept override { pair_->close(is_driver_ ? "the driver went away" : "the node closed it"); }
  std::string peer() const override { return is_driver_ ? pair_->address() : "a driver of this process"; }

 private:
  const std::shared_ptr<in_process_pair> pair_;
  const bool is_driver_;
};

}  // namespace detail

/// Connects drivers and nodes of one process: `auto by = std::make_shared<in_process>()`, for both.
class in_process final : public transport {
 public:
  std::unique_ptr<connection> connect(const std::string& address, std::size_t, connection_events& events) override {
    auto pair = std::make_shared<detail::in_process_pair>(address, events);
    auto made = std::make_unique<detail::in_process_end>(pair, true);
    const std::lock_guard accepting(accepting_);
    connection_acceptor* const to = acceptor_at(address);
    pair->start(to == nullptr ? nullptr : to->accepted(std::make_unique<detail::in_process_end>(pair, false)));
    const std::lock_guard lock(mutex_);
    std::erase_if(pairs_, [](const auto& p) { return p.expired(); });
    pairs_.push_back(pair);
    return made;
  }
  std::unique_ptr<listener> listen(const std::string& address, std::size_t, connection_acceptor& acceptor) override {
    const std::lock_guard lock(mutex_);
    if (!acceptors_.emplace(address, &acceptor).second)
      throw remote_error("levada: in_process: \"" + address + "\" is taken");
    return std::make_unique<ear>(*this, address);
  }

  /// Cuts all connections to an address, as the death of its process does.
  void cut(const std::string& address) {
    std::vector<std::shared_ptr<detail::in_process_pair>> known;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& p : pairs_)
        if (auto pair = p.lock(); pair != nullptr && pair->address() == address) known.push_back(std::move(pair));
    }
    for (const auto& pair : known) pair->close("the connection was cut");
  }
  /// New connections to an address are not taken, or are again.
  void set_gone(const std::string& address, bool is_gone = true) {
    const std::lock_guard lock(mutex_);
    if (is_gone)
      gone_.insert(address);
    else
      gone_.erase(address);
  }

 private:
  class ear final : public listener {
   public:
    ear(in_process& of, std::string address) : of_(of), address_(std::move(address)) {}
    ~ear() override { stop(); }
    std::string address() const override { return address_; }
    void stop() noexcept override {
      const std::lock_guard accepting(of_.accepting_);
      const std::lock_guard lock(of_.mutex_);
      if (!std::exchange(is_stopped_, true)) of_.acceptors_.erase(address_);
    }

   private:
    in_process& of_;
    const std::string address_;
    bool is_stopped_ = false;
  };

  connection_acceptor* acceptor_at(const std::string& address) {
    const std::lock_guard lock(mutex_);
    const auto found = acceptors_.find(address);
    return found == acceptors_.end() || gone_.count(address) != 0 ? nullptr : found->second;
  }

  std::mutex accepting_;  ///< while a node takes a connection
  std::mutex mutex_;
  std::map<std::string, connection_acceptor*> acceptors_;
  std::set<std::string> gone_;
  std::vector<std::weak_ptr<detail::in_process_pair>> pairs_;
};

}  // namespace levada
