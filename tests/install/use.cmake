# SPDX-License-Identifier: Apache-2.0
# Builds the outside project of this folder against levada by WAY, from nothing, and runs it.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(project ${CMAKE_CURRENT_LIST_DIR}/project)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
if(NOT WAY STREQUAL "add_subdirectory")
  run(${CMAKE_COMMAND} --install ${LEVADA_BINARY} --prefix ${WORK}/prefix)
endif()

if(WAY STREQUAL "pkg_config")
  set(ENV{PKG_CONFIG_PATH} ${WORK}/prefix/share/pkgconfig)
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs levada OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
                          COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  # The smallest program of the README, from what was installed alone. Without optimisation it runs for longer than it
  # takes to compile.
  execute_process(COMMAND ${PKG_CONFIG} --variable=pkgdatadir levada
                  OUTPUT_VARIABLE data OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  run(${CXX} -std=c++20 -O1 "-DLEVADA_SOURCE_DIR=\"${data}\"" ${data}/examples/minimal/main.cpp ${flags}
      -o ${WORK}/minimal)
  run(${WORK}/minimal)
else()
  if(WAY STREQUAL "find_package")
    set(where -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  else()
    set(where -DLEVADA_SOURCE=${LEVADA_SOURCE})
  endif()
  file(COPY ${project} DESTINATION ${WORK})
  run(${CMAKE_COMMAND} -S ${WORK}/project -B ${WORK}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX} ${where})
  if(WAY STREQUAL "add_subdirectory") # its pipelines are compiled as those of tests/pipeline_library
    run(${CMAKE_COMMAND} --build ${WORK}/build --target outside)
    run(${WORK}/build/outside)
    return()
  endif()
  run(${CMAKE_COMMAND} --build ${WORK}/build)
  run(${WORK}/build/outside)

  # consumed(SUM): what the consumer says of 7, twice and thrice.
  function(consumed sum)
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --target consume OUTPUT_VARIABLE output
                            COMMAND_ERROR_IS_FATAL ANY)
    if(NOT output MATCHES "(^|\n)${sum}\n")
      message(FATAL_ERROR "The consumer does not say ${sum}, but:\n${output}")
    endif()
  endfunction()
  # compiled(OUT): when which object was compiled.
  function(compiled out)
    file(GLOB_RECURSE objects ${WORK}/build/*.o)
    set(times)
    foreach(object IN LISTS objects)
      file(TIMESTAMP ${object} time "%s.%f")
      list(APPEND times "${object} ${time}")
    endforeach()
    set(${out} "${times}" PARENT_SCOPE)
  endfunction()

  consumed(35)
  compiled(before)
  file(READ ${WORK}/project/twice.cpp text)
  string(REPLACE "factor = 2" "factor = 20" text "${text}")
  file(WRITE ${WORK}/project/twice.cpp "${text}")
  run(${CMAKE_COMMAND} --build ${WORK}/build)
  consumed(161)
  compiled(after)
  list(REMOVE_ITEM after ${before})
  if(NOT after MATCHES "^[^;]*/twice[.]cpp[.]o [^;]*$")
    message(FATAL_ERROR "An edited stage has to compile its own unit alone, but compiled: ${after}")
  endif()
endif()
