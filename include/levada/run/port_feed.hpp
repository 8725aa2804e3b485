// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/port_feed.hpp: the items of several ports, each pushed by a thread of its own, become the items of a session. The parts of
// an item are constructed in its slot as they come; who brings the last one publishes it.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <levada/core/named_items.hpp>
#include <levada/graph/mistake.hpp>
#include <levada/run/engine.hpp>
#include <levada/run/thread_mark.hpp>

namespace levada::detail {

/// Who last pushed to each port of a session, or popped from it.
template <std::size_t Ports>
class port_threads {
 public:
  void note(std::size_t port) { last_[port].store(this_thread_mark(), std::memory_order_relaxed); }
  /// To another port than that one, if it is another thread than this one.
  thread_mark other_than(std::size_t port) const {
    for (std::size_t p = 0; p < Ports; ++p)
      if (const thread_mark id = last_[p].load(std::memory_order_relaxed);
          p != port && id != nullptr && id != this_thread_mark())
        return id;
    return {};
  }
  /// More than one thread.
  bool are_several() const {
    thread_mark one = nullptr;
    for (const auto& last : last_) {
      const thread_mark id = last.load(std::memory_order_relaxed);
      if (id == nullptr) continue;
      if (one != nullptr && id != one) return true;
      one = id;
    }
    return false;
  }
  /// Each of them, and no other thread.
  bool are_all_of_this_thread() const {
    for (const auto& last : last_)
      if (last.load(std::memory_order_relaxed) != this_thread_mark()) return false;
    return true;
  }

 private:
  std::array<std::atomic<thread_mark>, Ports> last_{};
};

/// How far each port of a session is.
template <class Items>
class port_feed;

/// A session of plain items has none.
template <class Item>
struct no_port_feed {};

template <class... Named>
class port_feed<named_items<Named...>> {
 public:
  using items = named_items<Named...>;
  using sequence = engine::sequence;
  static constexpr std::size_t ports = sizeof...(Named);

  /// Some port has been pushed to.
  bool is_used() const { return farthest() != 0; }

  /// The next item of port `P` has a slot.
  template <std::size_t P>
  bool has_room(const engine& of) const {
    return of.has_slot_for(count_[P].load(std::memory_order_relaxed));
  }
  /// It has none because another port is behind, not because results wait.
  template <std::size_t P>
  bool is_ahead(const engine& of) const {
    return count_[P].load(std::memory_order_relaxed) > of.pushed();
  }

  /// Constructs the next item of port `P` from what `make()` returns. Only where it has room, by one thread at a time.
  template <std::size_t P, class Make>
  void place(engine& of, Make& make, std::chrono::steady_clock::time_point captured) {
    using part = typename type_at<type_list<Named...>, P>::item;
    const sequence item = count_[P].load(std::memory_order_relaxed);
    ::new (part_at<P>(of, item)) part(make());
    if constexpr (P == 0) of.envelope_at(item).captured = captured;
    pushers_.note(P);
    count_[P].store(item + 1);
    publish(of);
  }

  const port_threads<ports>& pushers() const { return pushers_; }

  /// Items of which only parts are there.
  std::uint64_t incomplete(const engine& of) const {
    const sequence published = of.pushed();
    return std::max(farthest(), published) - published;
  }

  /// Destroys the parts of incomplete items. Nobody pushes any more.
  void discard(engine& of) noexcept {
    [&]<std::size_t... P>(std::index_sequence<P...>) {
      (discard_port<P>(of), ...);
    }(std::index_sequence_for<Named...>());
  }

 private:
  template <std::size_t P>
  static std::byte* part_at(const engine& of, sequence item) {
    return static_cast<std::byte*>(of.input_place_of(item)) + items::template offset<P>();
  }
  template <std::size_t P>
  void discard_port(engine& of) noexcept {
    using part = typename type_at<type_list<Named...>, P>::item;
    for (sequence item = of.pushed(); item < count_[P].load(); ++item)
      std::destroy_at(std::launder(reinterpret_cast<part*>(part_at<P>(of, item))));
  }
  sequence farthest() const {
    sequence most = 0;
    for (const auto& c : count_) most = std::max(most, c.load());
    return most;
  }
  sequence complete() const {
    sequence least = ~sequence{0};
    for (const auto& c : count_) least = std::min(least, c.load());
    return least;
  }

  /// One thread at a time publishes; who finds another at it leaves what it brought to that one, which looks again.
  void publish(engine& of) {
    while (complete() > of.pushed()) {
      bool expected = false;
      if (!publishing_.compare_exchange_strong(expected, true)) return;
      const sequence first = of.pushed();
      const std::size_t count = static_cast<std::size_t>(complete() - first);
      for (std::size_t i = 0; i < count; ++i) {
        item_envelope& envelope = of.envelope_at(first + i);
        envelope.sequence = first + i;
        of.set_input(i, of.input_place(i));
      }
      if (count != 0) of.publish(count);
      publishing_.store(false);
    }
  }

  std::array<std::atomic<sequence>, ports> count_{};
  port_threads<ports> pushers_;
  std::atomic<bool> publishing_{false};
};

/// What is wrong with a push of `Given` to that port of a session that gives `Out`, if anything.
template <class Item, class Out, fixed_string Port, class Given>
consteval auto port_mistake() {
  if constexpr (!has_port<Item, Port>()) {
    return session_has_no_port_of_that_name<Port, Item>{};
  } else if constexpr (std::is_reference_v<Out>) {
    return session_with_external_results_is_pushed_whole_items_not_ports{};
  } else {
    using part = std::remove_cvref_t<decltype(std::declval<Item&>().template at<port_of<Item, Port>>())>;
    return std::conditional_t<std::constructible_from<part, Given>, no_mistake,
                              port_takes_another_item<Port, part, std::remove_cvref_t<Given>>>{};
  }
}

}  // namespace levada::detail
