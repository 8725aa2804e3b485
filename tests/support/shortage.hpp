// SPDX-License-Identifier: Apache-2.0
#pragma once
// support/shortage.hpp: lets one allocation of the program fail, the n-th of those made while it is asked to count, on
// whatever thread; and one thread not start. Include it in exactly one source file of a program: it replaces the global
// operator new and delete, and stands in front of pthread_create (glibc).
//
// What the library of oneTBB itself asks for never fails: what it does then is its own.

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

namespace levada::test {

/// Things of one kind that the program asks the system for, of which one, or one and all behind it, is refused.
class shortage {
 public:
  /// The `n`-th from now on, counted only between `resume` and `pause`.
  void begin(long n, bool lasts) {
    lasts_ = lasts;
    struck_.store(false);
    left_.store(n);
  }
  void resume() { counts_.store(true); }
  void pause() { counts_.store(false); }
  bool has_struck() const { return struck_.load(); }

  /// Asked for one more by code at that address.
  bool refuses(const void* caller) {
    if (!counts_.load() || is_of_tbb(caller)) return false;
    const long left = left_.fetch_sub(1);
    if (left > 1 || (left < 1 && !lasts_)) return false;
    struck_.store(true);
    return true;
  }

 private:
  struct range {
    std::uintptr_t first = 0, end = 0;
  };
  static bool is_of_tbb(const void* caller) {
    static const range library = range_of_tbb();
    const auto at = reinterpret_cast<std::uintptr_t>(caller);
    return at >= library.first && at < library.end;
  }
  static range range_of_tbb() {
    range found;
    dl_iterate_phdr(
        [](dl_phdr_info* of, std::size_t, void* to) {
          if (of->dlpi_name == nullptr || std::strstr(of->dlpi_name, "libtbb.so") == nullptr) return 0;
          auto& r = *static_cast<range*>(to);
          r.first = of->dlpi_addr;
          for (int i = 0; i < of->dlpi_phnum; ++i) {
            const std::uintptr_t end = of->dlpi_addr + of->dlpi_phdr[i].p_vaddr + of->dlpi_phdr[i].p_memsz;
            if (of->dlpi_phdr[i].p_type == PT_LOAD && end > r.end) r.end = end;
          }
          return 1;
        },
        &found);
    return found;
  }

  std::atomic<long> left_{0};
  std::atomic<bool> counts_{false}, struck_{false};
  bool lasts_ = false;
};

inline shortage of_memory, of_threads;
/// Blocks of operator new that were not given back.
inline std::atomic<long> blocks_alive{0};

inline void* allocate(std::size_t size, std::size_t alignment, const void* caller) noexcept {
  if (of_memory.refuses(caller)) return nullptr;
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t))
    memory = std::malloc(size != 0 ? size : 1);
  else if (posix_memalign(&memory, alignment, size) != 0)
    memory = nullptr;
  if (memory != nullptr) blocks_alive.fetch_add(1);
  return memory;
}
inline void* allocate_or_throw(std::size_t size, std::size_t alignment, const void* caller) {
  if (void* const memory = allocate(size, alignment, caller)) return memory;
  throw std::bad_alloc();
}
inline void deallocate(void* memory) noexcept {
  if (memory == nullptr) return;
  blocks_alive.fetch_sub(1);
  std::free(memory);
}

}  // namespace levada::test

// All forms: under a sanitizer the standard library's own do not call these.
#define LEVADA_CALLER __builtin_return_address(0)
[[gnu::noinline]] void* operator new(std::size_t n) { return levada::test::allocate_or_throw(n, 1, LEVADA_CALLER); }
[[gnu::noinline]] void* operator new[](std::size_t n) { return levada::test::allocate_or_throw(n, 1, LEVADA_CALLER); }
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  return levada::test::allocate_or_throw(n, static_cast<std::size_t>(a), LEVADA_CALLER);
}
[[gnu::noinline]] void* operator new[](std::size_t n, std::align_val_t a) {
  return levada::test::allocate_or_throw(n, static_cast<std::size_t>(a), LEVADA_CALLER);
}
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return levada::test::allocate(n, 1, LEVADA_CALLER);
}
[[gnu::noinline]] void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return levada::test::allocate(n, 1, LEVADA_CALLER);
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return levada::test::allocate(n, static_cast<std::size_t>(a), LEVADA_CALLER);
}
[[gnu::noinline]] void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return levada::test::allocate(n, static_cast<std::size_t>(a), LEVADA_CALLER);
}
#undef LEVADA_CALLER
[[gnu::noinline]] void operator delete(void* p) noexcept { levada::test::deallocate(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { levada::test::deallocate(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { levada::test::deallocate(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { levada::test::deallocate(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { levada::test::deallocate(p); }
[[gnu::noinline]] void operator delete[](void* p, std::align_val_t) noexcept { levada::test::deallocate(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { levada::test::deallocate(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  levada::test::deallocate(p);
}
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept { levada::test::deallocate(p); }
[[gnu::noinline]] void operator delete[](void* p, const std::nothrow_t&) noexcept { levada::test::deallocate(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  levada::test::deallocate(p);
}
[[gnu::noinline]] void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  levada::test::deallocate(p);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  using function = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const behind = reinterpret_cast<function*>(dlsym(RTLD_NEXT, "pthread_create"));
  if (levada::test::of_threads.refuses(__builtin_return_address(0))) return EAGAIN;
  return behind(thread, attributes, start, argument);
}

// Too much to ask for is refused under a sanitizer, too. A node of oneTBB makes two copies of its body, and forgets the
// first where there is no memory for the second.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __lsan_default_suppressions() {
  return "leak:tbb::detail::d1::function_input<\nleak:tbb::detail::d1::multifunction_input<\n";
}
