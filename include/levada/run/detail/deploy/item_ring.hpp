// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/item_ring.hpp: where items lie between the stages of branches that change their rate: one at work,
// and those that wait for items of other branches.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include <levada/core/detail/storage.hpp>
#include <levada/plan/detail/memory.hpp>

namespace levada::detail {

/// Memory that a copy has for itself.
template <std::size_t Bytes, std::size_t Alignment>
class own_bytes {
 public:
  own_bytes() : bytes_(Bytes, Alignment) {}
  own_bytes(const own_bytes&) : own_bytes() {}
  std::byte* get() const { return bytes_.get(); }

 private:
  arena_bytes bytes_;
};

/// Room for one object, which may be there or not.
template <class T>
class place_for {
 public:
  static constexpr std::size_t bytes = sizeof(T);
  void* raw() const { return memory_.get(); }
  T& object() const { return *std::launder(reinterpret_cast<T*>(memory_.get())); }

  /// Destroys it at the end of a scope.
  class ending {
   public:
    explicit ending(const place_for& of) : of_(of) {}
    ~ending() { std::destroy_at(&of_.object()); }
    ending(const ending&) = delete;
    ending& operator=(const ending&) = delete;

   private:
    const place_for& of_;
  };

 private:
  own_bytes<sizeof(T), alignof(T)> memory_;
};

/// At most `Room` objects, first in, first out, each with how many parts of it are some (rate_step).
template <class T, std::size_t Room>
class ring {
 public:
  static constexpr std::size_t bytes = Room * sizeof(T);
  ring() = default;
  ring(const ring&) {}  // empty: only what has begun nothing is copied
  ~ring() { clear(); }

  bool empty() const { return count_ == 0; }
  T& front() { return *at(first_); }
  std::uint32_t parts_of_front() const { return *parts_at(first_); }
  void pop() {
    std::destroy_at(at(first_));
    first_ = (first_ + 1) % Room;
    --count_;
  }
  /// `make(where)` constructs it.
  template <class Make>
  void push(Make make, std::uint32_t parts) {
    const std::size_t i = (first_ + count_) % Room;
    make(static_cast<void*>(memory_.get() + i * sizeof(T)));
    ::new (static_cast<void*>(parts_at(i))) std::uint32_t(parts);
    ++count_;
  }
  void clear() {
    while (!empty()) pop();
  }

 private:
  static constexpr std::size_t parts_begin = aligned(bytes, alignof(std::uint32_t));

  T* at(std::size_t i) { return std::launder(reinterpret_cast<T*>(memory_.get() + i * sizeof(T))); }
  std::uint32_t* parts_at(std::size_t i) const {
    return std::launder(reinterpret_cast<std::uint32_t*>(memory_.get() + parts_begin) + i);
  }

  own_bytes<parts_begin + Room * sizeof(std::uint32_t), std::max(alignof(T), alignof(std::uint32_t))> memory_;
  std::size_t first_ = 0, count_ = 0;
};

/// Of an item that is made of the fronts of these: a part is some where it is some of each.
template <class... Rings>
std::uint32_t parts_of_fronts(const Rings&... rings) {
  std::uint32_t least = 0;  // all
  for (const std::uint32_t parts : {rings.parts_of_front()...})
    if (parts != 0 && (least == 0 || parts < least)) least = parts;
  return least;
}

}  // namespace levada::detail
