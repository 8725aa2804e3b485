// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/completing_session.hpp: a session whose items come from elsewhere, each pushed for a completion, which
// hears what became of it, also where that is nothing.

#include <utility>

#include <levada/run/detail/session/result_dispatcher.hpp>
#include <levada/run/detail/workers/completion.hpp>

namespace levada::detail {

template <class Session>
class completing_session final : public result_dispatcher<Session> {
  using base = result_dispatcher<Session>;

 public:
  explicit completing_session(Session of) : base(std::move(of)) {
    this->items().hand_out_all();
    this->start(*this, nullptr);
  }
  ~completing_session() { this->end(); }

  /// False: there is no room.
  template <class Make>
  bool push(completion& to, const Make& make, typename base::time_point captured) {
    return this->try_push_for(&to, make, captured);
  }

  bool is_ready() noexcept override { return this->items().has_result() || this->has_dropped() || this->is_ending(); }
  bool serve() noexcept override {
    const bool is_over = this->is_ending();
    if (!is_over) this->complete_head([] {});
    return is_over;
  }
};

}  // namespace levada::detail
