# SPDX-License-Identifier: Apache-2.0
# ncnn, with the threads that a static library of it needs, as ncnn::ncnn. NCNN_ROOT names the folder that it is in.
find_path(ncnn_INCLUDE_DIR ncnn/net.h HINTS $ENV{NCNN_ROOT} PATH_SUFFIXES include)
find_library(ncnn_LIBRARY ncnn HINTS $ENV{NCNN_ROOT} PATH_SUFFIXES lib)
mark_as_advanced(ncnn_INCLUDE_DIR ncnn_LIBRARY)
find_package(OpenMP QUIET COMPONENTS CXX)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ncnn REQUIRED_VARS ncnn_LIBRARY ncnn_INCLUDE_DIR OpenMP_CXX_FOUND)

if(ncnn_FOUND AND NOT TARGET ncnn::ncnn)
  add_library(ncnn::ncnn UNKNOWN IMPORTED)
  set_target_properties(
    ncnn::ncnn PROPERTIES IMPORTED_LOCATION ${ncnn_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ncnn_INCLUDE_DIR}
                          INTERFACE_LINK_LIBRARIES OpenMP::OpenMP_CXX)
endif()
