# SPDX-License-Identifier: Apache-2.0
# Other people's libraries that a test, an example or a benchmark may use: found when a source includes them, never
# required. A source that can do without a part includes it under `#if LEVADA_HAS_<PART>`; one that cannot is left out,
# with a line that says which Debian package brings the part.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})

set(levada_parts)
macro(levada_part name debian includes targets)
  list(APPEND levada_parts ${name})
  set(levada_${name}_debian ${debian})
  set(levada_${name}_includes ${includes})
  set(levada_${name}_targets ${targets})
  set(levada_${name}_package ${ARGN})
endmacro()

# part, Debian package, what a source includes, target, arguments of find_package
levada_part(EIGEN libeigen3-dev "Eigen/|levada/(interop|backend)/eigen" Eigen3::Eigen Eigen3)
levada_part(ONEDNN libdnnl-dev "dnnl|oneapi/dnnl|levada/(interop|backend)/onednn" DNNL::dnnl dnnl)
levada_part(VULKAN libvulkan-dev "vulkan/|levada/backend/spirv" Vulkan::Headers Vulkan)
levada_part(OPENCV libopencv-imgproc-dev "opencv2/|levada/interop/opencv" opencv_imgproc opencv_imgproc)
levada_part(PNG libpng-dev "png\\.h" PNG::PNG PNG)
levada_part(ZLIB zlib1g-dev "zlib\\.h" ZLIB::ZLIB ZLIB)
levada_part(CLI11 libcli11-dev "CLI/" CLI11::CLI11 CLI11)
levada_part(JSON nlohmann-json3-dev "nlohmann/|levada/interop/(plan_file|saved_plan)"
            nlohmann_json::nlohmann_json nlohmann_json)
levada_part(TASKFLOW "libtaskflow-cpp-dev (from trixie on; or TASKFLOW_ROOT)" "taskflow/" taskflow::taskflow taskflow)
levada_part(FASTFLOW "(not in Debian; FASTFLOW_ROOT names its folder)" "ff/ff" fastflow::fastflow fastflow)
levada_part(GRPC "libgrpc++-dev libprotobuf-dev" "grpcpp/|levada/(remote/grpc|service/serve)" grpcpp::grpcpp grpcpp)
levada_part(NATS libnats-dev "nats/|levada/fleet|fleet/(orders|counters)" nats::nats nats)
levada_part(MPI libopenmpi-dev "mpi\\.h|levada/cluster" mpi::mpi mpi)
levada_part(HTTPLIB libcpp-httplib-dev "httplib\\.h|levada/service/pages" httplib::httplib httplib)
levada_part(ONNXRUNTIME "libonnxruntime-dev (from trixie on)" "onnxruntime_c|levada/interop/onnx_runtime"
            onnxruntime::onnxruntime onnxruntime)

# levada_collect_parts(SOURCE...): what these sources need. Sets in the caller `part_targets`, `part_definitions`, and
# `part_missing`: the Debian packages without which they do not compile.
function(levada_collect_parts)
  set(targets)
  set(definitions)
  set(missing)
  foreach(source IN LISTS ARGN)
    file(READ ${source} text)
    foreach(part IN LISTS levada_parts)
      if(text MATCHES "#[ \t]*include[ \t]*[<\"](${levada_${part}_includes})")
        find_package(${levada_${part}_package} QUIET)
        if(TARGET ${levada_${part}_targets})
          list(APPEND targets ${levada_${part}_targets})
          list(APPEND definitions LEVADA_HAS_${part}=1)
        elseif(NOT text MATCHES "LEVADA_HAS_${part}")
          list(APPEND missing ${levada_${part}_debian})
        endif()
      endif()
    endforeach()
  endforeach()
  foreach(out targets definitions missing)
    list(REMOVE_DUPLICATES ${out})
    set(part_${out} ${${out}} PARENT_SCOPE)
  endforeach()
endfunction()

# Says in one line that something is not built, and what would bring it.
function(levada_left_out what)
  list(JOIN ARGN ", " packages)
  message(STATUS "Left out: ${what}. Debian brings what it needs as ${packages}.")
endfunction()

# levada_in_tier(TARGET TIER): below that tier of the tests the target is built when it is asked for alone.
function(levada_in_tier target tier)
  set(tiers test all nightly)
  list(FIND tiers "${tier}" first)
  list(FIND tiers "${LEVADA_TIER}" now)
  if(LEVADA_BUILD_TESTS AND TARGET ${target} AND now LESS first)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# levada_add_program(NAME SOURCE...): an executable on levada and the parts its sources include, or one line why not.
function(levada_add_program name)
  levada_collect_parts(${ARGN})
  if(part_missing)
    levada_left_out(${name} ${part_missing})
    return()
  endif()
  set(units ${ARGN})
  list(FILTER units INCLUDE REGEX "\\.cpp$")
  add_executable(${name} ${units})
  target_link_libraries(${name} PRIVATE levada::levada levada_development ${part_targets})
  target_compile_definitions(${name} PRIVATE ${part_definitions})
endfunction()
