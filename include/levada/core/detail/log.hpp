// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/log.hpp: messages of the library while it runs, handed to the program's own log.

#include <atomic>
#include <cstdint>
#include <string_view>

namespace levada {

enum class log_level : std::uint8_t {
  info,    ///< an app was deployed, a device opened, a library loaded, a pipeline swapped
  warning  ///< something asked for is not to be had, and was done without
};

/// Takes the lines of the library, one at a time or several at once from different threads, without a line break. Never
/// called where items run.
class log_sink {
 public:
  virtual void write(log_level level, std::string_view line) noexcept = 0;

 protected:
  ~log_sink() = default;
};

namespace detail {

inline std::atomic<log_sink*> current_log_sink{nullptr};

inline void log(log_level level, std::string_view line) noexcept {
  if (log_sink* const sink = current_log_sink.load()) sink->write(level, line);
}
/// Whether a line is worth putting together.
inline bool is_logged() noexcept { return current_log_sink.load() != nullptr; }

}  // namespace detail

/// From now on lines go to `sink`, which outlives its users; null, as in the beginning: nowhere. Returns the one
/// before.
inline log_sink* log_to(log_sink* sink) noexcept { return detail::current_log_sink.exchange(sink); }

}  // namespace levada
