# SPDX-License-Identifier: Apache-2.0
# libyuv as libyuv::libyuv. Debian's has no package file of its own.
find_path(libyuv_INCLUDE_DIR libyuv.h)
find_library(libyuv_LIBRARY yuv)
mark_as_advanced(libyuv_INCLUDE_DIR libyuv_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libyuv REQUIRED_VARS libyuv_LIBRARY libyuv_INCLUDE_DIR)

if(libyuv_FOUND AND NOT TARGET libyuv::libyuv)
  add_library(libyuv::libyuv UNKNOWN IMPORTED)
  set_target_properties(libyuv::libyuv PROPERTIES IMPORTED_LOCATION ${libyuv_LIBRARY}
                                                  INTERFACE_INCLUDE_DIRECTORIES ${libyuv_INCLUDE_DIR})
endif()
