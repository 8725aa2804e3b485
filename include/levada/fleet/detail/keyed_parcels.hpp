// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/keyed_parcels.hpp: the messages of items that a driver has for partitions, until a state has passed
// them.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <levada/fleet/detail/message.hpp>

namespace levada::detail {

/// Items of one message. It is there until a state has passed it, whatever has become of its items: a server that is
/// killed may lose the last messages that it had acknowledged, or sent on.
template <class Partition>
struct keyed_parcel {
  static constexpr std::chrono::milliseconds first_pause{5};

  Partition* of = nullptr;
  std::size_t index = 0;     ///< among all
  std::uint64_t number = 0;  ///< of the session's
  std::uint64_t rounds = 0;  ///< in which it was published
  std::uint64_t first = 0;   ///< of its items in their partition
  std::uint64_t item = 0;    ///< the first of them
  fleet_writer message;
  std::span<const std::byte> bytes;  ///< of it, when it is published
  bool is_used = false, is_published = false, is_stored = false, is_held = false;
  std::chrono::steady_clock::time_point again_at{};
  std::chrono::milliseconds pause = first_pause;

  bool is_unanswered() const { return is_used && is_published && !is_stored; }
};

/// All of a session. Under a lock of its owner's.
template <class Partition>
class keyed_parcels {
 public:
  using parcel = keyed_parcel<Partition>;
  using time_point = std::chrono::steady_clock::time_point;

  /// Without items, for those from these numbers on.
  parcel& take(Partition& of, std::uint64_t first, std::uint64_t item) {
    if (free_.empty()) {
      all_.push_back(std::make_unique<parcel>());
      all_.back()->index = all_.size() - 1;
      free_.push_back(all_.back().get());
    }
    parcel& p = *free_.back();
    free_.pop_back();
    p.of = &of;
    p.number = ++taken_;
    p.first = first;
    p.item = item;
    p.is_used = true;
    p.is_published = p.is_stored = false;
    p.pause = parcel::first_pause;
    p.rounds = 0;
    return p;
  }
  void give_back(parcel& p) {
    p.is_used = false;
    free_.push_back(&p);
  }

  /// Null where it is another one now, or was answered.
  parcel* find_unanswered(std::size_t index, std::uint64_t number) const {
    if (index >= all_.size() || all_[index]->number != number || !all_[index]->is_unanswered()) return nullptr;
    return all_[index].get();
  }
  /// One that waited for its answer for long.
  parcel* due(time_point now) const {
    for (const std::unique_ptr<parcel>& p : all_)
      if (p->is_unanswered() && now >= p->again_at) return p.get();
    return nullptr;
  }
  time_point next_due() const {
    auto due = time_point::max();
    for (const std::unique_ptr<parcel>& p : all_)
      if (p->is_unanswered()) due = std::min(due, p->again_at);
    return due;
  }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<std::unique_ptr<parcel>> all_;
  std::vector<parcel*> free_;
  std::uint64_t taken_ = 0;
};

}  // namespace levada::detail
