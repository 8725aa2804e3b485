// SPDX-License-Identifier: Apache-2.0
#pragma once
// support/counting.hpp: counts every heap allocation of the program, on all threads. Include it in exactly one source
// file of a program: it replaces the global operator new and delete, stands in front of the C library's malloc family
// (glibc), and in front of oneTBB's allocators, which the other two do not see.
// Sanitizers need those places themselves: under them `counts_allocations` is false and every count stays 0.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../sanitizer.hpp"

/// Allocations since the program started, each counted once.
struct allocation_counts {
  std::uint64_t news = 0;        ///< operator new, in all its forms
  std::uint64_t mallocs = 0;     ///< malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign called directly
  std::uint64_t tbb_heap = 0;    ///< oneTBB's cache_aligned_allocate and allocate_memory, called by inlined oneTBB code
  std::uint64_t tbb_pooled = 0;  ///< tasks and messages from oneTBB's small-object pool, recycled rather than allocated

  /// What reaches a heap.
  constexpr std::uint64_t heap() const { return news + mallocs + tbb_heap; }

  friend constexpr allocation_counts operator-(const allocation_counts& a, const allocation_counts& b) {
    return {a.news - b.news, a.mallocs - b.mallocs, a.tbb_heap - b.tbb_heap, a.tbb_pooled - b.tbb_pooled};
  }
};

#if LEVADA_UNDER_SANITIZER || !defined(__GLIBC__)

inline constexpr bool counts_allocations = false;
inline allocation_counts allocations_now() { return {}; }

#else

#include <cerrno>
#include <cstdlib>
#include <new>

#include <dlfcn.h>

#include <oneapi/tbb/cache_aligned_allocator.h>
#include <oneapi/tbb/detail/_small_object_pool.h>

inline constexpr bool counts_allocations = true;

namespace counting {

inline std::atomic<std::uint64_t> news{0}, mallocs{0}, tbb_heap{0}, tbb_pooled{0};

inline void count(std::atomic<std::uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

/// The next definition of a symbol behind this program's own, with its type.
template <class Function>
Function* next(const char* symbol) {
  void* const found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}

}  // namespace counting

inline allocation_counts allocations_now() {
  return {counting::news, counting::mallocs, counting::tbb_heap, counting::tbb_pooled};
}

// glibc's own names of what stands behind malloc: calling them needs no dlsym, which allocates itself.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) noexcept {
  counting::count(counting::mallocs);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  counting::count(counting::mallocs);
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  counting::count(counting::mallocs);
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  counting::count(counting::mallocs);
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  counting::count(counting::mallocs);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  counting::count(counting::mallocs);
  void* const memory = __libc_memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *result = memory;
  return 0;
}
}

// The array and nothrow forms of the standard library call these.
void* operator new(std::size_t size) {
  counting::count(counting::news);
  if (void* const memory = __libc_malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  counting::count(counting::news);
  if (void* const memory = __libc_memalign(static_cast<std::size_t>(alignment), size)) return memory;
  throw std::bad_alloc();
}
// Not inlined, or GCC sees `free` behind `new` and warns.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

// oneTBB's headers call these in its library; a definition in the program comes first.
namespace tbb::detail::r1 {
void* allocate(d1::small_object_pool*& pool, std::size_t size, const d1::execution_data& data) {
  static auto* const behind = counting::next<void*(d1::small_object_pool*&, std::size_t, const d1::execution_data&)>(
      "_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE");
  counting::count(counting::tbb_pooled);
  return behind(pool, size, data);
}
void* allocate(d1::small_object_pool*& pool, std::size_t size) {
  static auto* const behind = counting::next<void*(d1::small_object_pool*&, std::size_t)>(
      "_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEm");
  counting::count(counting::tbb_pooled);
  return behind(pool, size);
}
void* cache_aligned_allocate(std::size_t size) {
  static auto* const behind = counting::next<void*(std::size_t)>("_ZN3tbb6detail2r122cache_aligned_allocateEm");
  counting::count(counting::tbb_heap);
  return behind(size);
}
void* allocate_memory(std::size_t size) {
  static auto* const behind = counting::next<void*(std::size_t)>("_ZN3tbb6detail2r115allocate_memoryEm");
  counting::count(counting::tbb_heap);
  return behind(size);
}
}  // namespace tbb::detail::r1

#endif
