# SPDX-License-Identifier: Apache-2.0
# XNNPACK as xnnpack::xnnpack, with the pool of threads that its header includes.
find_path(xnnpack_INCLUDE_DIR xnnpack.h)
find_path(xnnpack_POOL_INCLUDE_DIR pthreadpool.h)
find_library(xnnpack_LIBRARY XNNPACK)
find_library(xnnpack_POOL_LIBRARY pthreadpool)
mark_as_advanced(xnnpack_INCLUDE_DIR xnnpack_POOL_INCLUDE_DIR xnnpack_LIBRARY xnnpack_POOL_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(xnnpack REQUIRED_VARS xnnpack_LIBRARY xnnpack_POOL_LIBRARY xnnpack_INCLUDE_DIR
                                                        xnnpack_POOL_INCLUDE_DIR)

if(xnnpack_FOUND AND NOT TARGET xnnpack::xnnpack)
  add_library(xnnpack::xnnpack INTERFACE IMPORTED)
  target_include_directories(xnnpack::xnnpack INTERFACE ${xnnpack_INCLUDE_DIR} ${xnnpack_POOL_INCLUDE_DIR})
  target_link_libraries(xnnpack::xnnpack INTERFACE ${xnnpack_LIBRARY} ${xnnpack_POOL_LIBRARY})
endif()
