# SPDX-License-Identifier: Apache-2.0
# gRPC's C++ library as grpcpp::grpcpp. Its own package file cannot be read twice, and asks for what only generated code
# needs.
find_path(grpcpp_INCLUDE_DIR grpcpp/grpcpp.h)
set(found)
foreach(name grpc++ grpc gpr absl_synchronization)
  find_library(grpcpp_${name}_LIBRARY ${name})
  list(APPEND found grpcpp_${name}_LIBRARY)
endforeach()
mark_as_advanced(grpcpp_INCLUDE_DIR ${found})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(grpcpp REQUIRED_VARS ${found} grpcpp_INCLUDE_DIR)

if(grpcpp_FOUND AND NOT TARGET grpcpp::grpcpp)
  add_library(grpcpp::grpcpp INTERFACE IMPORTED)
  target_include_directories(grpcpp::grpcpp INTERFACE ${grpcpp_INCLUDE_DIR})
  foreach(library IN LISTS found)
    target_link_libraries(grpcpp::grpcpp INTERFACE ${${library}})
  endforeach()
endif()
