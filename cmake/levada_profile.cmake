# SPDX-License-Identifier: Apache-2.0
# levada_profile(PROGRAM HEADER FILE): the target profile_<PROGRAM>, which runs the program with FILE as its argument.
# The program calls levada::profile<...>(pipeline, samples, argv[1]); whoever includes FILE deploys with what was
# measured:
#
#   add_executable(measure measure.cpp)
#   levada_profile(measure HEADER ${CMAKE_CURRENT_SOURCE_DIR}/box.costs.hpp)     # cmake --build build --target
#   profile_measure
#
# It is run by nobody else, since costs are measured on a quiet machine and kept with the sources.
function(levada_profile program)
  cmake_parse_arguments(PARSE_ARGV 1 profile "" "HEADER" "")
  if(NOT TARGET ${program} OR NOT profile_HEADER OR profile_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "Write levada_profile(PROGRAM HEADER FILE).")
  endif()
  cmake_path(ABSOLUTE_PATH profile_HEADER)
  add_custom_target(profile_${program} COMMAND ${program} ${profile_HEADER} DEPENDS ${program} USES_TERMINAL VERBATIM)
endfunction()
