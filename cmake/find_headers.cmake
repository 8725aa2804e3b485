# SPDX-License-Identifier: Apache-2.0
# levada_find_headers(NAME HEADER): a library of headers only, as the target NAME::NAME, for a find module. <NAME>_ROOT
# names the folder that has HEADER.
include(FindPackageHandleStandardArgs)
macro(levada_find_headers name header)
  string(TOUPPER ${name} levada_root)
  find_path(${name}_INCLUDE_DIR ${header} HINTS $ENV{${levada_root}_ROOT})
  mark_as_advanced(${name}_INCLUDE_DIR)
  find_package_handle_standard_args(${name} REQUIRED_VARS ${name}_INCLUDE_DIR)
  if(${name}_FOUND AND NOT TARGET ${name}::${name})
    add_library(${name}::${name} INTERFACE IMPORTED)
    set_target_properties(${name}::${name} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${${name}_INCLUDE_DIR}
                                                      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${${name}_INCLUDE_DIR})
  endif()
endmacro()
