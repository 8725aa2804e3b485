# SPDX-License-Identifier: Apache-2.0
# The client of NATS in C as nats::nats, with the OpenSSL that it has.
find_package(OpenSSL QUIET)
find_path(nats_INCLUDE_DIR nats/nats.h)
find_library(nats_LIBRARY nats)
mark_as_advanced(nats_INCLUDE_DIR nats_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(nats REQUIRED_VARS nats_LIBRARY nats_INCLUDE_DIR OPENSSL_FOUND)

if(nats_FOUND AND NOT TARGET nats::nats)
  add_library(nats::nats INTERFACE IMPORTED)
  target_include_directories(nats::nats INTERFACE ${nats_INCLUDE_DIR})
  target_link_libraries(nats::nats INTERFACE ${nats_LIBRARY} OpenSSL::SSL OpenSSL::Crypto)
endif()
