// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/serving_node.hpp: a node: the streams of its drivers, and the one thread that ends them.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/log.hpp>
#include <levada/core/detail/start_thread.hpp>
#include <levada/remote/detail/node_stream.hpp>
#include <levada/remote/detail/transport.hpp>
#include <levada/run/detail/measure/trace_log.hpp>

namespace levada::detail {

class serving_node : connection_acceptor, protected stream_keeper {
 public:
  explicit serving_node(std::size_t most_sessions) : most_sessions_(most_sessions) {}
  virtual ~serving_node() = default;
  serving_node(const serving_node&) = delete;
  serving_node& operator=(const serving_node&) = delete;

  void start(transport& by, const std::string& address, std::size_t most_bytes) {
    thread_ = start_thread("a node", [this] { keep_streams(); });
    try {
      listener_ = by.listen(address, most_bytes, *this);
    } catch (...) {
      stop();
      throw;
    }
  }
  /// Before the derived class ends.
  void stop() noexcept {
    if (listener_) listener_->stop();
    {
      const std::lock_guard lock(mutex_);
      is_over_ = has_changed_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    listener_.reset();
  }

  std::string address() const { return listener_->address(); }
  std::size_t sessions() {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const auto& s : streams_) count += s->is_greeted() && !s->is_over() ? 1u : 0u;
    return count;
  }

  std::vector<session_trace> traced() {
    const std::lock_guard lock(mutex_);
    return {traces_.begin(), traces_.end()};
  }

 protected:
  virtual std::unique_ptr<node_stream> make_stream(std::unique_ptr<connection> by) = 0;

 private:
  connection_events* accepted(std::unique_ptr<connection> by) noexcept override {
    const std::lock_guard lock(mutex_);
    std::size_t open = 0;
    for (const auto& s : streams_) open += s->is_over() ? 0u : 1u;
    if (is_over_ || open >= most_sessions_) {
      log_refused(by->peer());
      return nullptr;
    }
    try {
      streams_.push_back(make_stream(std::move(by)));
      return streams_.back().get();
    } catch (...) {
      return nullptr;
    }
  }
  void log_refused(const std::string& peer) const {
    if (is_logged())
      log(log_level::warning,
          "a driver at " + peer + " is refused: the node has " + std::to_string(most_sessions_) + " sessions");
  }
  void look_at_streams() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      has_changed_ = true;
    }
    changed_.notify_all();
  }

  /// Ends those whose connections are closed, and closes those that do not greet.
  void keep_streams() {
    std::unique_lock lock(mutex_);
    for (;;) {
      has_changed_ = false;
      std::vector<std::unique_ptr<node_stream>> ended;
      const auto now = std::chrono::steady_clock::now();
      bool waits_for_greeting = false;
      for (auto& s : streams_) {
        if (s->is_over())
          ended.push_back(std::move(s));
        else if (is_over_ || (!s->is_greeted() && now >= s->begun() + longest_greeting))
          s->close();
        else
          waits_for_greeting = waits_for_greeting || !s->is_greeted();
      }
      std::erase(streams_, nullptr);
      lock.unlock();
      std::vector<session_trace> traces;
      for (const auto& s : ended)
        if (std::optional<session_trace> trace = s->traced()) traces.push_back(std::move(*trace));
      ended.clear();
      lock.lock();
      keep(std::move(traces));
      if (is_over_ && streams_.empty()) return;
      const auto looks = [this] { return has_changed_; };
      if (waits_for_greeting)
        changed_.wait_for(lock, longest_greeting, looks);
      else
        changed_.wait(lock, looks);
    }
  }

  void keep(std::vector<session_trace> traces) {
    for (session_trace& t : traces) traces_.push_back(std::move(t));
    while (traces_.size() > most_sessions_) traces_.pop_front();
  }

  const std::size_t most_sessions_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<node_stream>> streams_;
  std::deque<session_trace> traces_;  ///< of sessions that have ended
  bool has_changed_ = false, is_over_ = false;
  std::unique_ptr<listener> listener_;
  std::thread thread_;
};

}  // namespace levada::detail
