// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/stream.hpp: a range of items in, a range of results out, pipelined and in order.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/exchange.hpp>
#include <levada/core/detail/result.hpp>
#include <levada/run/detail/session/input_iterator.hpp>
#include <levada/run/detail/session/session_core.hpp>

namespace levada {
namespace detail {

/// Anything that a range-based `for` goes over, by reference where the caller has it, else moved here.
template <class Range>
class held_range {
 public:
  explicit held_range(Range& range) : range_(std::addressof(range)) {}
  Range& operator*() const { return *range_; }

 private:
  Range* range_;
};
template <class Range>
  requires(!std::is_lvalue_reference_v<Range>)
class held_range<Range&&> {
 public:
  explicit held_range(Range&& range) : range_(std::move(range)) {}
  Range& operator*() { return range_; }

 private:
  Range range_;
};

/// What `begin` and `end` say of a range, as in a range-based `for`.
template <class Range>
auto begin_of(Range& range) {
  using std::begin;
  return begin(range);
}
template <class Range>
auto end_of(Range& range) {
  using std::end;
  return end(range);
}
template <class Range>
using range_iterator = decltype(begin_of(std::declval<Range&>()));
template <class Range>
using range_element = decltype(*std::declval<range_iterator<Range>&>());

/// Its elements stay where they are while the pipeline works on them, so they need not be copied.
template <class Range, class In>
concept range_of_lasting_items =
    std::forward_iterator<range_iterator<Range>> && std::is_lvalue_reference_v<range_element<Range>> &&
    std::same_as<std::remove_cvref_t<range_element<Range>>, In>;

/// Its elements lie side by side, and it says how many are left.
template <class Range, class In>
concept range_of_items_in_a_row =
    range_of_lasting_items<Range, In> && std::contiguous_iterator<range_iterator<Range>> &&
    std::sized_sentinel_for<decltype(end_of(std::declval<Range&>())), range_iterator<Range>> &&
    std::is_trivially_copyable_v<In>;

/// A range whose elements are items, or become items.
template <class Range, class In>
concept range_of_items = requires(Range& r) {
  begin_of(r);
  end_of(r);
} && std::constructible_from<In, range_element<Range>>;

/// Items from a range; `Given` is a reference to it, an rvalue one where it has to be kept here.
template <class In, class Given>
class range_feed {
  using range = std::remove_reference_t<Given>;

 public:
  static constexpr bool lasting = range_of_lasting_items<range, In>;
  static constexpr bool in_a_row = range_of_items_in_a_row<range, In>;
  static constexpr bool live = !std::forward_iterator<range_iterator<range>>;
  explicit range_feed(Given given) : range_(static_cast<Given>(given)) {}

  bool exhausted() {
    begin_once();
    if (detail::exchange_value(is_over_, false)) ++*at_;  // only now: a live range may make us wait for its next item
    return *at_ == end_of(*range_);
  }
  void construct(void* where) { ::new (where) In(**at_); }
  void advance() { is_over_ = true; }

  /// Of items in a row: where the next is, how many there are from it on, and that so many of them were taken.
  const In* next_in_row() {
    begin_once();
    return std::to_address(*at_);
  }
  std::size_t left_in_row() { return static_cast<std::size_t>(end_of(*range_) - *at_); }
  void take_from_row(std::size_t count) { *at_ += static_cast<std::iter_difference_t<range_iterator<range>>>(count); }

  /// Gives items to `take` until it has taken `most`, all before counted in. Says whether there are more.
  template <class Take>
  bool take_many(std::size_t most, std::size_t& taken, Take take) {
    if (exhausted()) return false;
    range_iterator<range> at = *at_;
    const auto end = end_of(*range_);
    std::size_t n = taken;
    try {
      for (; n < most && at != end; ++at) {
        take(*at);
        ++n;  // only now: an item whose construction throws is none
      }
    } catch (...) {
      taken = n;
      throw;
    }
    taken = n;
    at_ = at;
    return at != end;
  }

 private:
  void begin_once() {
    if (!at_) at_.emplace(begin_of(*range_));
  }

  std::conditional_t<std::is_lvalue_reference_v<Given>, held_range<range>, held_range<range&&>> range_;
  std::optional<range_iterator<range>> at_;
  bool is_over_ = false;  ///< the item at `at_` was taken
};

/// Items from a source stage.
template <class In, class F>
class source_feed {
 public:
  static constexpr bool lasting = false;
  static constexpr bool in_a_row = false;
  static constexpr bool live = true;
  explicit source_feed(std::shared_ptr<F> source) : source_(std::move(source)) {}

  bool exhausted() {
    if (!next_ && !ended_) {
      next_ = (*source_)();
      ended_ = !next_;
    }
    return ended_;
  }
  void construct(void* where) { ::new (where) In(std::move(*next_)); }
  void advance() { next_.reset(); }

 private:
  std::shared_ptr<F> source_;
  std::optional<In> next_;
  bool ended_ = false;
};

}  // namespace detail

/// The results of a feed's items, in order, as an input range. The feed is advanced only by the thread that iterates;
/// each result is valid until the next `++`. A failed item gives a result without value, and the stream goes on.
template <class In, class Out, class Feed, class Executor>
class item_stream {
 public:
  using result_type = detail::handed_result<Out>;

  /// `settings`: where items that are late are heard of (run/detail/deploy/watched_stream.hpp).
  template <class... Settings>
  item_stream(std::shared_ptr<detail::deployment<Executor>> of, Feed feed, std::stop_token stop,
              const Settings&... settings)
      : stride_(of->last_code().slot_bytes),
        borrows_(Feed::lasting && !of->code.owns_input),
        feed_(std::move(feed)),
        core_(core::begin(std::move(of), borrows_, std::move(stop), settings...)),
        watches_caller_(!Feed::live && !core_->changes_rate() && core_->items().is_single_stage()) {
    if constexpr (sizeof...(Settings) != 0)
      if (core_->changes_rate()) (settings.stamp_items(core_->items()), ...);
  }

  class iterator : public detail::input_iterator {
   public:
    using value_type = result_type;

    iterator() = default;
    explicit iterator(item_stream* of) : of_(of) { begin_row(); }

    result_type& operator*() const { return *of_->current_; }
    result_type* operator->() const { return &*of_->current_; }
    iterator& operator++() {
      if constexpr (!std::is_void_v<Out>) {
        if (value_ != last_) {
          std::destroy_at(reinterpret_cast<Out*>(value_));
          value_ += of_->stride_;
          std::construct_at(&*of_->current_, *reinterpret_cast<Out*>(value_));  // over a result without an error
          return *this;
        }
      }
      of_->next();
      begin_row();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !of_->current_; }

   private:
    void begin_row() {
      value_ = of_->row_first_;
      last_ = of_->row_last_;
    }

    item_stream* of_ = nullptr;
    // Values that are known to be there, here and not in the stream: a loop keeps them in registers.
    std::byte *value_ = nullptr, *last_ = nullptr;
  };

  /// To be called once. Starts the stream.
  iterator begin() {
    if constexpr (Feed::in_a_row) {
      takes_row_ = core_->items().takes_row();
      if (takes_row_)
        core_->items().set_row({reinterpret_cast<const std::byte*>(feed_.next_in_row()), sizeof(In),
                                borrows_ ? &place_row<true> : &place_row<false>});
    }
    next_row();
    return iterator(this);
  }
  std::default_sentinel_t end() const { return {}; }

  item_counts counts() {
    item_counts c = core_->items().counts();
    if (!core_->changes_rate()) {
      const std::size_t over = values_over();
      c.delivered += over, c.in_flight -= over;
    }
    return c;
  }

  /// Switches measuring on or off: run/detail/session/session.hpp.
  void measure(bool on = true) { core_->measure(on); }
  /// Keeps the last events of each worker, and gives them: run/detail/session/session.hpp.
  void trace(std::size_t events = 65'536) { core_->trace(events); }
  session_trace traced() const { return core_->traced(); }
  /// The measurements so far. Only by the thread that iterates.
  session_statistics statistics() {
    session_statistics s = core_->statistics();
    s.items = counts();
    return s;
  }

  item_stream(item_stream&&) = default;
  item_stream& operator=(item_stream&&) = delete;
  ~item_stream() {
    if (!core_) return;
    end_current();
    core::leave(std::move(core_));
  }

 private:
  using core = detail::session_core<Executor>;
  using clock = std::chrono::steady_clock;
  static constexpr std::uint32_t watched_every = 32;

  void next() {
    if (row_given_ != clock::time_point{}) {
      const std::size_t count = row_first_ != nullptr ? values_over() + 1 : 1;
      core_->items().caller_takes(detail::nanoseconds_since(detail::exchange_value(row_given_, {})) / count +
                                  feeding_ns_);
    }
    end_current();
    next_row();
    if (watches_caller_ && current_ && rows_++ % watched_every == 0) row_given_ = clock::now();
  }

  /// Of the current row: the values that were given and are over.
  std::size_t values_over() const {
    if constexpr (std::is_void_v<Out>)
      return 0;
    else if (row_first_ == nullptr)
      return 0;
    else
      return static_cast<std::size_t>(reinterpret_cast<std::byte*>(&**current_) - row_first_) / stride_;
  }

  /// The result that was given last is over, and with it its row.
  void end_current() {
    if (!current_) return;
    if constexpr (!std::is_void_v<Out>) {
      if (row_first_ != nullptr) core_->results().drop_values(values_over());
      row_first_ = row_last_ = nullptr;
    }
    current_.reset();
    core_->results().drop_head();
  }

  /// Waits for what comes next, and for values as many as there are.
  [[gnu::noinline]] void next_row() {
    detail::engine& items = core_->results();
    if (!await_result()) return;
    if (items.head_state() == detail::item_state::failed) {
      current_.emplace(items.head_error());
    } else if constexpr (std::is_void_v<Out>) {
      current_.emplace();
    } else {
      // Where others work, slots are given back to them in quarters.
      const std::size_t quarter = core_->slots() / 4 > items.kept() ? core_->slots() / 4 - items.kept() : 1;
      const std::size_t count = items.values_in_a_row(core_->shares_work() ? quarter : core_->slots());
      row_first_ = static_cast<std::byte*>(items.head_value());
      row_last_ = row_first_ + (count - 1) * stride_;
      current_.emplace(*static_cast<Out*>(items.head_value()));
    }
  }

  /// Feeds, helps and waits until a result is at the head. False: nothing more comes.
  bool await_result() {
    detail::engine& items = core_->results();
    for (;;) {
      if (wants_items()) fill();
      if (items.has_result()) return true;
      if (core_->changes_rate()) items.free_kept();  // what brings the next result waits for room
      if (core_->is_over()) {
        if (feed_error_) std::rethrow_exception(detail::exchange_value(feed_error_, nullptr));
        return false;
      }
      if (core_->help()) continue;
      core_->wait_until([&] { return items.has_result() || core_->is_over() || wants_items(); });
    }
  }

  /// Slots are filled once a quarter is free where others work beside this thread, or when nothing else is left to do.
  bool wants_items() {
    if (core_->is_closed()) return false;
    if (core_->changes_rate()) return core_->items().free_slots() != 0 && !core_->items().has_waiting();
    detail::engine& items = core_->items();
    const bool early = core_->shares_work() && items.kept() * 4 >= core_->slots();
    if (!early && (items.has_waiting() || items.has_result())) return false;
    return items.kept() != 0 || items.free_slots() != 0;
  }

  template <bool Borrows>
  static void place_row(const std::byte* from, const detail::input_row& to, std::size_t count) {
    const In* const items = reinterpret_cast<const In*>(from);
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (Borrows)
        to.borrowed[i] = items + i;
      else
        ::new (static_cast<void*>(to.first + i * to.stride)) In(items[i]);
    }
  }

  /// Puts items into all free slots. A live feed may make us wait for each item, so each is published and worked on
  /// before the next is asked for, and a result is not held back.
  void fill() {
    detail::engine& items = core_->items();
    core_->results().free_kept();
    if (Feed::live && core_->results().has_result()) return;
    const std::size_t free = items.free_slots();
    std::size_t count = 0;
    bool more = true;
    try {
      if constexpr (Feed::live) {
        while (count < free) {
          if (feed_.exhausted()) {
            core_->close();
            break;
          }
          void* const place = items.input_place();
          feed_.construct(place);
          feed_.advance();
          items.set_input(0, place);
          items.publish(1);
          core_->help();
          if (core_->results().has_result() || items.free_slots() == 0) return;
        }
      } else {
        const bool watched = watches_caller_ && fills_++ % watched_every == 0;
        const auto start = watched ? clock::now() : clock::time_point{};
        if constexpr (Feed::in_a_row) {
          if (takes_row_) {
            count = std::min(free, feed_.left_in_row());
            feed_.take_from_row(count);
            more = feed_.left_in_row() != 0;
          }
        }
        while (!takes_row_ && more && count < free) {
          const std::size_t most = std::min(free, count + items.places_in_a_row(count));
          const detail::input_row row = items.input_row_at(count);
          if (Feed::lasting && borrows_) {
            if constexpr (Feed::lasting)
              more = feed_.take_many(most, count, [=, i = std::size_t{0}](auto& item) mutable {
                row.borrowed[i] = std::addressof(item);
                set_state(row.states[i++], detail::item_state::value);
              });
          } else {
            more = feed_.take_many(most, count, [=, i = std::size_t{0}, at = row.first](auto&& item) mutable {
              ::new (static_cast<void*>(at)) In(static_cast<decltype(item)>(item));
              at += row.stride;
              set_state(row.states[i++], detail::item_state::value);
            });
          }
        }
        if (watched && count != 0) feeding_ns_ = detail::nanoseconds_since(start) / count;
      }
    } catch (...) {
      // The feed failed: the items before that are delivered first.
      feed_error_ = std::current_exception();
      more = false;
    }
    if (count != 0) {
      if (takes_row_)
        items.publish_from_row(count);
      else
        items.publish(count);
    }
    // Behind the last item: a worker that finds the end before it has carried all to the next region ends that, too.
    if (!more) core_->close();
  }

  const std::size_t stride_;
  const bool borrows_;
  bool takes_row_ = false;
  Feed feed_;  // before the core, so that it ends behind it: workers may be at items of a range that was moved here
  detail::owner<core> core_;
  // What this thread takes for itself, an item: engine::caller_takes. Looked at now and then.
  const bool watches_caller_;
  std::uint32_t rows_ = 0, fills_ = 0;
  std::uint64_t feeding_ns_ = 0;
  clock::time_point row_given_{};
  std::optional<result_type> current_;
  // The first and the last of the values that are known to be there, side by side in their slots.
  std::byte *row_first_ = nullptr, *row_last_ = nullptr;
  std::exception_ptr feed_error_;
};

}  // namespace levada
