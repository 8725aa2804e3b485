// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/greeting.hpp: the first messages of a connection from the driver's side, and whether any node of a
// device answers as it should, asked when a program is deployed.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/frame.hpp>
#include <levada/remote/detail/kernel.hpp>

namespace levada::detail {

inline constexpr std::uint64_t text_tag = ~std::uint64_t{0};  ///< of payloads that stay for good

inline void send_hello(connection& to, const remote_way& way, std::chrono::nanoseconds deadline = {}) {
  const auto head = frame_header{frame_kind::hello, static_cast<std::uint32_t>(way.identity.size()),
                                 static_cast<std::uint64_t>(deadline.count())}
                        .written();
  to.send(head, std::as_bytes(std::span(way.identity)), text_tag);
}

/// The words of a device in messages: `levada: remote device "edge"`.
inline std::string words_of(const remote_way& way) { return "levada: remote device \"" + way.device + "\""; }

/// Waits for what one node says.
class remote_probe final : public connection_events {
 public:
  /// Empty: it takes part.
  std::string ask(const remote_way& way, const std::string& address, std::size_t most_bytes) {
    const std::unique_ptr<connection> to = way.by->connect(address, most_bytes, *this);
    send_hello(*to, way);
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, longest_greeting, [this] { return is_known_; })) return "it does not answer";
    return why_;
  }

  void received(wire_reader::pieces message) noexcept override {
    std::string why;
    try {
      wire_reader from(message);
      const frame_header header = frame_header::read(from);
      if (header.kind == frame_kind::refusal)
        why = text_from_wire(from, most_text_bytes);
      else if (header.kind != frame_kind::welcome)
        why = "it answers in another way than a node";
    } catch (const std::exception& e) {
      why = e.what();
    }
    tell(std::move(why));
  }
  void released(std::uint64_t) noexcept override {}
  void closed(const std::string& why) noexcept override { tell(why); }

 private:
  void tell(std::string why) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (is_known_) return;
      is_known_ = true;
      why_ = std::move(why);
    }
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_known_ = false;
  std::string why_;
};

/// Throws remote_error where no node of the device takes part.
inline void check_nodes(const remote_way& way, std::size_t most_bytes) {
  std::string reasons;
  for (const std::string& address : way.addresses) {
    remote_probe probe;
    const std::string why = probe.ask(way, address, most_bytes);
    if (why.empty()) return;
    reasons.append(reasons.empty() ? "" : "; ").append(address).append(": ").append(why);
  }
  throw remote_error(words_of(way) + " has no node: " + (reasons.empty() ? "it has no address" : reasons));
}

}  // namespace levada::detail
