// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/large_objects.hpp: memory for objects with many weights, which lie side by side in large pages.

#include <cstddef>
#include <mutex>
#include <new>

#include <levada/core/detail/large_pages.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define LEVADA_OBJECTS_ARE_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEVADA_OBJECTS_ARE_WATCHED 1
#endif
#endif

namespace levada::detail {

/// All of a process: blocks, each filled from front to back, which end with the last object in them.
template <class = void>
class basic_large_objects {
 public:
  /// To the end of the process: objects of static storage may be destroyed last.
  static basic_large_objects& of_process() {
    static basic_large_objects& all = *new basic_large_objects;
    return all;
  }

  basic_large_objects() = default;
  /// All were given back.
  ~basic_large_objects() { end(filled_); }
  basic_large_objects(const basic_large_objects&) = delete;
  basic_large_objects& operator=(const basic_large_objects&) = delete;

  void* take(std::size_t bytes) {
    const std::size_t needed = (line + bytes + line - 1) / line * line;
    const std::lock_guard lock(mutex_);
    if (filled_ == nullptr || needed > filled_->bytes - filled_->used) start_block(needed);
    std::byte* const at = reinterpret_cast<std::byte*>(filled_) + filled_->used;
    filled_->used += needed;
    ++filled_->objects;
    ::new (static_cast<void*>(at)) block*(filled_);
    return at + line;
  }
  void give_back(void* object) noexcept {
    const std::lock_guard lock(mutex_);
    block* const of = *reinterpret_cast<block**>(static_cast<std::byte*>(object) - line);
    if (--of->objects != 0) return;
    if (of == filled_)
      of->used = line;
    else
      end(of);
  }

 private:
  static constexpr std::size_t line = 64, block_bytes = 16 * large_page;

  struct block {
    std::size_t bytes, used, objects;
  };
  static_assert(sizeof(block) <= line);

  static void end(block* of) noexcept { ::operator delete(of, std::align_val_t{large_page}); }

  void start_block(std::size_t needed) {
    const std::size_t bytes = needed + line > block_bytes ? needed + line : block_bytes;
    auto* const memory = static_cast<std::byte*>(::operator new(bytes, std::align_val_t{large_page}));
    // The system gives what is touched: a program of few weights takes small pages, and no more of them than it needs.
    ask_for_large_pages(memory + large_page, bytes - large_page);
    if (filled_ != nullptr && filled_->objects == 0) end(filled_);
    filled_ = ::new (static_cast<void*>(memory)) block{bytes, line, 0};
  }

  std::mutex mutex_;
  block* filled_ = nullptr;
};
using large_objects = basic_large_objects<>;

/// The base of classes whose objects lie there. The address sanitizer watches over each by itself.
struct large_object {
#ifndef LEVADA_OBJECTS_ARE_WATCHED
  static void* operator new(std::size_t bytes, std::align_val_t) { return large_objects::of_process().take(bytes); }
  static void operator delete(void* object, std::align_val_t) { large_objects::of_process().give_back(object); }
#else
  static void* operator new(std::size_t bytes, std::align_val_t aligned) { return ::operator new(bytes, aligned); }
  static void operator delete(void* object, std::align_val_t aligned) { ::operator delete(object, aligned); }
#endif
};
struct small_object {};

/// An object of so many bytes lies among the large ones.
constexpr bool is_large_object(std::size_t bytes, std::size_t alignment) {
  return bytes >= (std::size_t{32} << 10) && alignment <= 64;
}

}  // namespace levada::detail

#undef LEVADA_OBJECTS_ARE_WATCHED
