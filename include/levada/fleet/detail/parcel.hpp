// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/parcel.hpp: an item in a driver's slots, and the message that it shares with others on its way to a
// worker.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include <levada/core/detail/storage.hpp>
#include <levada/fleet/detail/short_text.hpp>

namespace levada::detail {

struct fleet_slot {
  enum class place : std::uint8_t { nowhere, waiting, sent };
  static constexpr std::uint32_t no_parcel = ~std::uint32_t{0};

  std::uint64_t item = 0;
  std::span<const std::byte> payload;
  std::vector<std::byte> written;  ///< of an item that has a wire form of its own
  place at = place::nowhere;
  int losses = 0;                    ///< of workers that ran it
  std::uint64_t life = 0;            ///< of the worker that asked last
  std::uint32_t parcel = no_parcel;  ///< in which it is published
  bool is_held = false;              ///< the publishing thread looks at the payload
  bool is_done = false;              ///< its outcome came meanwhile
  std::exception_ptr failure;        ///< the outcome then
};

/// Items of one message.
struct fleet_parcel {
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds first_pause{5}, first_patience{2000};

  std::uint64_t number = 0;
  std::vector<std::size_t> slots;
  std::size_t left = 0;  ///< without an outcome
  bool is_used = false, is_published = false, is_stored = false;
  std::uint64_t sequence = 0;  ///< in the stream
  short_text id;               ///< there
  time_point again_at{};
  std::chrono::milliseconds pause = first_pause;  ///< of a stream that is full
  time_point look_at{};                           ///< for it in the stream
  std::chrono::milliseconds patience = first_patience;
};

/// The messages that a session has on their way, one of an item at least. Each has a number that no other has.
class fleet_parcels {
 public:
  using time_point = fleet_parcel::time_point;

  explicit fleet_parcels(std::size_t most) : parcels_(most) {
    for (std::size_t i = 0; i < most; ++i) free_.push_back(i);
  }

  auto begin() { return parcels_.begin(); }
  auto end() { return parcels_.end(); }
  fleet_parcel& operator[](std::size_t i) { return parcels_[i]; }
  std::size_t index_of(const fleet_parcel& p) const { return static_cast<std::size_t>(&p - parcels_.begin()); }

  bool has_free() const { return !free_.empty(); }
  fleet_parcel& take() {
    fleet_parcel& p = parcels_[free_.back()];
    free_.pop_back();
    p.number = ++made_;
    p.slots.clear();
    p.left = 0;
    p.is_used = true;
    p.is_published = p.is_stored = false;
    p.pause = fleet_parcel::first_pause;
    p.patience = fleet_parcel::first_patience;
    ++unstored_;
    return p;
  }
  /// Its items have their outcomes, whether or not a server has said that it had them.
  void leave(fleet_parcel& p) {
    p.is_used = false;
    unstored_ -= p.is_stored ? 0u : 1u;
    free_.push_back(index_of(p));
  }
  void set_stored(fleet_parcel& p, std::uint64_t sequence) {
    p.is_stored = true;
    p.sequence = sequence;
    p.look_at = std::chrono::steady_clock::now() + p.patience;
    --unstored_;
  }

  /// That of a message which is stored already.
  fleet_parcel& stored_at(std::uint64_t sequence, const short_text& id) {
    for (fleet_parcel& p : parcels_)
      if (p.is_used && p.is_stored && p.sequence == sequence) return p;
    fleet_parcel& p = take();
    p.id = id;
    p.is_published = true;
    set_stored(p, sequence);
    return p;
  }

  /// Of a parcel as it is now, and the parcel of that; null where it is another by now.
  std::uint64_t tag_of(const fleet_parcel& p) const { return p.number * parcels_.size() + index_of(p); }
  fleet_parcel* of_tag(std::uint64_t tag) {
    fleet_parcel& p = parcels_[static_cast<std::size_t>(tag % parcels_.size())];
    return p.is_used && p.number == tag / parcels_.size() ? &p : nullptr;
  }

  /// That no server has acknowledged.
  std::size_t unstored() const { return unstored_; }
  /// One of these that is to be published again; null: none is yet, but at `next`.
  fleet_parcel* due(time_point now, time_point& next) {
    next = time_point::max();
    for (fleet_parcel& p : parcels_) {
      if (!p.is_used || !p.is_published || p.is_stored) continue;
      if (now >= p.again_at) return &p;
      next = std::min(next, p.again_at);
    }
    return nullptr;
  }

 private:
  fixed_array<fleet_parcel> parcels_;
  std::vector<std::size_t> free_;
  std::uint64_t made_ = 0;
  std::size_t unstored_ = 0;
};

}  // namespace levada::detail
