// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/named_session.hpp: a session with a name, which outlives its driver: the servers of its fleets know
// before which item all outcomes are done, and keep what came of those behind. Another driver goes on there.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <levada/core/detail/item_envelope.hpp>
#include <levada/core/detail/slot_result.hpp>
#include <levada/core/error.hpp>
#include <levada/fleet/detail/session_progress.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/measure/observed_calls.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/session/push_calls.hpp>
#include <levada/run/detail/session/push_result.hpp>

namespace levada {

/// Items have the numbers of their source, so that the next driver knows where it goes on.
struct session_with_a_name_drops_no_items_and_keeps_their_order : detail::mistake {};
/// Else no item of the source has a number behind the change.
struct session_with_a_name_needs_a_pipeline_that_keeps_its_rate : detail::mistake {};

/// A session with a name, of `open_named`. One thread pushes and one pops at a time. An outcome is done when the next
/// is popped: the caller comes back for it. One that the driver popped and was not done with comes again to the next
/// driver, under its number.
///
/// Pushes and pops throw remote_error when another driver has taken the session.
template <class Session>
class named_session : public detail::push_calls<named_session<Session>, typename Session::item>,
                      public detail::observed_calls<named_session<Session>> {
 public:
  using item = typename Session::item;
  using output = typename Session::output;
  using time_point = typename Session::time_point;

  named_session(std::shared_ptr<detail::session_progress> progress, Session session)
      : progress_(std::move(progress)), session_(std::move(session)) {}

  /// The number, in the source, of the item that is to be pushed next: at first of the first whose outcome is not done.
  /// By key it may be one before that, which a state needs: its outcome does not come again.
  std::uint64_t next_item() const { return progress_->first() + session_.counts().pushed; }
  const std::string& name() const { return progress_->name(); }

  /// As of a session. `envelope.sequence` is the number of the item in its source.
  std::optional<popped_result<output>> pop(item_envelope& envelope) {
    return noted(envelope, [&] { return session_.pop(envelope); });
  }
  std::optional<popped_result<output>> pop() {
    item_envelope envelope;
    return pop(envelope);
  }
  std::optional<popped_result<output>> try_pop(item_envelope& envelope) {
    return noted(envelope, [&] { return session_.try_pop(envelope); });
  }
  std::optional<popped_result<output>> try_pop() {
    item_envelope envelope;
    return try_pop(envelope);
  }
  /// All that was popped is done: for who pops no more.
  void acknowledge() { progress_->set_done(popped_); }

  std::size_t credits() const { return session_.credits(); }
  void close() { session_.close(); }
  void drain() { session_.drain(); }
  void cancel() { session_.cancel(); }
  bool is_over() const { return session_.is_over(); }

 private:
  friend detail::push_calls<named_session, item>;
  friend detail::observed_calls<named_session>;

  template <class Given>
  push_result push_given(Given&& given, time_point captured) {
    progress_->check();
    return session_.push(std::forward<Given>(given), captured);
  }
  template <class Given>
  push_result try_push_given(Given&& given, time_point captured) {
    progress_->check();
    return session_.try_push(std::forward<Given>(given), captured);
  }
  /// What `pop` gives, and what becomes of the number of its item.
  template <class Pop>
  std::optional<popped_result<output>> noted(item_envelope& envelope, const Pop& pop) {
    acknowledge();
    std::optional<popped_result<output>> taken = pop();
    progress_->check();
    while (taken && envelope.sequence + progress_->first() < progress_->begun()) {
      taken = pop();
      progress_->check();
    }
    if (taken) {
      envelope.sequence += progress_->first();
      popped_ = envelope.sequence + 1;
    } else if (session_.is_over() && session_.counts().cancelled == 0) {
      progress_->set_done(next_item());
    }
    return taken;
  }
  Session& observed() const { return session_; }

  std::shared_ptr<detail::session_progress> progress_;
  mutable Session session_;
  std::uint64_t popped_ = 0;  ///< items before this
};

namespace detail {

template <class App, class... Options>
consteval auto named_session_mistake() {
  using found = typename App::template session_mistake<Options...>;
  if constexpr (found::is_mistake)
    return found{};
  else if constexpr (App::types::changes_rate)
    return session_with_a_name_needs_a_pipeline_that_keeps_its_rate{};
  else if constexpr (settings_of<Options...>().drops() || settings_of<Options...>().unordered ||
                     settings_of<Options...>().external_results)
    return session_with_a_name_drops_no_items_and_keeps_their_order{};
  else
    return no_mistake{};
}

/// While a session is opened.
struct opening_with_name {
  explicit opening_with_name(std::shared_ptr<session_progress> of) { opened_with_name = std::move(of); }
  ~opening_with_name() { opened_with_name.reset(); }
};

}  // namespace detail

/// Opens the session of that name of an app whose parts are on fleets. It goes on where the driver before it ended,
/// however that ended: its source is to go on with the item `next_item()`, and gives the same items under the same
/// numbers. Outcomes of that driver that were not done come again. It has lost the session now, where it lives.
///
/// `from`: the first item instead, for callers who keep themselves which outcomes are done. Throws remote_error where
/// the servers do not let it, and error where no part is on a fleet.
template <class... Options, class App>
  requires correct<decltype(detail::named_session_mistake<App, Options...>())>
[[nodiscard]] auto open_named(const App& app, std::string name, std::optional<std::uint64_t> from = {},
                              std::stop_token stop = {}) {
  auto progress = std::make_shared<detail::session_progress>(std::move(name), from);
  const detail::opening_with_name opening(progress);
  auto session = app.template open<Options...>(std::move(stop));
  if (progress->begin() == 0) throw error("levada: open_named: no part of the pipeline is on a fleet");
  return named_session<decltype(session)>(std::move(progress), std::move(session));
}
template <class... Options, class App>
  requires(decltype(detail::named_session_mistake<App, Options...>())::is_mistake)
mistake_found<decltype(detail::named_session_mistake<App, Options...>())> open_named(
    const App& app, std::string name, std::optional<std::uint64_t> from = {}, std::stop_token stop = {});

}  // namespace levada
