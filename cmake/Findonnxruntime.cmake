# SPDX-License-Identifier: Apache-2.0
# ONNX Runtime by its C interface, as the target onnxruntime::onnxruntime. ONNXRUNTIME_ROOT names a folder that has it;
# npm's onnxruntime-node (which lacks the header) is looked for in node_modules, there and here.
find_path(onnxruntime_INCLUDE_DIR onnxruntime_c_api.h HINTS $ENV{ONNXRUNTIME_ROOT}
          PATH_SUFFIXES include include/onnxruntime include/onnxruntime/core/session onnxruntime)
find_library(
  onnxruntime_LIBRARY NAMES onnxruntime libonnxruntime.so.1
  HINTS $ENV{ONNXRUNTIME_ROOT} ${PROJECT_SOURCE_DIR}
  PATH_SUFFIXES lib node_modules/onnxruntime-node/bin/napi-v6/linux/x64)
mark_as_advanced(onnxruntime_INCLUDE_DIR onnxruntime_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(onnxruntime REQUIRED_VARS onnxruntime_LIBRARY onnxruntime_INCLUDE_DIR)

if(onnxruntime_FOUND AND NOT TARGET onnxruntime::onnxruntime)
  add_library(onnxruntime::onnxruntime UNKNOWN IMPORTED)
  set_target_properties(
    onnxruntime::onnxruntime PROPERTIES IMPORTED_LOCATION ${onnxruntime_LIBRARY}
                                        INTERFACE_INCLUDE_DIRECTORIES ${onnxruntime_INCLUDE_DIR})
endif()
