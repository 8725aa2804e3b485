// SPDX-License-Identifier: Apache-2.0
// A library as a later levada might build it: nothing behind the version is what it is today.

#include <levada/interop/pipeline_library.hpp>

extern "C" [[gnu::visibility("default")]] const levada::pipeline_library* levada_pipeline();
const levada::pipeline_library* levada_pipeline() {
  static const levada::pipeline_library later = {
      levada::pipeline_library_version + 1, nullptr, {}, {}, nullptr, nullptr};
  return &later;
}
