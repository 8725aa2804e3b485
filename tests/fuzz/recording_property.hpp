// SPDX-License-Identifier: Apache-2.0
#pragma once
// fuzz/recording_property.hpp: what must hold for any bytes at all given to the reader of recordings, and for a replay
// of what it takes.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/interop/recording.hpp>
#include <levada/levada.hpp>

namespace levada_test {

/// A file in memory, under a name.
class memory_file {
 public:
  memory_file() : descriptor_(::memfd_create("recording", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::runtime_error("no file in memory");
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { ::close(descriptor_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  void set(std::string_view bytes) const {
    if (::ftruncate(descriptor_, 0) != 0 ||
        ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("no file in memory");
  }

 private:
  int descriptor_;
};

using recorded = std::array<std::int16_t, 3>;

inline std::string bytes_of(std::int64_t captured, std::int64_t pushed, const recorded& item) {
  std::string text(sizeof captured + sizeof pushed + sizeof item, '\0');
  std::memcpy(text.data(), &captured, sizeof captured);
  std::memcpy(text.data() + sizeof captured, &pushed, sizeof pushed);
  std::memcpy(text.data() + sizeof captured + sizeof pushed, item.data(), sizeof item);
  return text;
}
/// A file that `reads_recording` accepts.
inline std::string recording_of(unsigned seed) {
  std::string text = levada::detail::recording_line<recorded>();
  for (unsigned i = 0; i < seed % 7; ++i)
    text +=
        bytes_of(1'000'000 * (i + seed % 5), 1'000'000 * (i + seed % 9), {static_cast<std::int16_t>(i + seed), 2, 3});
  return text;
}

/// Drops, filters, fails, batches and remembers.
template <int Threads>
const auto& replaying_app() {
  using levada::operator""_ms;
  static const auto app = levada::deploy<levada::target<levada::cpu<Threads>>, levada::slots<8>>(
      levada::input<recorded> | levada::stage<"some">([](const recorded& r) -> std::optional<int> {
        if (r[0] % 5 == 1) throw std::runtime_error("failed");
        if (r[0] % 5 == 2) return std::nullopt;
        return r[0] + r[1];
      }) |
      levada::batch<2, levada::timeout<20_ms>> | levada::stage<"sum">([sum = 0u](const std::array<int, 2>& of) mutable {
        return sum = sum * 31 + static_cast<unsigned>(of[0]) * 7 + static_cast<unsigned>(of[1]);
      }));
  return app;
}

template <int Threads>
std::vector<std::pair<std::uint64_t, std::int64_t>> replayed(const std::string& path) {
  using levada::operator""_ms;
  std::vector<std::pair<std::uint64_t, std::int64_t>> all;
  levada::recording<recorded> from(path);
  const levada::item_counts counts = levada::replay<levada::deadline<50_ms>>(
      from, replaying_app<Threads>(), [&](const levada::result<unsigned>& r, const levada::item_envelope& e) {
        all.emplace_back(e.sequence, r ? std::int64_t{*r} : -1);
      });
  if (counts.in_flight != 0) throw std::logic_error("an item is left");
  if (counts.pushed != counts.delivered + counts.failed + counts.filtered + counts.dropped + counts.cancelled)
    throw std::logic_error("an item is lost");
  return all;
}

inline std::string text_of(const std::vector<std::pair<std::uint64_t, std::int64_t>>& results) {
  std::string text;
  for (const auto& [sequence, value] : results) text += " " + std::to_string(sequence) + ": " + std::to_string(value);
  return text;
}

/// Reads `bytes` as a recording: true when they were accepted, false when refused by a `levada::error`. Every other
/// exception gets out, and so does std::logic_error where what was read is not what is there, or two replays give
/// different results.
inline bool reads_recording(std::string_view bytes) {
  static const memory_file file;
  file.set(bytes);
  const std::string line = levada::detail::recording_line<recorded>();
  std::string again;
  try {
    levada::recording<recorded> from(file.path());
    again = line;
    while (const auto item = from.next())
      again +=
          bytes_of(item->captured.time_since_epoch().count(), item->pushed.time_since_epoch().count(), item->value);
  } catch (const levada::error&) {
    if (again != bytes.substr(0, again.size())) throw std::logic_error("what was read is not what is there");
    return false;
  }
  if (again != bytes) throw std::logic_error("what was read is not what is there");
  if (const auto one = replayed<1>(file.path()), two = replayed<2>(file.path()); one != two)
    throw std::logic_error("a replay by one thread gives" + text_of(one) + ", and by two" + text_of(two));
  return true;
}

}  // namespace levada_test
