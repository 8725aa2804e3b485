# SPDX-License-Identifier: Apache-2.0
# MPI's interface for C as mpi::mpi, and mpirun as the variable LEVADA_MPIRUN. (CMake's FindMPI brings the classes for
# C++ that MPI 3 has no more.)
find_path(mpi_INCLUDE_DIR mpi.h PATH_SUFFIXES mpi ${CMAKE_LIBRARY_ARCHITECTURE}/mpi openmpi)
find_library(mpi_LIBRARY mpi)
find_program(LEVADA_MPIRUN mpirun)
mark_as_advanced(mpi_INCLUDE_DIR mpi_LIBRARY LEVADA_MPIRUN)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(mpi REQUIRED_VARS mpi_LIBRARY mpi_INCLUDE_DIR)

if(mpi_FOUND AND NOT TARGET mpi::mpi)
  add_library(mpi::mpi INTERFACE IMPORTED)
  target_include_directories(mpi::mpi SYSTEM INTERFACE ${mpi_INCLUDE_DIR})
  target_link_libraries(mpi::mpi INTERFACE ${mpi_LIBRARY})
endif()
