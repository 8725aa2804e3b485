# SPDX-License-Identifier: Apache-2.0
# levada_add_onnx(NAME MODEL FILE [DIMS batch=1 x.2=480 ...] [CONSTANTS sr=16000 ...] [FROM TENSOR] [TO TENSOR...]
#   [STATE output=input ...] [LAYOUT input=NHWC ...] [HALF widen|keep] [WEIGHTS FILE|EMBED] [HEADER FILE]
#   [UNSUPPORTED ERROR|ONNXRUNTIME]):
# a trained model as the library NAME. Who links it includes <NAME.onnx.hpp>, which has NAME::graph(weights) and
# NAME::weights_file, or with EMBED NAME::weights(). docs/onnx.md says what the options mean.
#
# HEADER names a copy of the header that is committed. Where the model is there, it has to be what the tool makes of it
# now; where it is not, the copy is used as it is.
#
# DIMS W=160|320 makes a graph for each, NAME::w160::graph(weights) and NAME::w320::graph(weights), over one file of
# weights.
#
# With UNSUPPORTED ONNXRUNTIME nodes that levada lacks are computed by ONNX Runtime, whose onnxruntime_c_api.h the
# program needs then.
#
# The tool is built at first use, for the machine that builds; LEVADA_ONNX_TOOL names one that is there already.
set(LEVADA_ONNX_TOOL
    ""
    CACHE FILEPATH "onnx_to_levada, built before; empty: build it")

# levada_onnx_tool(RESULT): the tool's file, and the target that builds it.
function(levada_onnx_tool result)
  if(LEVADA_ONNX_TOOL)
    set(${result}
        "${LEVADA_ONNX_TOOL}"
        PARENT_SCOPE)
    return()
  elseif(TARGET onnx_to_levada)  # levada's own build
    set(${result}
        "$<TARGET_FILE:onnx_to_levada>"
        PARENT_SCOPE)
    return()
  endif()
  set(build "${CMAKE_BINARY_DIR}/onnx_to_levada")
  set(tool "${build}/onnx_to_levada")
  if(NOT TARGET levada_onnx_tool)
    # In a checkout, or installed.
    set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
    find_path(
      source CMakeLists.txt
      PATHS "${here}/../tools/onnx_to_levada" "${here}/../../levada/onnx_to_levada"
      NO_CACHE REQUIRED NO_DEFAULT_PATH)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${source}/*.cpp" "${source}/*.hpp")
    # A project of its own: it neither takes the toolchain nor the flags of what is built for the target.
    set(host_compiler)
    if(NOT CMAKE_CROSSCOMPILING)
      set(host_compiler "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
                        "-DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}")
    endif()
    add_custom_command(
      OUTPUT "${tool}"
      COMMAND "${CMAKE_COMMAND}" -S "${source}" -B "${build}" -G "${CMAKE_GENERATOR}" ${host_compiler}
      COMMAND "${CMAKE_COMMAND}" --build "${build}"
      DEPENDS ${sources} "${source}/CMakeLists.txt"
      COMMENT "Building onnx_to_levada for this machine"
      USES_TERMINAL VERBATIM)
    add_custom_target(levada_onnx_tool DEPENDS "${tool}")
  endif()
  set(${result}
      "${tool}"
      PARENT_SCOPE)
endfunction()

function(levada_add_onnx name)
  cmake_parse_arguments(PARSE_ARGV 1 onnx "" "MODEL;FROM;HALF;WEIGHTS;HEADER;UNSUPPORTED"
                        "DIMS;CONSTANTS;TO;STATE;LAYOUT")
  if((NOT onnx_MODEL AND NOT onnx_HEADER) OR onnx_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "Write levada_add_onnx(NAME MODEL FILE [DIMS axis=N ...] ...); not understood: "
                        "${onnx_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT onnx_WEIGHTS)
    set(onnx_WEIGHTS FILE)
  elseif(NOT onnx_WEIGHTS MATCHES "^(FILE|EMBED)$")
    message(FATAL_ERROR "levada_add_onnx(${name}): WEIGHTS is FILE or EMBED, not ${onnx_WEIGHTS}.")
  endif()
  if(NOT onnx_UNSUPPORTED)
    set(onnx_UNSUPPORTED ERROR)
  elseif(NOT onnx_UNSUPPORTED MATCHES "^(ERROR|ONNXRUNTIME)$")
    message(FATAL_ERROR "levada_add_onnx(${name}): UNSUPPORTED is ERROR or ONNXRUNTIME, not ${onnx_UNSUPPORTED}.")
  endif()
  foreach(file IN ITEMS MODEL HEADER)
    if(onnx_${file})
      cmake_path(ABSOLUTE_PATH onnx_${file} BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
  endforeach()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/levada_onnx/${name}")  # a model made by the build may be NAME.onnx
  set(header "${folder}/${name}.onnx.hpp")
  set(weights "${folder}/${name}.safetensors")
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE levada::levada)
  # By default g++ collects its garbage when its heap has doubled. A large network's plan makes much of it: 1.15 GB
  # instead of 1.42 for 3 % more time.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-expand=60>")
  endif()
  if(onnx_UNSUPPORTED STREQUAL "ONNXRUNTIME")
    find_path(LEVADA_ONNXRUNTIME_INCLUDE onnxruntime_c_api.h HINTS $ENV{ONNXRUNTIME_ROOT}
              PATH_SUFFIXES include include/onnxruntime onnxruntime)
    if(LEVADA_ONNXRUNTIME_INCLUDE)
      target_include_directories(${name} SYSTEM INTERFACE "${LEVADA_ONNXRUNTIME_INCLUDE}")
    endif()
  endif()
  if(onnx_HEADER AND NOT EXISTS "${onnx_MODEL}")
    cmake_path(GET onnx_HEADER PARENT_PATH committed)
    target_include_directories(${name} INTERFACE "${committed}")
    return()
  endif()

  set(arguments --name ${name} -o "${folder}")
  foreach(option IN ITEMS DIMS CONSTANTS TO STATE LAYOUT FROM HALF)
    if(onnx_${option})
      string(TOLOWER ${option} word)
      list(APPEND arguments --${word} ${onnx_${option}})
    endif()
  endforeach()
  if(onnx_HEADER)
    list(APPEND arguments --compare "${onnx_HEADER}")
  endif()
  if(onnx_WEIGHTS STREQUAL "EMBED")
    list(APPEND arguments --embed)
  endif()
  if(onnx_UNSUPPORTED STREQUAL "ONNXRUNTIME")
    list(APPEND arguments --unsupported onnxruntime)
  endif()
  levada_onnx_tool(tool)
  add_custom_command(
    OUTPUT "${header}" "${weights}"
    COMMAND "${tool}" "${onnx_MODEL}" ${arguments}
    DEPENDS "${tool}" "${onnx_MODEL}" ${onnx_HEADER}
    COMMENT "Converting ${onnx_MODEL}"
    VERBATIM)
  add_custom_target(${name}_onnx DEPENDS "${header}" "${weights}")
  if(TARGET levada_onnx_tool)
    add_dependencies(${name}_onnx levada_onnx_tool)
  endif()
  add_dependencies(${name} ${name}_onnx)
  target_include_directories(${name} INTERFACE "${folder}")
  if(onnx_WEIGHTS STREQUAL "EMBED")
    # The unit's one function gives the bytes, which the assembler takes from the file.
    add_library(${name}_weights STATIC "${folder}/${name}.weights.cpp")
    set_source_files_properties(
      "${folder}/${name}.weights.cpp" TARGET_DIRECTORY ${name}_weights PROPERTIES GENERATED ON OBJECT_DEPENDS
                                                                                             "${weights}")
    add_dependencies(${name}_weights ${name}_onnx)
    target_compile_features(${name}_weights PRIVATE cxx_std_20)
    target_link_libraries(${name} INTERFACE ${name}_weights)
  else()
    target_compile_definitions(${name} INTERFACE "LEVADA_MODEL_FOLDER_${name}=\"${folder}\"")
  endif()
endfunction()
