// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/pipeline_library.hpp: a pipeline as a shared library of one C symbol, which says what it is and how to make
// it. The unit that defines the pipeline names it in LEVADA_EXPORT_PIPELINE. The CMake function levada_add_pipeline
// builds the library, and `load_pipeline` loads it, by dlopen.
//
// A loaded library stays. A worker of oneTBB may be on its way out of the library's code when all else of it is gone,
// and its code destroys the exceptions that left it.

#include <dlfcn.h>
#include <sys/stat.h>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/core/detail/log.hpp>
#include <levada/core/detail/type_words.hpp>
#include <levada/core/error.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/detail/deploy/library_file.hpp>

namespace levada {

/// Counts up with every change of the content of a library: the record below, the virtual functions behind
/// any_pipeline, and the values they give, statistics among them.
inline constexpr std::uint32_t pipeline_library_version = 7;

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

namespace levada {
namespace detail {

[[noreturn]] inline void cannot_load(const std::string& path, const std::string& why) {
  throw error("levada: load_pipeline: " + path + ": " + why);
}

inline std::string words_of(const pipeline_library::type& type) {
  return type_words(type.name) + " (" + std::to_string(type.bytes) + " bytes, aligned to " +
         std::to_string(type.alignment) + ")";
}

inline void check_type(const std::string& path, const char* role, const pipeline_library::type& there,
                       const pipeline_library::type& here) {
  if (std::string(there.name) != here.name || there.bytes != here.bytes || there.alignment != here.alignment)
    cannot_load(path, std::string("its ") + role + " is " + words_of(there) + ", this program's is " + words_of(here));
}

/// Whether another file stands at `path` than the one that is loaded under it, which dlopen would give. What could not
/// be loaded, or was closed again, may be replaced.
inline bool is_replaced(const std::string& path) {
  static std::mutex& mutex = *new std::mutex;
  static std::map<std::string, struct stat>& seen = *new std::map<std::string, struct stat>;
  struct stat now;
  if (::stat(path.c_str(), &now) != 0) return false;  // dlopen says so
  const std::lock_guard lock(mutex);
  struct stat& then = seen.try_emplace(path, now).first->second;
  const bool is_other = then.st_dev != now.st_dev || then.st_ino != now.st_ino ||
                        then.st_mtim.tv_sec != now.st_mtim.tv_sec || then.st_mtim.tv_nsec != now.st_mtim.tv_nsec;
  if (is_other) {
    if (void* const loaded = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) return ::dlclose(loaded), true;
    then = now;
  }
  return false;
}

/// The log of libraries: that of this program at the moment.
struct log_of_libraries final : log_sink {
  void write(log_level level, std::string_view line) noexcept override { log(level, line); }
};
inline log_of_libraries libraries_log;

/// A library has a log of its own, since its symbols are hidden, and nobody who could have set it.
inline void hand_log_to(const pipeline_library& library) {
  log_sink* none = nullptr;
  if (library.log != &current_log_sink) library.log->compare_exchange_strong(none, &libraries_log);
}

/// The library at `path`, with what it says of itself where that is what `here` says.
inline const pipeline_library& open_library(const std::string& path, const pipeline_library& here) {
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  if (is_replaced(file)) cannot_load(path, "the file has changed since it was loaded; a new version needs a new name");
  check_library_file(file, [&](const std::string& why) { cannot_load(path, why); });
  // Closed again where it is none of ours: nothing of it has run then.
  std::unique_ptr<void, int (*)(void*)> handle(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL), ::dlclose);
  if (!handle) cannot_load(path, ::dlerror());
  void* const symbol = ::dlsym(handle.get(), "levada_pipeline");
  if (symbol == nullptr) cannot_load(path, "it holds no pipeline: no symbol levada_pipeline");
  const pipeline_library* const found = reinterpret_cast<const pipeline_library* (*)()>(symbol)();
  if (found == nullptr) cannot_load(path, "it holds no pipeline: levada_pipeline gives null");
  const pipeline_library& there = *found;
  if (there.version != here.version)
    cannot_load(path, "it is a library of version " + std::to_string(there.version) + ", this program takes version " +
                          std::to_string(here.version));
  if (there.standard_library == nullptr || there.item.name == nullptr || there.result.name == nullptr ||
      there.make == nullptr || there.log == nullptr)
    cannot_load(path, "what it says of itself is null in part");
  if (std::string(there.standard_library) != here.standard_library)
    cannot_load(path, std::string("it uses ") + there.standard_library + ", this program " + here.standard_library);
  check_type(path, "item", there.item, here.item);
  check_type(path, "result", there.result, here.result);
  static_cast<void>(handle.release());
  hand_log_to(there);
  if (is_logged()) log(log_level::info, "load_pipeline: " + path + " is loaded");
  return there;
}

}  // namespace detail

/// A new deployment of the pipeline in the shared library at `path`. Throws levada::error where the library is not
/// whole, its version or its types are not those of this program, or its pipeline is null, and what the deployment
/// throws.
///
/// Types are compared by name, size and alignment: whoever changes the inside of one and keeps these breaks both sides.
/// What a result refers to by virtual functions or deleters of its own is code of the library, which stays. The log of
/// the library goes to the program's sink, unless the library set one itself.
template <class Signature>
any_pipeline<Signature> load_pipeline(const std::string& path) {
  const pipeline_library& library = detail::open_library(path, detail::library_of<Signature>::describe(nullptr));
  struct holder {
    holder(void (*make)(void*)) { make(&pipeline); }
    ~holder() { std::destroy_at(&pipeline); }
    union {
      any_pipeline<Signature> pipeline;
    };
  } made(library.make);
  if (!made.pipeline) detail::cannot_load(path, "the pipeline that it makes is null");
  return std::move(made.pipeline);
}

}  // namespace levada
