// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/member_work.hpp: the session of an app in a worker of a fleet. Items are constructed in their slots, and
// outcomes written from there.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <levada/fleet/detail/jetstream.hpp>
#include <levada/fleet/detail/member.hpp>
#include <levada/remote/detail/wire.hpp>
#include <levada/run/detail/session/result_dispatcher.hpp>

namespace levada::detail {

/// A session whose items are each pushed for a completion.
template <class Session>
class member_session final : public result_dispatcher<Session> {
  using base = result_dispatcher<Session>;

 public:
  explicit member_session(Session of) : base(std::move(of)) {
    this->items().hand_out_all();
    this->start(*this, nullptr);
  }
  ~member_session() { this->end(); }

  bool push(completion& to, std::span<const std::byte> payload) {
    return this->try_push_for(&to,
                              [&] {
                                const std::span<const std::byte> pieces[] = {payload};
                                wire_reader from(pieces);
                                return item_from_wire<typename Session::item>(from);
                              },
                              {});
  }

  bool is_ready() noexcept override { return this->items().has_result() || this->has_dropped() || this->is_ending(); }
  bool serve() noexcept override {
    const bool is_over = this->is_ending();
    if (!is_over) this->complete_head([] {});
    return is_over;
  }
};

template <class App>
class member_work final : public fleet_member {
  using session_type = decltype(std::declval<const App&>().open());

 public:
  member_work(App app, member_traits traits, const jetstream& to)
      : fleet_member(std::move(traits), to),
        app_(std::move(app)),
        session_(std::make_unique<member_session<session_type>>(app_.open())) {
    start();
  }
  ~member_work() override {
    stop();
    session_.reset();
  }

 private:
  bool push(completion& to, std::span<const std::byte> payload) override { return session_->push(to, payload); }

  App app_;
  std::unique_ptr<member_session<session_type>> session_;
};

}  // namespace levada::detail
