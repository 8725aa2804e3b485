// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a sanitizer stands in front of the heap and slows everything down.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LEVADA_UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LEVADA_UNDER_SANITIZER 1
#endif
#endif
#ifndef LEVADA_UNDER_SANITIZER
#define LEVADA_UNDER_SANITIZER 0
#endif

namespace levada::test {

inline constexpr bool under_sanitizer = LEVADA_UNDER_SANITIZER;

/// By how much fewer cases a long test of results tries under a sanitizer: they take the same ways through memory, and
/// whether a result is right is for the release build to say.
inline constexpr int sparse = under_sanitizer ? 16 : 1;

}  // namespace levada::test
