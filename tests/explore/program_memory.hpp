// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/program_memory.hpp: memory for what is explored, so that an object has one address in all executions that
// come to it by one schedule, and an execution can be gone back to. It replaces `operator new` and the memory of
// exceptions: for one unit of a program only.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include <cxxabi.h>

// The variables of a program lie between these (ld).
extern "C" char __data_start[], _end[];  // NOLINT(bugprone-reserved-identifier)

namespace levada::test {

/// Copies of some of the memory, to go back to.
class memory_image {
 public:
  void clear() { parts_.clear(), used_ = 0; }
  void add(const void* at, std::size_t count) {
    if (used_ + count > bytes_.size()) bytes_.resize(2 * (used_ + count));
    std::memcpy(bytes_.data() + used_, at, count);
    parts_.push_back({const_cast<void*>(at), count});
    used_ += count;
  }
  void restore() const {
    const std::byte* from = bytes_.data();
    for (const part& p : parts_) std::memcpy(p.at, from, p.count), from += p.count;
  }

 private:
  struct part {
    void* at;
    std::size_t count;
  };
  std::vector<part> parts_;
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
};

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
  std::byte* stack(std::size_t i) {
    reserve();
    if (i >= stacks) std::abort();
    return first_ + i * stack_bytes;
  }
  static constexpr std::size_t stacks = 16, stack_bytes = 256 * 1024;

  /// What has been taken, and the variables of the program; not the stacks.
  void add_to(memory_image& image) const {
    image.add(first_ + stacks * stack_bytes, used_ - stacks * stack_bytes);
    image.add(__data_start, static_cast<std::size_t>(_end - __data_start));
  }

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

// What the runtime keeps of an exception lies before it (Itanium C++ ABI, and the count of libstdc++).
namespace __cxxabiv1 {
extern "C" {
constexpr std::size_t exception_header = 128, dependent_exception = 256;

void* __cxa_allocate_exception(std::size_t n) noexcept {
  void* const p = levada::test::program_memory::all().take(exception_header + n, 16);
  std::memset(p, 0, exception_header);
  return static_cast<std::byte*>(p) + exception_header;
}
void __cxa_free_exception(void* p) noexcept {
  levada::test::program_memory::all().give(static_cast<std::byte*>(p) - exception_header);
}
__cxa_dependent_exception* __cxa_allocate_dependent_exception() noexcept {
  void* const p = levada::test::program_memory::all().take(dependent_exception, 16);
  std::memset(p, 0, dependent_exception);
  return static_cast<__cxa_dependent_exception*>(p);
}
void __cxa_free_dependent_exception(__cxa_dependent_exception* p) noexcept {
  levada::test::program_memory::all().give(p);
}
}
}  // namespace __cxxabiv1
