// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/started_items.hpp: items that were started and are let into a session one after the other, in the
// order of starting: into free slots, or when there is room.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include <levada/core/detail/indirect.hpp>
#include <levada/run/detail/session/result_dispatcher.hpp>
#include <levada/run/detail/workers/completion.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// An item that waits for room, or is in the pipeline.
template <class Session>
class started_item : public completion {
 public:
  in_frame<typename Session::item>* given = nullptr;
  typename Session::time_point captured;
};

/// A session that items are started in, by any thread. Its thread tells each its outcome.
template <class Session>
class started_items final : public result_dispatcher<Session> {
  using base = result_dispatcher<Session>;
  using started = started_item<Session>;

 public:
  explicit started_items(Session of) : base(std::move(of)) {}

  void begin(dispatcher* by) {
    this->items().hand_out_all();
    this->start(*this, by);
  }
  using base::end;

  /// Gives an item to the pipeline, or lets it wait for room. False: it is refused, and was told why. True: it may be
  /// over by now.
  bool start_item(started& one) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      if (!this->running().is_closed()) {
        if (first_ == nullptr && give(one)) return true;
        if (this->items().settings().waits_when_full()) {
          *last_ = &one;
          last_ = &one.next;
          waited_.fetch_add(1);
          if (this->running().is_closed()) this->session().close();  // says so to the thread once more
          this->look_again();
          return true;
        }
      }
      one.take(nullptr, why_missing(this->running().is_closed() ? missing::cancelled : missing::dropped));
    } catch (...) {  // the item's move threw
      one.take(nullptr, std::current_exception());
    }
    return false;
  }
  /// Works and waits until the items that wait for room now are let in. Not where the thread that hands out results
  /// calls it, which makes that room.
  void await_room() {
    const std::uint64_t all = waited_.load();
    if (let_in_.load() < all && !this->is_handing_out())
      this->running().wait_until([&] { return let_in_.load() >= all; });
  }

  bool is_ready() noexcept override {
    return this->items().has_result() || this->has_dropped() || gives_up() || this->is_ending();
  }
  bool serve() noexcept override {
    const bool is_over = this->is_ending();
    if (is_over)
      admit();
    else
      this->complete_head([this] { admit(); });
    return is_over;
  }

 private:
  /// Items wait, and none is let in any more.
  bool gives_up() { return let_in_.load() != waited_.load() && this->running().is_closed(); }
  bool give(started& one) {
    return this->try_push_for(
        &one, [&]() -> typename Session::item&& { return std::move(value_in(*one.given)); }, one.captured);
  }

  /// Gives those that wait to the pipeline while there is room; where it is closed, gives them up.
  void admit() noexcept {
    completion* refused = nullptr;
    bool any = false;
    {
      const std::lock_guard lock(mutex_);
      const bool is_closed = this->running().is_closed();
      for (completion** behind_last = &refused; first_ != nullptr;) {
        started& one = *static_cast<started*>(first_);
        completion* const behind = one.next;  // once it is given it may be over
        std::exception_ptr why;
        try {
          if (is_closed)
            why = why_missing(missing::cancelled);
          else if (!give(one))
            break;
        } catch (...) {  // its move threw
          why = std::current_exception();
        }
        first_ = behind;
        let_in_.fetch_add(1);
        any = true;
        if (why == nullptr) continue;
        one.take(nullptr, why);
        one.next = nullptr;
        *behind_last = &one;
        behind_last = &one.next;
      }
      if (first_ == nullptr) last_ = &first_;
    }
    if (any) this->items().tell_waiters();
    while (refused != nullptr) std::exchange(refused, refused->next)->done();
  }

  std::mutex mutex_;  ///< of pushing, and of the list
  completion* first_ = nullptr;
  completion** last_ = &first_;
  atomic<std::uint64_t> waited_{0}, let_in_{0};  ///< how many items had to wait, and how many of them do no more
};

/// A started item and its outcome. It may lie in a coroutine's frame, whatever the alignment of the value.
template <class Session>
class kept_outcome : public started_item<Session> {
  using output = typename Session::output;

 public:
  void take(void* at, const std::exception_ptr& reason) noexcept override {
    why = reason;
    if constexpr (!std::is_void_v<output>) {
      if (at != nullptr) {
        try {
          value.emplace(std::move(*static_cast<output*>(at)));
        } catch (...) {
          why = std::current_exception();
        }
      }
    }
  }

 protected:
  std::conditional_t<std::is_void_v<output>, std::nullptr_t, std::optional<in_frame<output>>> value{};
  std::exception_ptr why;
};

}  // namespace levada::detail
