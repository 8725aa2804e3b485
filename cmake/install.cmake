# SPDX-License-Identifier: Apache-2.0
# `cmake --install`: the headers, the examples with the demo's weights, the package for find_package(levada), and
# levada.pc. Nothing in it depends on the architecture, and every path is relative, so that the prefix can be chosen
# while installing and moved afterwards.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_folder ${CMAKE_INSTALL_DATADIR}/cmake/levada)
set(data_folder ${CMAKE_INSTALL_DATADIR}/levada)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/levada TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp")
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/examples
  DESTINATION ${data_folder}
  FILES_MATCHING
  PATTERN "*.cpp"
  PATTERN "*.hpp"
  PATTERN "*.safetensors")
# The host tool as source: it is built where it is first used.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/onnx_to_levada DESTINATION ${data_folder})
set_target_properties(levada_headers PROPERTIES EXPORT_NAME headers)
install(TARGETS levada_headers levada EXPORT levadaTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT levadaTargets NAMESPACE levada:: DESTINATION ${package_folder})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/levadaConfig.cmake.in ${PROJECT_BINARY_DIR}/levadaConfig.cmake
                              INSTALL_DESTINATION ${package_folder} PATH_VARS data_folder)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/levadaConfigVersion.cmake COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
configure_file(${PROJECT_SOURCE_DIR}/cmake/levada.pc.in ${PROJECT_BINARY_DIR}/levada.pc @ONLY)

install(FILES ${PROJECT_BINARY_DIR}/levadaConfig.cmake ${PROJECT_BINARY_DIR}/levadaConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/levada_add_pipeline.cmake ${PROJECT_SOURCE_DIR}/cmake/levada_profile.cmake
              ${PROJECT_SOURCE_DIR}/cmake/levada_pack.cmake
              ${PROJECT_SOURCE_DIR}/cmake/levada_add_onnx.cmake ${PROJECT_SOURCE_DIR}/cmake/levada_add_kernels.cmake
              ${PROJECT_SOURCE_DIR}/cmake/list_kernels.cmake ${PROJECT_SOURCE_DIR}/cmake/join_kernels.cmake
        DESTINATION ${package_folder})
install(FILES ${PROJECT_BINARY_DIR}/levada.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
