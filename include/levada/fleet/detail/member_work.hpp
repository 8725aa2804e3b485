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
#include <levada/remote/detail/completing_session.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

template <class App>
class member_work final : public fleet_member {
  using session_type = decltype(std::declval<const App&>().open());

 public:
  member_work(App app, member_traits traits, const jetstream& to)
      : fleet_member(std::move(traits), to),
        app_(std::move(app)),
        session_(std::make_unique<completing_session<session_type>>(app_.open())) {
    start();
  }
  ~member_work() override {
    stop();
    session_.reset();
  }

 private:
  bool push(completion& to, std::span<const std::byte> payload) override {
    const auto make = [&] {
      const std::span<const std::byte> pieces[] = {payload};
      wire_reader from(pieces);
      return item_from_wire<typename App::item>(from);
    };
    return session_->push(to, make, {});
  }

  App app_;
  std::unique_ptr<completing_session<session_type>> session_;
};

}  // namespace levada::detail
