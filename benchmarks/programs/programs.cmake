# SPDX-License-Identifier: Apache-2.0
# The programs of bench_programs: one for each network on levada, with its weights inside, which is run with the file
# of its packed weights and without, and one on ONNX Runtime that reads the ONNX file. Networks are those of
# models/models.cmake, which is read before this.
if(NOT TARGET onnx_to_levada)
  return()
endif()
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/programs/each)
set(levada_program_lines)

set(levada_peer)
levada_collect_parts(${folder}/onnxruntime.cpp)
if(part_missing)
  message(STATUS "bench_programs runs without onnxruntime: ${part_missing}")
else()
  set(levada_peer program_onnxruntime)
  add_executable(${levada_peer} EXCLUDE_FROM_ALL ${folder}/onnxruntime.cpp)
  target_link_libraries(${levada_peer} PRIVATE levada::levada levada_development ${part_targets})
  target_compile_definitions(${levada_peer} PRIVATE ${part_definitions})
  target_link_options(${levada_peer} PRIVATE -s)
  add_dependencies(bench_programs ${levada_peer})
endif()

foreach(network blazeface_front mobilenet_v2 resnet18)
  if(NOT TARGET bench_network_${network})
    continue()
  endif()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/models/${network}.onnx)
  levada_add_onnx(program_network_${network} MODEL ${file} WEIGHTS EMBED)
  add_executable(program_${network} EXCLUDE_FROM_ALL ${folder}/levada.cpp)
  target_link_libraries(program_${network} PRIVATE program_network_${network} levada_development)
  target_compile_definitions(program_${network} PRIVATE LEVADA_NETWORK=program_network_${network}
                                                        LEVADA_NETWORK_HEADER=<program_network_${network}.onnx.hpp>)
  target_link_options(program_${network} PRIVATE -s)
  set(packed ${CMAKE_CURRENT_BINARY_DIR}/programs/${network}.packed)
  levada_pack(program_${network} FILE ${packed} ARGUMENTS pack)
  add_dependencies(bench_programs program_${network}_packed)
  set(program "$<TARGET_FILE:program_${network}>")
  string(APPEND levada_program_lines "add(\"levada_unpacked\", \"${network}\", {\"${program}\"});\n"
         "add(\"levada\", \"${network}\", {\"${program}\", \"${packed}\"});\n")
  if(levada_peer)
    string(APPEND levada_program_lines
           "add(\"onnxruntime\", \"${network}\", {\"$<TARGET_FILE:${levada_peer}>\", \"${file}\"});\n")
  endif()
endforeach()
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/programs/programs.inc CONTENT "${levada_program_lines}")
target_include_directories(bench_programs PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/programs)
