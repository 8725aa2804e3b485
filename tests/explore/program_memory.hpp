// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/program_memory.hpp: memory for what is explored, so that an object has one address in all executions that
// come to it by one schedule. It replaces `operator new`: for one unit of a program only.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace levada::test {

/// One after the other, and all given back at once.
class program_memory {
 public:
  static program_memory& all() {
    static program_memory one;
    return one;
  }
  /// Everything is given back: an execution begins.
  void restart() {
    reserve();
    used_ = stacks * stack_bytes;
  }
  bool has(const void* p) const {
    const auto at = reinterpret_cast<std::uintptr_t>(p), first = reinterpret_cast<std::uintptr_t>(first_);
    return first_ != nullptr && at - first < bytes;
  }
  /// Of the `i`-th thread.
  void* stack(std::size_t i) {
    reserve();
    if (i >= stacks) std::abort();
    return first_ + i * stack_bytes;
  }
  static constexpr std::size_t stack_bytes = 256 * 1024;

  void* take(std::size_t n, std::size_t alignment) {
    if (is_on_) {
      const std::size_t at = (used_ + alignment - 1) / alignment * alignment;
      if (at + n <= bytes) {
        used_ = at + n;
        return first_ + at;
      }
    }
    void* const p = alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
                        ? std::malloc(n == 0 ? 1 : n)
                        : std::aligned_alloc(alignment, (n + alignment - 1) / alignment * alignment);
    if (p == nullptr) throw std::bad_alloc();
    return p;
  }
  void give(void* p) {
    if (!has(p)) std::free(p);
  }
  /// Says what it was.
  bool switch_on(bool on) { return std::exchange(is_on_, on); }

 private:
  void reserve() {
    if (first_ == nullptr) first_ = static_cast<std::byte*>(std::aligned_alloc(4096, bytes));
  }

  static constexpr std::size_t stacks = 16;
  static constexpr std::size_t bytes = stacks * stack_bytes + (std::size_t{8} << 20);
  std::byte* first_ = nullptr;
  std::size_t used_ = 0;
  bool is_on_ = false;
};

/// What is taken meanwhile is not the program's.
class own_memory {
 public:
  own_memory() : was_on_(program_memory::all().switch_on(false)) {}
  own_memory(const own_memory&) = delete;
  own_memory& operator=(const own_memory&) = delete;
  ~own_memory() { program_memory::all().switch_on(was_on_); }

 private:
  const bool was_on_;
};

}  // namespace levada::test

void* operator new(std::size_t n) {
  return levada::test::program_memory::all().take(n, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t n, std::align_val_t alignment) {
  return levada::test::program_memory::all().take(n, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { levada::test::program_memory::all().give(p); }
void operator delete(void* p, std::size_t) noexcept { levada::test::program_memory::all().give(p); }
void operator delete(void* p, std::align_val_t) noexcept { levada::test::program_memory::all().give(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { levada::test::program_memory::all().give(p); }
