// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/port_feed.hpp: the items of several ports, each pushed by a thread of its own, become the items of
// a session. The parts of an item are constructed in its slot as they come; who brings the last one publishes it.

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/named_items.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/workers/thread_mark.hpp>
#include <levada/run/detail/workers/threading.hpp>

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
  /// Each of them but those of which that is said, and no other thread.
  template <class Passed>
  bool are_all_of_this_thread(Passed passed) const {
    for (std::size_t p = 0; p < Ports; ++p)
      if (last_[p].load(std::memory_order_relaxed) != this_thread_mark() && !passed(p)) return false;
    return true;
  }

 private:
  std::array<atomic<thread_mark>, Ports> last_{};
};

/// Which ports of a session take no more items. Who closes one waits for who is putting an item there just now, so that
/// behind it none comes.
template <std::size_t Ports>
class port_gates {
 public:
  /// The calling thread puts an item into a port, as long as this lives.
  class visit {
   public:
    visit(port_gates& of, std::size_t port) : inside_(of.inside_[port]) {
      inside_.store(this_thread_mark());  // who closes the port sees this, or is seen here
      is_admitted_ = of.takes(port);
    }
    ~visit() { inside_.store(nullptr, std::memory_order_release); }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    explicit operator bool() const { return is_admitted_; }

   private:
    atomic<thread_mark>& inside_;
    bool is_admitted_;
  };

  /// Not by an item's own constructor, which would wait for itself: from there on it takes no more, but of this one.
  void close(std::size_t port) {
    state expected = state::open;
    states_[port].compare_exchange_strong(expected, state::closing);
    for (thread_mark who = inside_[port].load(); who != nullptr && who != this_thread_mark();
         who = inside_[port].load())
      yield_thread();
    states_[port].store(state::closed);
  }
  void close_all() {
    for (std::size_t p = 0; p < Ports; ++p) close(p);
  }
  bool takes(std::size_t port) const { return states_[port].load() == state::open; }
  /// All that it ever takes is there.
  bool is_closed(std::size_t port) const { return states_[port].load() == state::closed; }
  bool is_any_closed() const {
    for (std::size_t p = 0; p < Ports; ++p)
      if (is_closed(p)) return true;
    return false;
  }
  bool are_all_closed() const {
    for (std::size_t p = 0; p < Ports; ++p)
      if (!is_closed(p)) return false;
    return true;
  }

 private:
  enum class state : std::uint8_t { open, closing, closed };
  std::array<atomic<state>, Ports> states_{};
  std::array<atomic<thread_mark>, Ports> inside_{};
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

  /// Some port has been pushed to, or closed alone.
  bool is_used() const { return farthest() != 0 || gates_.is_any_closed(); }

  /// Port `P` takes its next item: it is not closed, nor is one that gives no partner for it.
  template <std::size_t P>
  bool takes() const {
    return gates_.takes(P) && count_[P].load(std::memory_order_relaxed) < limit();
  }
  void close(engine&, std::size_t port) { gates_.close(port); }
  void close_all(engine&) { gates_.close_all(); }
  /// Nothing more comes: a port is closed, and all items are there that it has parts of.
  bool is_over(const engine& of) const { return of.pushed() >= limit(); }

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
  /// False: it was closed meanwhile.
  template <std::size_t P, class Make>
  bool place(engine& of, Make& make, std::chrono::steady_clock::time_point captured) {
    const typename port_gates<ports>::visit here(gates_, P);
    if (!here || !takes<P>()) return false;
    using part = typename type_at<type_list<Named...>, P>::item;
    const sequence item = count_[P].load(std::memory_order_relaxed);
    ::new (part_at<P>(of, item)) part(make());
    if constexpr (P == 0) of.envelope_at(item).captured = captured;
    pushers_.note(P);
    count_[P].store(item + 1);
    publish(of);
    return true;
  }

  const port_threads<ports>& pushers() const { return pushers_; }
  /// No other has pushed, and none may be on the way to a port that waits for its first item.
  bool are_all_of_this_thread() const {
    return pushers_.are_all_of_this_thread([this](std::size_t p) { return gates_.is_closed(p); });
  }

  /// Items of which only parts are there.
  std::uint64_t incomplete(const engine& of) const {
    const sequence published = of.pushed();
    return std::max(farthest(), published) - published;
  }
  /// Of these, those that will get no others, since a port is closed.
  std::uint64_t partnerless() const {
    const sequence most = farthest();
    return most - std::min(most, limit());
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
  /// So many items a closed port has parts of.
  sequence limit() const {
    sequence least = ~sequence{0};
    for (std::size_t p = 0; p < ports; ++p)
      if (gates_.is_closed(p)) least = std::min(least, count_[p].load());
    return least;
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

  std::array<atomic<sequence>, ports> count_{};
  port_gates<ports> gates_;
  port_threads<ports> pushers_;
  atomic<bool> publishing_{false};
};

/// What is wrong with that port of a session that gives `Out`, if anything.
template <class Item, class Out, fixed_string Port>
consteval auto port_mistake() {
  if constexpr (!has_port<Item, Port>())
    return session_has_no_port_of_that_name<Port, wants_item<Item>>{};
  else if constexpr (std::is_reference_v<Out>)
    return session_with_external_results_is_pushed_whole_items_not_ports{};
  else
    return no_mistake{};
}
/// The same of a push of `Given` to it.
template <class Item, class Out, fixed_string Port, class Given>
consteval auto port_mistake() {
  using found = decltype(port_mistake<Item, Out, Port>());
  if constexpr (found::is_mistake) {
    return found{};
  } else {
    using part = std::remove_cvref_t<decltype(std::declval<Item&>().template at<port_of<Item, Port>>())>;
    return std::conditional_t<std::constructible_from<part, Given>, no_mistake,
                              port_takes_another_item<Port, wants<part>, gives<std::remove_cvref_t<Given>>>>{};
  }
}

}  // namespace levada::detail
