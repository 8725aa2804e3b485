# SPDX-License-Identifier: Apache-2.0
# cpp-httplib as Debian compiles it, as httplib::httplib: its types depend on what it was compiled with.
find_path(httplib_INCLUDE_DIR httplib.h)
find_library(httplib_LIBRARY cpp-httplib)
find_package(OpenSSL QUIET)
mark_as_advanced(httplib_INCLUDE_DIR httplib_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(httplib REQUIRED_VARS httplib_LIBRARY httplib_INCLUDE_DIR OPENSSL_FOUND)

if(httplib_FOUND AND NOT TARGET httplib::httplib)
  add_library(httplib::httplib INTERFACE IMPORTED)
  target_include_directories(httplib::httplib INTERFACE ${httplib_INCLUDE_DIR})
  target_compile_definitions(httplib::httplib INTERFACE CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT
                                                        CPPHTTPLIB_BROTLI_SUPPORT)
  target_link_libraries(httplib::httplib INTERFACE ${httplib_LIBRARY} OpenSSL::SSL OpenSSL::Crypto)
endif()
