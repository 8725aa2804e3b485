// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/load_pipeline.hpp: a pipeline from a shared library, by dlopen. The library is never unloaded: a worker of oneTBB may
// be on its way out of the library's code when all else of it is gone, and exceptions that left it are destroyed by its code.

#include <cxxabi.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/core/log.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/pipeline_library.hpp>

namespace levada {
namespace detail {

[[noreturn]] inline void cannot_load(const std::string& path, const std::string& why) {
  throw error("levada: load_pipeline: " + path + ": " + why);
}

inline std::string words_of(const pipeline_library::type& type) {
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name, nullptr, nullptr, nullptr),
                                                    [](void* memory) { std::free(memory); });
  return std::string(name ? name.get() : type.name) + " (" + std::to_string(type.bytes) + " bytes, aligned to " +
         std::to_string(type.alignment) + ")";
}

inline void check_type(const std::string& path, const char* role, const pipeline_library::type& there,
                       const pipeline_library::type& here) {
  if (std::string(there.name) != here.name || there.bytes != here.bytes || there.alignment != here.alignment)
    cannot_load(path, std::string("its ") + role + " is " + words_of(there) + ", this program's is " + words_of(here));
}

/// dlopen gives what it loaded before under a path, though another file may stand there now.
inline void check_unchanged(const std::string& path) {
  struct seen {
    std::string path;
    struct stat file;
  };
  static std::mutex& mutex = *new std::mutex;
  static std::vector<seen>& all = *new std::vector<seen>;
  struct stat now;
  if (::stat(path.c_str(), &now) != 0) return;  // dlopen says so
  const std::lock_guard lock(mutex);
  for (const seen& s : all) {
    if (s.path != path) continue;
    if (s.file.st_dev != now.st_dev || s.file.st_ino != now.st_ino || s.file.st_mtim.tv_sec != now.st_mtim.tv_sec ||
        s.file.st_mtim.tv_nsec != now.st_mtim.tv_nsec)
      cannot_load(path, "the file has changed since it was loaded; a new version needs a new name");
    return;
  }
  all.push_back({path, now});
}

/// The library at `path`, with what it says of itself where that is what `here` says.
inline const pipeline_library& open_library(const std::string& path, const pipeline_library& here) {
  check_unchanged(path);
  // Closed again where it is none of ours: nothing of it has run then.
  std::unique_ptr<void, int (*)(void*)> handle(
      ::dlopen((path.find('/') == std::string::npos ? "./" + path : path).c_str(), RTLD_NOW | RTLD_LOCAL), ::dlclose);
  if (!handle) cannot_load(path, ::dlerror());
  void* const symbol = ::dlsym(handle.get(), "levada_pipeline");
  if (symbol == nullptr) cannot_load(path, "it holds no pipeline: no symbol levada_pipeline");
  const pipeline_library& there = *reinterpret_cast<const pipeline_library* (*)()>(symbol)();
  if (there.version != here.version)
    cannot_load(path, "it is a library of version " + std::to_string(there.version) + ", this program takes version " +
                          std::to_string(here.version));
  if (std::string(there.standard_library) != here.standard_library)
    cannot_load(path, std::string("it uses ") + there.standard_library + ", this program " + here.standard_library);
  check_type(path, "item", there.item, here.item);
  check_type(path, "result", there.result, here.result);
  static_cast<void>(handle.release());
  if (is_logged()) log(log_level::info, "load_pipeline: " + path + " is loaded");
  return there;
}

}  // namespace detail

/// A new deployment of the pipeline in the shared library at `path`. Throws levada::error where the library, its version or
/// its types are not those of this program, and what the deployment throws. Types are compared by name, size and alignment:
/// whoever changes the inside of one and keeps these breaks both sides. What a result refers to by virtual functions or
/// deleters of its own is code of the library, which stays.
template <class Signature>
any_pipeline<Signature> load_pipeline(const std::string& path) {
  const pipeline_library& library = detail::open_library(path, detail::library_of<Signature>::describe(nullptr));
  struct place {
    place(void (*make)(void*)) { make(&pipeline); }
    ~place() { std::destroy_at(&pipeline); }
    union {
      any_pipeline<Signature> pipeline;
    };
  } made(library.make);
  return std::move(made.pipeline);
}

}  // namespace levada
