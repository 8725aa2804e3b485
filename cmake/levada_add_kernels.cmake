# SPDX-License-Identifier: Apache-2.0
# levada_add_kernels(APP UNITS N [INCLUDE header...]): the kernels of the program or library APP, which are most of what
# its compiler does, in N units of their own. The units of APP have its plans and name the kernels that these chose; a
# step reads these names from the objects and writes the units that instantiate them. So the kernels are compiled side
# by side, and once: a change of APP that leaves its kernels compiles none again.
#
# Call it last, when APP has its sources and all that it links. Kernels whose types have lambdas or types of the program
# stay in APP's units. INCLUDE names headers with kernels beside <levada/levada.hpp> and <levada/ops.hpp>.
set(LEVADA_LIST_KERNELS "${CMAKE_CURRENT_LIST_DIR}/list_kernels.cmake")

function(levada_add_kernels app)
  cmake_parse_arguments(PARSE_ARGV 1 kernels "" "UNITS" "INCLUDE")
  if(NOT TARGET ${app} OR NOT kernels_UNITS MATCHES "^[1-9][0-9]*$" OR kernels_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "Write levada_add_kernels(APP UNITS N [INCLUDE header...]).")
  endif()
  # The sources become objects, from which the rest follows.
  get_target_property(sources ${app} SOURCES)
  get_target_property(libraries ${app} LINK_LIBRARIES)
  if(NOT libraries)
    set(libraries)
  endif()
  set(plan ${app}_plan)
  set(units ${app}_kernels)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${units}")
  set(includes levada/levada.hpp levada/ops.hpp ${kernels_INCLUDE})
  set(files)
  math(EXPR last "${kernels_UNITS} - 1")
  foreach(unit RANGE ${last})
    list(APPEND files "${folder}/kernels_${unit}.cpp")
  endforeach()
  add_library(${plan} OBJECT ${sources})
  target_compile_definitions(${plan} PRIVATE LEVADA_KERNELS_APART)
  add_custom_command(
    OUTPUT ${files}
    COMMAND ${CMAKE_COMMAND} "-DNM=${CMAKE_NM}" "-DOBJECTS=$<TARGET_OBJECTS:${plan}>" "-DUNITS=${kernels_UNITS}"
            "-DFOLDER=${folder}" "-DINCLUDE=${includes}" -P
            "${LEVADA_LIST_KERNELS}"
    DEPENDS "$<TARGET_OBJECTS:${plan}>" "${LEVADA_LIST_KERNELS}"
    COMMENT "Listing the kernels of ${app}"
    VERBATIM)
  add_library(${units} OBJECT ${files})
  add_dependencies(${units} ${plan})
  foreach(part IN ITEMS ${plan} ${units})
    target_link_libraries(${part} PRIVATE ${libraries})
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
  endforeach()
  set_property(TARGET ${app} PROPERTY SOURCES "$<TARGET_OBJECTS:${plan}>" "$<TARGET_OBJECTS:${units}>")
  set_property(TARGET ${app} PROPERTY LINKER_LANGUAGE CXX)
endfunction()
