# SPDX-License-Identifier: Apache-2.0
# levada_add_kernels(APP UNITS N [ISA set...] [INCLUDE header...]): the kernels of the program or library APP, which are
# most of what its compiler does, in N units of their own. The units of APP have its plans and name the kernels that
# these chose; a step reads these names from the objects and writes the units that instantiate them. So the kernels are
# compiled side by side, and once: a change of APP that leaves its kernels compiles none again.
#
# ISA: the units are compiled once for each of these sets of x86-64, sse4.2, avx2, avx512, avx512vnni, avx512bf16, amx.
# The units of APP keep its own flags. The program takes the most that its processor has, when it deploys. All units of
# one set become one object, which exports its tables of kernels and nothing else: what is inline in both is never taken
# from there.
#
# Call it last, when APP has its sources and all that it links. Kernels whose types have lambdas or types of the program
# stay in APP's units. INCLUDE names headers with kernels beside <levada/levada.hpp> and <levada/ops.hpp>.
set(LEVADA_LIST_KERNELS "${CMAKE_CURRENT_LIST_DIR}/list_kernels.cmake")
set(LEVADA_JOIN_KERNELS "${CMAKE_CURRENT_LIST_DIR}/join_kernels.cmake")

# From the least to the most, as a program chooses among them. The flags are those that it asks its processor for.
set(LEVADA_ISA sse4.2 avx2 avx512 avx512vnni avx512bf16 amx)
set(LEVADA_ISA_sse4.2 -msse4.2 -mpopcnt)
set(LEVADA_ISA_avx2 -mavx2 -mfma)
set(LEVADA_ISA_avx512 ${LEVADA_ISA_avx2} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl)
set(LEVADA_ISA_avx512vnni ${LEVADA_ISA_avx512} -mavx512vnni)
set(LEVADA_ISA_avx512bf16 ${LEVADA_ISA_avx512vnni} -mavx512bf16)
set(LEVADA_ISA_amx ${LEVADA_ISA_avx512bf16} -mamx-tile -mamx-int8 -mamx-bf16)

# PART is compiled as APP is.
function(levada_compile_as app part)
  get_target_property(libraries ${app} LINK_LIBRARIES)
  if(libraries)
    target_link_libraries(${part} PRIVATE ${libraries})
  endif()
  foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS COMPILE_FEATURES INCLUDE_DIRECTORIES)
    get_target_property(given ${app} ${property})
    if(given)
      set_property(TARGET ${part} APPEND PROPERTY ${property} ${given})
    endif()
  endforeach()
  foreach(property IN ITEMS POSITION_INDEPENDENT_CODE CXX_STANDARD CXX_VISIBILITY_PRESET)
    get_target_property(given ${app} ${property})
    if(NOT given STREQUAL "given-NOTFOUND")
      set_property(TARGET ${part} PROPERTY ${property} ${given})
    endif()
  endforeach()
endfunction()

# The tables of UNITS, compiled for each of `kernels_ISA` and joined: sets `objects` of the caller.
function(levada_add_sets app folder files)
  find_program(LEVADA_GNU_LD NAMES ld.bfd ld REQUIRED)
  set(objects)
  foreach(isa IN LISTS kernels_ISA)
    string(MAKE_C_IDENTIFIER ${isa} set)
    set(part ${app}_kernels_${set})
    string(MAKE_C_IDENTIFIER levada_kernels_${app}_${isa} table)
    add_library(${part} OBJECT EXCLUDE_FROM_ALL ${files})
    add_dependencies(${part} ${app}_plan)
    levada_compile_as(${app} ${part})
    target_compile_definitions(${part} PRIVATE LEVADA_INSTRUCTION_SET=levada::isa::${set} LEVADA_TABLE=${table})
    # Its own flags are behind the program's. What is joined here is no more to be optimised by a linker.
    target_compile_options(${part} PRIVATE -march=x86-64 ${LEVADA_ISA_${isa}} -fno-lto)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # names that are one in a process cannot become the object's own
      target_compile_options(${part} PRIVATE -fno-gnu-unique)
    endif()
    set(object "${folder}/${set}.o")
    add_custom_command(
      OUTPUT "${object}"
      COMMAND ${CMAKE_COMMAND} "-DLINKER=${LEVADA_GNU_LD}" "-DOBJCOPY=${CMAKE_OBJCOPY}" "-DOBJDUMP=${CMAKE_OBJDUMP}"
              "-DOBJECTS=$<TARGET_OBJECTS:${part}>" "-DTABLE=${table}" "-DOUTPUT=${object}" -P "${LEVADA_JOIN_KERNELS}"
      DEPENDS "$<TARGET_OBJECTS:${part}>" "${LEVADA_JOIN_KERNELS}"
      COMMENT "Joining the kernels of ${app} for ${isa}"
      VERBATIM)
    list(APPEND objects "${object}")
  endforeach()
  set(objects ${objects} PARENT_SCOPE)
endfunction()

function(levada_add_kernels app)
  cmake_parse_arguments(PARSE_ARGV 1 kernels "" "UNITS" "ISA;INCLUDE")
  if(NOT TARGET ${app} OR NOT kernels_UNITS MATCHES "^[1-9][0-9]*$" OR kernels_UNPARSED_ARGUMENTS
     OR kernels_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "Write levada_add_kernels(APP UNITS N [ISA set...] [INCLUDE header...]).")
  endif()
  set(tags)
  set(tables)
  foreach(isa IN LISTS LEVADA_ISA)
    if(isa IN_LIST kernels_ISA)
      string(MAKE_C_IDENTIFIER ${isa} tag)
      list(APPEND tags levada::isa::${tag})
      string(MAKE_C_IDENTIFIER levada_kernels_${app}_${isa} table)
      list(APPEND tables ${table})
    endif()
  endforeach()
  list(JOIN tags "," tags)
  foreach(isa IN LISTS kernels_ISA)
    if(NOT isa IN_LIST LEVADA_ISA)
      message(FATAL_ERROR "levada_add_kernels(${app} ISA ${isa}): known are ${LEVADA_ISA}.")
    endif()
  endforeach()
  if(kernels_ISA AND NOT (CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_SYSTEM_NAME STREQUAL "Linux"))
    message(FATAL_ERROR "levada_add_kernels(${app} ISA ...) is for Linux on x86-64.")
  endif()

  # The sources become objects, from which the rest follows.
  get_target_property(sources ${app} SOURCES)
  set(plan ${app}_plan)
  set(units ${app}_kernels)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${units}")
  set(includes levada/levada.hpp levada/ops.hpp ${kernels_INCLUDE})
  if(kernels_ISA) # nothing that runs before main, as the run time has it
    list(REMOVE_ITEM includes levada/levada.hpp)
  endif()
  set(files)
  math(EXPR last "${kernels_UNITS} - 1")
  foreach(unit RANGE ${last})
    list(APPEND files "${folder}/kernels_${unit}.cpp")
  endforeach()
  set(choose)
  if(kernels_ISA)
    set(choose "${folder}/choose.cpp")
  endif()
  add_library(${plan} OBJECT EXCLUDE_FROM_ALL ${sources})
  levada_compile_as(${app} ${plan})
  add_custom_command(
    OUTPUT ${files} ${choose}
    COMMAND ${CMAKE_COMMAND} "-DNM=${CMAKE_NM}" "-DOBJECTS=$<TARGET_OBJECTS:${plan}>" "-DUNITS=${kernels_UNITS}"
            "-DFOLDER=${folder}" "-DINCLUDE=${includes}" "-DTABLES=${tables}" -P "${LEVADA_LIST_KERNELS}"
    DEPENDS "$<TARGET_OBJECTS:${plan}>" "${LEVADA_LIST_KERNELS}"
    COMMENT "Listing the kernels of ${app}"
    VERBATIM)
  set(objects)
  if(kernels_ISA)
    levada_add_sets(${app} "${folder}" "${files}")
    add_library(${units} OBJECT EXCLUDE_FROM_ALL ${choose})
    foreach(part IN ITEMS ${plan} ${units})
      target_compile_definitions(${part} PRIVATE "LEVADA_INSTRUCTION_SETS=${tags}")
    endforeach()
  else()
    target_compile_definitions(${plan} PRIVATE LEVADA_KERNELS_APART)
    add_library(${units} OBJECT EXCLUDE_FROM_ALL ${files})
  endif()
  levada_compile_as(${app} ${units})
  add_dependencies(${units} ${plan})
  set_property(TARGET ${app} PROPERTY SOURCES "$<TARGET_OBJECTS:${plan}>" "$<TARGET_OBJECTS:${units}>" ${objects})
  set_property(TARGET ${app} PROPERTY LINKER_LANGUAGE CXX)
endfunction()
