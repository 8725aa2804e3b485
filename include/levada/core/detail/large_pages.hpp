// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/large_pages.hpp: pages of 2 MiB for memory that is read from front to back for each item. A processor's
// prefetchers stop at the end of a page: from large pages it reads main memory at about twice the rate.

#include <cstddef>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace levada::detail {

inline constexpr std::size_t large_page = std::size_t{2} << 20;

/// Asks the system for large pages from `at`, the begin of one, on ("transparent huge pages" of Linux). A system that
/// has none gives small ones.
inline void ask_for_large_pages([[maybe_unused]] void* at, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  static_cast<void>(::madvise(at, bytes / large_page * large_page, MADV_HUGEPAGE));
#endif
}

}  // namespace levada::detail
