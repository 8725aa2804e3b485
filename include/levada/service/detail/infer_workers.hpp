// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/infer_workers.hpp: the sessions of a service: one for all clients where the pipeline keeps no state,
// else one for each sequence.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
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

#include <levada/core/detail/start_thread.hpp>
#include <levada/core/detail/trace_context.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/prometheus.hpp>
#include <levada/service/detail/answering_session.hpp>
#include <levada/service/detail/infer_call.hpp>

namespace levada::detail {

template <class App>
using session_of = decltype(std::declval<const App&>().open());

/// All requests share a session.
template <class App>
class shared_worker final : public infer_worker {
 public:
  shared_worker(App app, const answering& how)
      : infer_worker(how.traced != 0), app_(std::move(app)), session_(app_.open(), how) {}

  void submit(infer_call& call) override { session_.submit(call); }
  std::string metrics(std::span<const prometheus_label> labels) override {
    return prometheus_text(session_.session().statistics(), labels);
  }
  std::vector<session_trace> traced() override {
    std::vector<session_trace> all;
    if (keeps_traces()) all.push_back(session_.traced());
    return all;
  }

 private:
  App app_;
  answering_session<session_of<App>> session_;
};

/// A session for each sequence: from the request that starts it to the one that ends it, or until it has been idle for
/// too long.
template <class App>
class sequence_worker final : public infer_worker {
 public:
  sequence_worker(App app, const answering& how, std::size_t most_sequences, std::chrono::nanoseconds longest_idle)
      : infer_worker(how.traced != 0),
        app_(std::move(app)),
        how_(how),
        most_sequences_(most_sequences),
        longest_idle_(longest_idle),
        thread_(start_thread("the sequences of a service", [this] { keep_sequences(); })) {}
  ~sequence_worker() override {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void submit(infer_call& call) override {
    const std::shared_ptr<sequence> in = find(call);
    const bool ends = call.request.ends_sequence();
    try {
      in->session.submit(call);
    } catch (...) {
      leave(*in, false);
      throw;
    }
    leave(*in, ends);
  }
  std::string metrics(std::span<const prometheus_label> labels) override {
    prometheus_writer to;
    to.begin_session(labels);
    const std::lock_guard lock(mutex_);
    to.metric("levada_sequences_open", "gauge", "Sequences of requests that have a session.");
    to.sample({}, std::uint64_t{open_.size() + ending_.size()});
    return std::move(to).text();
  }
  /// Of the last `most_sequences` that have ended, and of those that are open.
  std::vector<session_trace> traced() override {
    if (!keeps_traces()) return {};
    std::vector<session_trace> all;
    std::vector<std::shared_ptr<sequence>> there;
    {
      const std::lock_guard lock(mutex_);
      all.assign(traces_.begin(), traces_.end());
      there = ending_;
      for (const auto& [name, s] : open_) there.push_back(s);
    }
    for (const auto& s : there) all.push_back(s->session.traced());  // which waits for stages that run
    return all;
  }

 private:
  using clock = std::chrono::steady_clock;

  struct sequence {
    sequence(const App& app, const answering& how, const std::optional<trace_context>& caller)
        : session(app.open(), how, caller) {}
    bool is_idle() { return users == 0 && session.waiting() == 0; }

    answering_session<session_of<App>> session;
    std::size_t users = 0;  ///< threads that submit
    clock::time_point last_use{};
  };

  std::shared_ptr<sequence> find(const infer_call& call) {
    const infer_request& request = call.request;
    const std::string_view name = request.sequence();
    if (name.empty())
      throw refusal{
          status_code::invalid_argument,
          "the model keeps state: a request says with the parameter sequence_id to which sequence it belongs"};
    std::unique_lock lock(mutex_);
    auto found = open_.find(name);
    if (request.starts_sequence()) {
      if (found != open_.end()) {  // begun anew: what was asked before is answered yet
        ending_.push_back(std::move(found->second));
        open_.erase(found);
        changed_.notify_all();
      }
      if (open_.size() + ending_.size() >= most_sequences_)
        throw refusal{status_code::resource_exhausted, std::to_string(most_sequences_) + " sequences are open already"};
      found = open_.emplace(std::string(name), std::make_shared<sequence>(app_, how_, call.caller)).first;
    } else if (found == open_.end()) {
      throw refusal{status_code::not_found, "sequence \"" + std::string(name) +
                                                "\" is not open: no request started it by sequence_start, one ended " +
                                                "it, or it was idle for too long"};
    }
    const std::shared_ptr<sequence> in = found->second;
    ++in->users;
    in->last_use = clock::now();
    if (request.ends_sequence()) {
      ending_.push_back(std::move(found->second));
      open_.erase(found);
    } else if (request.starts_sequence()) {
      changed_.notify_all();  // there is a time to wait for
    }
    return in;
  }
  void leave(sequence& in, bool ends) {
    const std::lock_guard lock(mutex_);
    --in.users;
    if (ends) changed_.notify_all();
  }

  /// Ends the sessions of sequences that ended, when their last request is answered, and of those that are idle.
  void keep_sequences() {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      std::vector<std::shared_ptr<sequence>> ended;
      const auto now = clock::now();
      auto next = clock::time_point::max();
      for (auto& s : ending_) {
        if (s->is_idle())
          ended.push_back(std::move(s));
        else
          next = std::min(next, now + std::chrono::milliseconds(10));
      }
      std::erase(ending_, nullptr);
      for (auto s = open_.begin(); s != open_.end();) {
        auto due = s->second->last_use + longest_idle_;
        if (due <= now && !s->second->is_idle()) due = now + longest_idle_;
        if (due <= now) {
          ended.push_back(std::move(s->second));
          s = open_.erase(s);
        } else {
          next = std::min(next, due);
          ++s;
        }
      }
      if (!ended.empty()) {
        for (const auto& s : ended)
          if (keeps_traces()) traces_.push_back(s->session.traced());
        while (traces_.size() > most_sequences_) traces_.pop_front();
        lock.unlock();
        ended.clear();
        lock.lock();
        continue;
      }
      if (next == clock::time_point::max())
        changed_.wait(lock);
      else
        changed_.wait_until(lock, next);
    }
  }

  App app_;
  const answering how_;
  const std::size_t most_sequences_;
  const std::chrono::nanoseconds longest_idle_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<sequence>, std::less<>> open_;
  std::vector<std::shared_ptr<sequence>> ending_;  ///< whose last request has come
  std::deque<session_trace> traces_;               ///< of sequences that have ended
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace levada::detail
