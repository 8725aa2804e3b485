// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/pipeline_library.hpp: a pipeline as a shared library of one C symbol, which says what it is and how to make it.
// The unit that defines the pipeline names it there; run/load_pipeline.hpp loads it. The CMake function
// levada_add_pipeline builds it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include <levada/core/detail/type_words.hpp>
#include <levada/core/log.hpp>
#include <levada/run/any_pipeline.hpp>

namespace levada {

/// Counts up with every change of the content of a library: the record below, the virtual functions behind
/// any_pipeline, and the values they give, statistics among them.
inline constexpr std::uint32_t pipeline_library_version = 6;

/// The description of a library by itself. Its first member stays the first.
struct pipeline_library {
  struct type {
    const char* name;  ///< as typeid spells it: detail::type_name
    std::size_t bytes, alignment;
  };
  std::uint32_t version;
  const char* standard_library;  ///< whose optional, shared_ptr and exception_ptr go in and out
  type item, result;
  void (*make)(void* where);    ///< constructs the any_pipeline there; throws as the pipeline's deployment does
  std::atomic<log_sink*>* log;  ///< whom its lines go to
};

namespace detail {

/// Its containers are in statistics and reports: those of libstdc++'s debug mode are other ones.
#define LEVADA_TEXT_OF(...) #__VA_ARGS__
#define LEVADA_TEXT(...) LEVADA_TEXT_OF(__VA_ARGS__)
inline constexpr const char* standard_library_name =
#if defined(_LIBCPP_VERSION)
    "libc++ of std::" LEVADA_TEXT(_LIBCPP_ABI_NAMESPACE)
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
    "libstdc++"
#else
    "libstdc++ of before C++11"
#endif
#ifdef _GLIBCXX_DEBUG
        " in debug mode"
#endif
    ;
#undef LEVADA_TEXT
#undef LEVADA_TEXT_OF

template <class T>
pipeline_library::type library_type() {
  if constexpr (std::is_void_v<T>)
    return {type_name<T>(), 0, 0};
  else
    return {type_name<T>(), sizeof(T), alignof(T)};
}

template <class Signature>
struct library_of;
template <class Result, class In>
struct library_of<Result(In)> {
  static pipeline_library describe(void (*make)(void*)) {
    return {pipeline_library_version, standard_library_name, library_type<In>(), library_type<Result>(), make,
            &current_log_sink};
  }
};

template <class Signature, any_pipeline<Signature> (*Make)()>
const pipeline_library* library_that_makes() {
  static const pipeline_library library =
      library_of<Signature>::describe([](void* where) { ::new (where) any_pipeline<Signature>(Make()); });
  return &library;
}

template <class Function>
struct made_by;
template <class Signature>
struct made_by<any_pipeline<Signature>()> : std::type_identity<Signature> {};

}  // namespace detail
}  // namespace levada

/// Makes `make`, a function without arguments that returns an any_pipeline, what this shared library is loaded for.
#define LEVADA_EXPORT_PIPELINE(make)                                                                            \
  extern "C" [[gnu::visibility("default")]] const levada::pipeline_library* levada_pipeline();                  \
  const levada::pipeline_library* levada_pipeline() {                                                           \
    return levada::detail::library_that_makes<typename levada::detail::made_by<decltype(make)>::type, &make>(); \
  }                                                                                                             \
  static_assert(true)
