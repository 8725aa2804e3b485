# SPDX-License-Identifier: Apache-2.0
# Builds the project of network/ against an installed levada, and lets its committed header become stale.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(project ${WORK}/network)
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${LEVADA_BINARY} --prefix ${WORK}/prefix)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/network DESTINATION ${WORK})
run(${PYTHON} ${LEVADA_SOURCE}/tests/onnx_models/small.py ${project}/small.onnx)
run(${TOOL} ${project}/small.onnx --name within --dims batch=1 --embed -o ${project}/committed)
run(${CMAKE_COMMAND} -S ${project} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DLEVADA_ONNX_TOOL=${TOOL})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/network)
if(NOT EXISTS ${WORK}/build/network.packed)
  message(FATAL_ERROR "levada_pack made no file.")
endif()

# As a part of another project, from a folder of its own and without a tool that is there already. In the first tier the
# rules are looked at; the others build the tool by them.
foreach(way IN ITEMS find_package add_subdirectory)
  set(outer ${WORK}/${way})
  file(WRITE ${outer}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(outer LANGUAGES CXX)\n"
                                     "add_subdirectory(levada)\nadd_subdirectory(use)\n")
  file(WRITE ${outer}/use/CMakeLists.txt "levada_add_onnx(small MODEL ${project}/small.onnx DIMS batch=1)\n")
  if(way STREQUAL "find_package")
    file(WRITE ${outer}/levada/CMakeLists.txt "find_package(levada REQUIRED GLOBAL)\n")
  else()
    file(WRITE ${outer}/levada/CMakeLists.txt "add_subdirectory(${LEVADA_SOURCE} levada EXCLUDE_FROM_ALL)\n")
  endif()
  run(${CMAKE_COMMAND} -S ${outer} -B ${outer}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
      -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  if(TIER STREQUAL "test" OR way STREQUAL "add_subdirectory")
    run(${CMAKE_COMMAND} --build ${outer}/build --target small_onnx -- -n)
  else()
    run(${CMAKE_COMMAND} --build ${outer}/build --target small_onnx --parallel)
  endif()
endforeach()

# Another model under the same name: the copy is stale.
run(${PYTHON} ${LEVADA_SOURCE}/tests/onnx_models/small.py ${project}/small.onnx 5)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build RESULT_VARIABLE failed OUTPUT_VARIABLE said
                ERROR_VARIABLE said)
if(failed EQUAL 0 OR NOT said MATCHES "convert again and commit")
  message(FATAL_ERROR "A stale header has to fail the build, which says:\n${said}")
endif()
# Without the model the copy is used as it is.
file(REMOVE ${project}/small.onnx)
file(WRITE ${project}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(network LANGUAGES CXX)\n"
                                     "find_package(levada REQUIRED)\n"
                                     "levada_add_onnx(within MODEL small.onnx HEADER committed/within.onnx.hpp)\n"
                                     "add_executable(network copy.cpp)\n"
                                     "target_link_libraries(network PRIVATE within)\n")
file(WRITE ${project}/copy.cpp "#include <within.onnx.hpp>\nint main() { return within::structure.empty(); }\n")
run(${CMAKE_COMMAND} -S ${project} -B ${WORK}/copy -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DLEVADA_ONNX_TOOL=${TOOL})
run(${CMAKE_COMMAND} --build ${WORK}/copy)
run(${WORK}/copy/network)
