// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/recording.hpp: what was pushed into a session, and when, in a file; and the same stream once more, in the
// time of a clock that only the recording moves.
//
// The file is a line, "levada recording 2 <item> <name of its type, as typeid spells it>\n", and for each item its
// capture time and the moment of its push, as 64-bit nanoseconds of the session's clock, and the bytes of its value.
// All in the byte order of the machine.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ios>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/core/detail/foreign.hpp>
#include <levada/core/detail/log.hpp>
#include <levada/core/detail/type_words.hpp>
#include <levada/core/detail/whole_file.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/plan/detail/words.hpp>
#include <levada/run/detail/session/session.hpp>

namespace levada {

template <class Item>
struct recording_keeps_items_that_are_copied_as_bytes : detail::mistake {};
template <class Item>
struct recording_would_keep_addresses_of_items_that_lie_elsewhere : detail::mistake {};
template <class Item, class Session>
struct recorder_pushes_into_a_session_of_an_app_of_its_items_without_external_results : detail::mistake {};
template <class App>
struct recording_is_replayed_through_an_app_in_the_time_of_its_clock_and_through_nothing_else : detail::mistake {};
template <class Result>
struct replay_hands_out_results_and_has_no_memory_of_the_caller_for_them : detail::mistake {};

namespace detail {

template <class Item>
std::string recorded_item_text() {
  return item_text(value_of<Item>(value_info::nobody));
}
template <class Item>
std::string recording_line() {
  return "levada recording 2 " + recorded_item_text<Item>() + " " + type_name<Item>() + "\n";
}

struct recorded_times {
  std::int64_t captured, pushed;
};

inline std::int64_t nanoseconds_since_start(std::chrono::steady_clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}
inline std::chrono::steady_clock::time_point time_after_start(std::int64_t ns) {
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::nanoseconds(ns)));
}

/// Where the bytes of an item are not all of it, if anywhere.
template <class Item>
consteval auto recording_mistake() {
  if constexpr (!std::is_trivially_copyable_v<Item>)
    return recording_keeps_items_that_are_copied_as_bytes<Item>{};
  else if constexpr (points_elsewhere<Item>)
    return recording_would_keep_addresses_of_items_that_lie_elsewhere<Item>{};
  else
    return no_mistake{};
}

/// Its pushes can be kept.
template <class Session, class Item>
inline constexpr bool is_recorded = false;
template <class Item, class Out, class Executor>
inline constexpr bool is_recorded<session<Item, Out, Executor>, Item> = !std::is_reference_v<Out>;

/// It opens sessions in the time of a clock.
template <class App>
concept opens_by_clock = requires(const App& app, const virtual_clock& clock) { app.open(clock); };

/// What is wrong with a replay of `Item`s through `App`, if anything: others than it takes would be converted unseen.
template <class Item, class App, class... Options>
consteval auto replay_mistake() {
  if constexpr (!opens_by_clock<App>)
    return recording_is_replayed_through_an_app_in_the_time_of_its_clock_and_through_nothing_else<App>{};
  else if constexpr (!std::same_as<Item, typename App::item>)
    return pipeline_takes_another_item<wants_item<typename App::item>, gives_item<Item>>{};
  else if constexpr ((std::same_as<Options, external_results> || ...))
    return replay_hands_out_results_and_has_no_memory_of_the_caller_for_them<typename App::output>{};
  else
    return no_mistake{};
}

}  // namespace detail

/// An item of a recording, and when it was captured and pushed.
template <class Item>
struct recorded_item {
  Item value;
  std::chrono::steady_clock::time_point captured{}, pushed{};
};

/// Pushes items into a session and writes down those that it took. One thread at a time.
///
/// Where the file cannot be written, as on a full disk, levada::error says so behind the push of that item and before
/// every later one, and the file ends with the last whole item that it has.
///
/// What is left when the recorder is destroyed and cannot be written is a warning in the log.
template <class Item>
  requires correct<decltype(detail::recording_mistake<Item>())>
class recorder {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Throws levada::error where the file cannot be written.
  explicit recorder(std::string file)
      : name_(std::move(file)), file_(detail::open_file::at(name_, O_WRONLY | O_CREAT | O_TRUNC, 0666)) {
    if (!file_) fail();
    buffer_ = detail::recording_line<Item>();
    head_ = buffer_.size();
    buffer_.reserve(largest_buffer);
    flush();
  }
  recorder(recorder&&) = default;
  recorder& operator=(recorder&& other) noexcept {
    std::swap(name_, other.name_);
    std::swap(file_, other.file_);
    std::swap(buffer_, other.buffer_);
    std::swap(head_, other.head_);
    std::swap(is_given_up_, other.is_given_up_);
    return *this;
  }
  ~recorder() {
    if (!file_ || is_finished()) return;
    try {
      detail::log(log_level::warning, "the recording " + name_ + " cannot be written: " + given_up());
    } catch (const std::bad_alloc&) {
      detail::log(log_level::warning, "a recording cannot be written");
    }
  }

  /// As the session's push, which it may throw and refuse as. An item without a capture time was captured now, in the
  /// session as in the file, so that both runs see the same.
  template <class Session>
    requires detail::is_recorded<Session, Item>
  push_result push(Session& into, const Item& value, time_point captured = {}) {
    return record(into, value, captured, [&](time_point at) { return into.push(value, at); });
  }
  template <class Session>
    requires detail::is_recorded<Session, Item>
  [[nodiscard]] push_result try_push(Session& into, const Item& value, time_point captured = {}) {
    return record(into, value, captured, [&](time_point at) { return into.try_push(value, at); });
  }
  /// Deduced and never defined: what they give is asked for a bool.
  template <
      class Session,
      class Mistake = recorder_pushes_into_a_session_of_an_app_of_its_items_without_external_results<Item, Session>>
    requires(!detail::is_recorded<Session, Item>)
  auto push(Session& into, const Item& value, time_point captured = {});
  template <
      class Session,
      class Mistake = recorder_pushes_into_a_session_of_an_app_of_its_items_without_external_results<Item, Session>>
    requires(!detail::is_recorded<Session, Item>)
  auto try_push(Session& into, const Item& value, time_point captured = {});

  /// All that was pushed is in the file, or levada::error says that it could not be written.
  void flush() {
    check_open();
    if (!file_.write(buffer_)) fail();
    buffer_.clear();
  }

  /// All that was pushed is on the disk and the file is closed, or levada::error says that it could not be written.
  /// Nothing happens the second time.
  void close() {
    if (file_ && !is_finished()) fail();
  }

 private:
  static constexpr std::size_t largest_buffer = 1 << 16;
  static constexpr std::size_t item_bytes = sizeof(detail::recorded_times) + sizeof(Item);

  template <class Session, class Push>
  push_result record(const Session& into, const Item& value, time_point captured, Push push) {
    check_open();
    const time_point pushed = into.now();
    if (captured == time_point{}) captured = pushed;
    const push_result taken = push(captured);
    if (!taken) return taken;
    const detail::recorded_times times{detail::nanoseconds_since_start(captured),
                                       detail::nanoseconds_since_start(pushed)};
    write(&times, sizeof times);
    write(std::addressof(value), sizeof value);
    return taken;
  }
  void write(const void* bytes, std::size_t count) {
    const std::string_view part(static_cast<const char*>(bytes), count);
    if (buffer_.size() + count > largest_buffer) flush();
    if (count > largest_buffer) {
      if (!file_.write(part)) fail();
    } else {
      buffer_ += part;
    }
  }
  bool is_finished() { return file_.write(buffer_) && file_.sync() && file_.close(); }
  void check_open() const {
    if (!file_) throw error("levada: " + name_ + (is_given_up_ ? ": could not be written" : ": is closed"));
  }
  /// Gives the file up, and in it the item that is not whole.
  std::string given_up() {
    std::string why = detail::system_text(errno);
    struct stat is;
    if (file_ && ::fstat(file_.get(), &is) == 0 && S_ISREG(is.st_mode)) {
      const auto size = static_cast<std::size_t>(is.st_size);
      const std::size_t whole = size < head_ ? 0 : size - (size - head_) % item_bytes;
      if (::ftruncate(file_.get(), static_cast<off_t>(whole)) != 0) why += "; it ends in the middle of an item";
    }
    file_ = detail::open_file();
    is_given_up_ = true;
    return why;
  }
  [[noreturn]] void fail() { throw error("levada: " + name_ + ": cannot be written: " + given_up()); }

  std::string name_;
  detail::open_file file_;
  std::string buffer_;  // behind what is in the file
  std::size_t head_ = 0;
  bool is_given_up_ = false;
};

/// A recording, read item by item.
template <class Item>
  requires correct<decltype(detail::recording_mistake<Item>())>
class recording {
 public:
  /// Throws levada::error where there is no such file, it is a folder or a pipe, or no recording of such items.
  explicit recording(std::string file) : name_(std::move(file)) {
    const auto fail = [&](const std::string& why) { throw error("levada: " + name_ + ": cannot be read: " + why); };
    static_cast<void>(detail::open_regular(name_, fail));  // a stream that opens a pipe waits for its writer
    file_.open(name_, std::ios::binary);
    if (!file_) fail(detail::system_text(errno));
    const std::string wanted = detail::recording_line<Item>();
    std::string line(wanted.size(), '\0');
    file_.read(line.data(), static_cast<std::streamsize>(line.size()));
    if (!file_ || line != wanted)
      throw error("levada: " + name_ + ": is no recording of items of " + detail::recorded_item_text<Item>() + " (" +
                  detail::type_words(detail::type_name<Item>()) + ")");
  }

  /// The next one; null behind the last. Throws levada::error where the file ends in the middle of it, or its times are
  /// none.
  std::unique_ptr<recorded_item<Item>> next() {
    detail::recorded_times times;
    file_.read(reinterpret_cast<char*>(&times), sizeof times);
    if (file_.gcount() == 0 && file_.eof()) return nullptr;
    auto item = room();
    if (file_) file_.read(reinterpret_cast<char*>(std::addressof(item->value)), sizeof item->value);
    if (!file_) throw error("levada: " + name_ + ": ends in the middle of item " + std::to_string(count_));
    if (!is_time(times.captured) || !is_time(times.pushed))
      throw error("levada: " + name_ + ": item " + std::to_string(count_) + " has a time that no clock has");
    item->captured = detail::time_after_start(times.captured);
    item->pushed = detail::time_after_start(times.pushed);
    ++count_;
    return item;
  }

 private:
  /// 146 years from a clock's beginning: what a session makes of two of them is a time, too.
  static bool is_time(std::int64_t ns) {
    constexpr std::int64_t end = std::int64_t{1} << 62;
    return -end < ns && ns < end;
  }

  /// For an item whose bytes come from the file, whether or not it can be made of nothing.
  static std::unique_ptr<recorded_item<Item>> room() {
    using recorded = recorded_item<Item>;
    if constexpr (std::default_initializable<Item>)
      return std::unique_ptr<recorded>(new recorded);
    else
      return std::unique_ptr<recorded>(new recorded{std::bit_cast<Item>(std::array<std::byte, sizeof(Item)>{})});
  }

  std::string name_;
  std::ifstream file_;
  std::uint64_t count_ = 0;
};

/// Pushes what is left of the recording into a session of `app` with these options, each item at its own time on a
/// clock that nothing else moves and when all before it are finished: to the stages, work takes no time.
///
/// So what comes out depends on the recording and the stages alone, to the last bit, on any machine and number of
/// threads. `use(result, envelope)` has each result, in order. Says what became of the items.
template <class... Options, class Item, class App, class Use>
  requires correct<decltype(detail::replay_mistake<Item, App, Options...>())>
item_counts replay(recording<Item>& from, const App& app, Use use) {
  virtual_clock clock(std::chrono::steady_clock::time_point::min());  // moved before the first push
  auto session = app.template open<Options...>(clock);
  item_envelope envelope;
  const auto use_all = [&] {
    for (bool any = true; any;) {  // where the rate changes, what was popped makes room for more
      session.drain();
      any = false;
      for (; auto out = session.try_pop(envelope); any = true) use(*std::move(out), std::as_const(envelope));
    }
  };
  for (auto item = from.next(); item != nullptr; item = from.next()) {
    for (auto due = session.due(); due && *due <= item->pushed; due = session.due()) {
      clock.advance_to(*due);
      use_all();
    }
    clock.advance_to(item->pushed);
    session.push(item->value, item->captured);
    use_all();
  }
  session.close();
  while (auto out = session.pop(envelope)) use(*std::move(out), std::as_const(envelope));
  return session.counts();
}

/// Deduced and never defined: what is called with a lambda and declared alone is a second error to g++.
template <class... Options, class Item, class App, class Use,
          class Mistake = decltype(detail::replay_mistake<Item, App, Options...>())>
  requires(Mistake::is_mistake)
auto replay(recording<Item>& from, const App& app, Use use);

}  // namespace levada
