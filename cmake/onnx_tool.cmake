# SPDX-License-Identifier: Apache-2.0
# onnx_to_levada as a part of levada's own build, for its tests and examples; elsewhere levada_add_onnx builds it.
find_path(PROTOZERO_INCLUDE protozero/pbf_reader.hpp)
find_path(CLI11_INCLUDE CLI/CLI.hpp)
if(NOT PROTOZERO_INCLUDE OR NOT CLI11_INCLUDE)
  levada_left_out("onnx_to_levada, its tests and examples" "libprotozero-dev libcli11-dev")
elseif(NOT CMAKE_CROSSCOMPILING AND NOT LEVADA_SANITIZE STREQUAL "thread")
  add_subdirectory(${PROJECT_SOURCE_DIR}/tools/onnx_to_levada ${PROJECT_BINARY_DIR}/onnx_to_levada EXCLUDE_FROM_ALL)
  target_link_libraries(onnx_to_levada_parts PRIVATE levada_development)
  target_link_libraries(onnx_to_levada PRIVATE levada_development)
  # It runs for milliseconds and takes a minute to optimise.
  target_compile_options(onnx_to_levada_parts PRIVATE -O0)
  target_compile_options(onnx_to_levada PRIVATE -O0)
endif()
