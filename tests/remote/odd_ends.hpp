// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/odd_ends.hpp: drivers and nodes that send what a test says.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/remote/detail/frame.hpp>
#include <levada/remote/detail/transport.hpp>
#include <levada/remote/in_process.hpp>

#include "run/progress.hpp"

namespace levada::test {

inline std::string bytes_of(int x) { return {reinterpret_cast<const char*>(&x), sizeof x}; }

/// An end that does what a test says.
class odd_end final : public connection_events {
 public:
  struct message {
    detail::frame_kind kind;
    std::uint64_t item;
    std::string text;
  };

  void received(wire_reader::pieces pieces) noexcept override {
    wire_reader from(pieces);
    const detail::frame_header header = detail::frame_header::read(from);
    const std::lock_guard lock(mutex_);
    came_.push_back({header.kind, header.item, detail::text_from_wire(from, 100'000)});
  }
  void released(std::uint64_t) noexcept override {}
  void closed(const std::string&) noexcept override {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }

  void connect(in_process& by) { to_ = by.connect("a", 1000, *this); }
  void take(std::unique_ptr<connection> by) { to_ = std::move(by); }
  void end() { to_.reset(); }
  void send(std::string_view raw) {
    kept_.emplace_back(raw);
    const auto bytes = std::as_bytes(std::span(kept_.back()));
    const std::size_t head = std::min<std::size_t>(16, bytes.size());
    to_->send(bytes.first(head), bytes.subspan(head), 0);
  }
  void send(detail::frame_kind kind, std::uint64_t item, std::string_view payload) {
    const auto head = detail::frame_header{kind, static_cast<std::uint32_t>(payload.size()), item}.written();
    send(std::string(reinterpret_cast<const char*>(head.data()), head.size()).append(payload));
  }

  /// An item with what its header's second byte says.
  void send_with(std::uint8_t with, std::string_view payload) {
    const auto head =
        detail::frame_header{detail::frame_kind::item, static_cast<std::uint32_t>(payload.size()), 0, with}.written();
    send(std::string(reinterpret_cast<const char*>(head.data()), head.size()).append(payload));
  }

  bool is_closed() {
    const std::lock_guard lock(mutex_);
    return is_closed_;
  }
  std::vector<message> came() {
    const std::lock_guard lock(mutex_);
    return came_;
  }
  bool has(detail::frame_kind kind) {
    return eventually([&] {
             for (const message& m : came())
               if (m.kind == kind) return true;
             return is_closed();
           }) &&
           !came().empty() && came().back().kind == kind;
  }
  /// What the other end says when it refuses.
  std::string refusal() { return has(detail::frame_kind::refusal) ? came().back().text : ""; }

 private:
  std::mutex mutex_;
  std::vector<message> came_;
  bool is_closed_ = false;
  std::deque<std::string> kept_;  ///< which stay where they are
  std::unique_ptr<connection> to_;
};

/// A node that is none.
class odd_node final : public connection_acceptor {
 public:
  explicit odd_node(in_process& by) : listener_(by.listen("a", 1000, *this)) {}
  ~odd_node() {
    listener_->stop();
    for (const auto& e : ends_) e->end();
  }
  connection_events* accepted(std::unique_ptr<connection> by) noexcept override {
    const std::lock_guard lock(mutex_);
    ends_.push_back(std::make_unique<odd_end>());
    ends_.back()->take(std::move(by));
    return ends_.back().get();
  }
  /// The next connection that has greeted: a driver that waited too long has made another.
  odd_end& next() {
    odd_end* found = nullptr;
    CHECK(eventually([&] {
      const std::lock_guard lock(mutex_);
      for (; next_ < ends_.size(); ++next_) {
        if (ends_[next_]->is_closed()) continue;
        if (!ends_[next_]->came().empty()) found = ends_[next_++].get();
        break;
      }
      return found != nullptr;
    }));
    return *found;
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<odd_end>> ends_;
  std::size_t next_ = 0;
  std::unique_ptr<listener> listener_;
};

}  // namespace levada::test
