# SPDX-License-Identifier: Apache-2.0
# How levada's own tests, examples and benchmarks are compiled; users of levada::levada see nothing of it.
set(LEVADA_SANITIZE "" CACHE STRING "Build the tests for a sanitizer: address (with undefined and leak) or thread")
set_property(CACHE LEVADA_SANITIZE PROPERTY STRINGS "" address thread)

# What each tier has beside the one before is in CONTRIBUTING.md.
set(LEVADA_TIER test CACHE STRING
    "Which tests there are: test, all (more programs) or nightly (more shapes and cases, optimised)")
set_property(CACHE LEVADA_TIER PROPERTY STRINGS test all nightly)
if(NOT LEVADA_TIER MATCHES "^(test|all|nightly)$")
  message(FATAL_ERROR "LEVADA_TIER is \"${LEVADA_TIER}\"; known are test, all and nightly.")
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

add_library(levada_development INTERFACE)
target_compile_options(levada_development INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
# g++ 12 warns of its own std::string: "text" + string overlaps by 9223372036854775807 bytes (GCC bug 105329).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(levada_development INTERFACE -Wno-restrict)
endif()
# Memory for each core.
cmake_host_system_information(RESULT megabytes QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR levada_megabytes_each "${megabytes} / ${cores}")
# g++ collects its garbage when its heap has grown by a third; later collections save a fifth of its time for a fifth
# more memory. The largest units take 2.1 GB where the first collection is at 1.2, and 1.8 where it is at 0.6.
set(levada_gnu_memory)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(first_collection 600000)
  if(levada_megabytes_each GREATER_EQUAL 3000)
    set(first_collection 1200000)
  endif()
  set(levada_gnu_memory "--param ggc-min-heapsize=${first_collection}" "--param ggc-min-expand=60")
  list(TRANSFORM levada_gnu_memory PREPEND "SHELL:" OUTPUT_VARIABLE options)
  target_compile_options(levada_development INTERFACE ${options})
  # std::move and std::forward are casts without optimisation, too: 1 function of 20 of a unit of tests.
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    target_compile_options(levada_development INTERFACE -ffold-simple-inlines)
  endif()
endif()
# Files of the repository that programs open: weights beside an example, cases beside a test.
target_compile_definitions(levada_development INTERFACE LEVADA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

if(LEVADA_SANITIZE STREQUAL "address")
  set(sanitizer -fsanitize=address,undefined -fno-sanitize-recover=all)
  # Of each access to a member: a sixth of a compiler's time. The processor stops at a null pointer, and the address
  # sanitizer says where.
  if(NOT LEVADA_TIER STREQUAL "nightly")
    list(APPEND sanitizer -fno-sanitize=null,alignment,vptr)
  endif()
elseif(LEVADA_SANITIZE STREQUAL "thread")
  set(sanitizer -fsanitize=thread)
elseif(LEVADA_SANITIZE)
  message(FATAL_ERROR "LEVADA_SANITIZE is \"${LEVADA_SANITIZE}\"; known are address and thread.")
endif()
if(LEVADA_SANITIZE)
  target_compile_options(levada_development INTERFACE ${sanitizer} -fno-omit-frame-pointer)
  target_link_options(levada_development INTERFACE ${sanitizer})
endif()
