// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/watched_stream.hpp: streams, and pipelines known by their item types alone, of deployments that
// promise their latency (run/promises.hpp).

#include <cstddef>
#include <memory>
#include <stop_token>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/run/detail/deploy/erased_pipeline.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/measure/meter.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/session/stream.hpp>

namespace levada::detail {

/// Writes into the envelopes of items when they came, for who watches them behind a change of their rate.
class item_stamper final : public item_watcher {
 public:
  explicit item_stamper(engine& of) : item_watcher(~nanoseconds{0}), of_(of) {}
  void entered(sequence first, std::size_t count, nanoseconds at) override {
    const std::chrono::steady_clock::time_point came{std::chrono::nanoseconds(at)};
    for (sequence i = first; i < first + count; ++i) of_.envelope_at(i) = {i, came};
  }
  void begun(sequence, nanoseconds) override {}
  void ran(std::size_t, sequence, std::size_t, nanoseconds) override {}
  void left(sequence, nanoseconds, nanoseconds, nanoseconds) override {}
  void write_to(session_statistics&) const override {}

 private:
  engine& of_;
};
struct item_stamping : watched_latency {
  engine* of = nullptr;
  explicit item_stamping(engine& items) : of(&items) {
    make = [](const watched_latency& what, const program&, meter&) -> item_watcher* {
      return new item_stamper(*static_cast<const item_stamping&>(what).of);
    };
  }
};

/// Of a stream whose late items are heard of.
struct watched_stream : session_settings {
  explicit watched_stream(const watched_latency* what) { watched = what; }
  void stamp_items(engine& first) const { first.watch(item_stamping(first)); }
};

/// `what` outlives the session.
template <class Session>
class watched_session final : public erased_session<Session> {
 public:
  template <class App>
  watched_session(std::unique_ptr<const watched_latency> what, App app, session_settings settings)
      : erased_session<Session>(open(*what, std::move(app), settings)), what_(std::move(what)) {}

 private:
  template <class App>
  static Session open(const watched_latency& what, App app, session_settings settings) {
    settings.watched = &what;
    return Session(std::move(app), {}, settings);
  }
  const std::unique_ptr<const watched_latency> what_;
};

/// As an erased pipeline; `always`: its sessions are watched without being asked.
template <class Result, class In, class App>
class watched_pipeline final : public erased_pipeline<Result, In, App> {
  using base = erased_pipeline<Result, In, App>;
  using output = typename base::output;

 public:
  watched_pipeline(std::shared_ptr<typename App::deployment> app, const watched_latency& promised, bool always)
      : base(std::move(app)), promised_(promised), always_(always) {}

  const watched_latency* promised() const override { return &promised_; }
  std::unique_ptr<session_interface<In, output>> open(const session_settings& settings) override {
    if (settings.watched == nullptr && !always_) return base::open(settings);
    auto what = std::make_unique<watched_latency>(promised_);
    if (settings.watched != nullptr) what->on_late = settings.watched->on_late;
    return std::make_unique<watched_session<session<In, output, typename App::executor>>>(std::move(what), this->app_,
                                                                                          settings);
  }
  std::unique_ptr<stream_interface<output>> stream(std::unique_ptr<feed_interface<In>> feed, bool lasting) override {
    if (!always_) return base::stream(std::move(feed), lasting);
    return this->begin(std::move(feed), lasting, watched_stream(&promised_));
  }

 private:
  const watched_latency& promised_;  // of static storage
  const bool always_;
};

}  // namespace levada::detail
