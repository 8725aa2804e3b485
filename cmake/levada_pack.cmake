# SPDX-License-Identifier: Apache-2.0
# levada_pack(PROGRAM FILE file [ARGUMENTS argument...] [DEPENDS file...]): the file of packed weights of PROGRAM. The
# target PROGRAM_packed makes it when PROGRAM or one of the files has changed, with `all` if PROGRAM is a part of that.
# PROGRAM is run with the arguments and the file behind them: it deploys from levada::packed_weights(weights, file) and
# calls save().
#
#   add_executable(classify main.cpp)
#   levada_pack(classify FILE ${CMAKE_CURRENT_BINARY_DIR}/classify.packed ARGUMENTS --pack)
#
# DEPENDS: the weights, where they are a file. A program for another machine is run by CMAKE_CROSSCOMPILING_EMULATOR.
function(levada_pack program)
  cmake_parse_arguments(PARSE_ARGV 1 pack "" "FILE" "ARGUMENTS;DEPENDS")
  if(NOT TARGET ${program} OR NOT pack_FILE OR pack_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "Write levada_pack(PROGRAM FILE file [ARGUMENTS argument...] [DEPENDS file...]).")
  endif()
  cmake_path(ABSOLUTE_PATH pack_FILE BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  add_custom_command(
    OUTPUT "${pack_FILE}"
    COMMAND ${program} ${pack_ARGUMENTS} "${pack_FILE}"
    COMMAND ${CMAKE_COMMAND} -E touch_nocreate "${pack_FILE}"
    DEPENDS ${program} ${pack_DEPENDS}
    COMMENT "Packing the weights of ${program}"
    VERBATIM)
  add_custom_target(${program}_packed DEPENDS "${pack_FILE}")
  get_target_property(later ${program} EXCLUDE_FROM_ALL)
  set_property(TARGET ${program}_packed PROPERTY EXCLUDE_FROM_ALL "${later}")
endfunction()
