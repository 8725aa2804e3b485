// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/port_results.hpp: the results of several outputs, each popped by its name, and by a thread of its
// own. Every output is at an item of its own; a slot is free again when all have popped theirs.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include <levada/core/detail/named_items.hpp>
#include <levada/core/detail/slot_result.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/session/held_results.hpp>
#include <levada/run/detail/session/port_feed.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// How far each output of a session is popped. A session of plain results has none.
template <class Out>
class port_results {};

template <class... Named>
class port_results<named_items<Named...>> {
 public:
  using items = named_items<Named...>;
  using sequence = engine::sequence;
  static constexpr std::size_t ports = sizeof...(Named);
  template <std::size_t P>
  using item = typename type_at<type_list<Named...>, P>::item;

  bool is_used() const { return used_.load(); }

  /// A result waits at output `P`. By one thread at a time for each.
  template <std::size_t P>
  bool has_result(engine& of) {
    sequence at = next_[P].load();
    const bool found = of.find_result(at);
    next_[P].store(at);
    return found;
  }
  /// It has popped all that fits in, and another output is behind.
  template <std::size_t P>
  bool waits_for_others(const engine& of) const {
    return of.free_slots() == 0 && of.all_finished() && next_[P].load() == of.finished() &&
           std::any_of(next_.begin(), next_.end(), [&](const auto& n) { return n.load() < of.finished(); });
  }

  template <std::size_t P>
  void check_free() const {
    if constexpr (is_large_result<item<P>>) holders_[P].items.check_free();
  }

  /// Takes the result that waits there; a large one stays where it is.
  template <std::size_t P>
  void take(engine& of, std::optional<popped_result<item<P>>>& into) {
    used_.store(true);
    poppers_.note(P);
    const sequence at = next_[P].load();
    if constexpr (is_large_result<item<P>>) {
      holder& mine = holders_[P];
      if (of.has_failed(at)) {
        into.emplace(of.error_of(at));
      } else {
        mine.all = this, mine.of = &of, mine.port = P;
        mine.items.hold(at, of.slots());
        into.emplace(static_cast<items*>(of.value_of(at))->template at<P>(), mine, at);
      }
      next_[P].store(at + 1);
      return go_on(of, P);
    } else {
      take_by_value<P>(of, at, into);
    }
  }
  template <std::size_t P>
  const item_envelope& envelope(engine& of) {
    return of.envelope_at(next_[P].load());
  }

  const port_threads<ports>& poppers() const { return poppers_; }
  bool has_several_poppers() const { return poppers_.are_several(); }

 private:
  /// Of the results of one output that are looked at where they lie.
  struct holder final : slot_holder {
    port_results* all = nullptr;
    engine* of = nullptr;
    std::size_t port = 0;
    held_items items;
    void leave_slot(std::uint64_t item) noexcept override {
      items.leave(item);
      all->go_on(*of, port);
    }
  };
  void go_on(engine& of, std::size_t port) {
    left_[port].store(holders_[port].items.first(left_[port].load(), next_[port].load()));
    retire(of);
  }

  template <std::size_t P>
  void take_by_value(engine& of, sequence at, std::optional<result<item<P>>>& into) {
    struct passing {
      port_results& all;
      engine& of;
      sequence behind;
      ~passing() {
        all.next_[P].store(behind);
        all.retire(of);
      }
    } const end{*this, of, at + 1};
    if (of.has_failed(at))
      into.emplace(of.error_of(at));
    else
      into.emplace(moved_from, static_cast<items*>(of.value_of(at))->template at<P>());
  }

  /// What all outputs are through with.
  sequence least() const {
    sequence least = behind(0);
    for (std::size_t p = 1; p < ports; ++p) least = std::min(least, behind(p));
    return least;
  }
  sequence behind(std::size_t port) const {
    constexpr bool holds[] = {is_large_result<typename Named::item>...};
    return (holds[port] ? left_[port] : next_[port]).load();
  }
  /// One thread at a time frees slots; who finds another at it leaves what it popped to that one, which looks again.
  void retire(engine& of) {
    while (least() > retired_.load()) {
      bool expected = false;
      if (!retiring_.compare_exchange_strong(expected, true)) return;
      const sequence until = least();
      while (of.has_result() && of.head() < until) of.drop_head();
      of.free_kept();
      retired_.store(until);
      retiring_.store(false);
    }
  }

  std::array<atomic<sequence>, ports> next_{};  ///< of the results, from the first
  std::array<atomic<sequence>, ports> left_{};  ///< the first that is held, where results may be
  std::array<holder, ports> holders_;
  port_threads<ports> poppers_;
  atomic<sequence> retired_{0};
  atomic<bool> retiring_{false}, used_{false};
};

template <class Out, fixed_string Port>
consteval auto output_mistake() {
  if constexpr (!has_port<std::remove_reference_t<Out>, Port>())
    return session_has_no_output_of_that_name<Port, gives_item<std::remove_reference_t<Out>>>{};
  else if constexpr (std::is_reference_v<Out>)
    return session_with_external_results_is_popped_whole_results_not_outputs{};
  else
    return no_mistake{};
}

}  // namespace levada::detail
