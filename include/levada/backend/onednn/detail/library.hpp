// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/onednn/detail/library.hpp: oneDNN's engine, for the calling thread alone.

#include <dlfcn.h>

#include <string>

#include <oneapi/dnnl/dnnl.hpp>

#include <levada/core/error.hpp>

namespace levada::detail {

/// The processor, for all kernels of the process.
inline const dnnl::engine& onednn_engine() {
  static const dnnl::engine processor(dnnl::engine::kind::cpu, 0);
  return processor;
}

/// While one exists, oneDNN works on this thread: levada's workers are as many as the target allows. A library built on
/// OpenMP asks it how many threads to take, when a primitive is made and when it runs.
class onednn_on_this_thread {
 public:
  onednn_on_this_thread() : threads_(calls().most != nullptr ? calls().most() : 1) {
    if (threads_ != 1) calls().set(1);
  }
  ~onednn_on_this_thread() {
    if (threads_ != 1) calls().set(threads_);
  }
  onednn_on_this_thread(const onednn_on_this_thread&) = delete;
  onednn_on_this_thread& operator=(const onednn_on_this_thread&) = delete;

 private:
  struct openmp {
    int (*most)() = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    void (*set)(int) = reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  };
  static const openmp& calls() {
    static const openmp found;
    return found;
  }
  int threads_;
};

/// What oneDNN refuses becomes an error of ours.
inline void require_onednn(dnnl_status_t status, const char* what) {
  if (status != dnnl_success)
    throw error("levada: oneDNN cannot " + std::string(what) + ": status " + std::to_string(static_cast<int>(status)));
}

}  // namespace levada::detail
