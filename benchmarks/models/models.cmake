# SPDX-License-Identifier: Apache-2.0
# The networks of bench_models. Each is an ONNX file, written from a seed or fetched by ./run and given fixed extents,
# that all contenders read, and a unit of its own.
if(NOT TARGET onnx_to_levada)
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(levada_with_writer ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
                       PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/onnx_models ${Python3_EXECUTABLE})

# The network of the file `name` in a unit of its own; `direct`: 1 without transforms of convolutions.
macro(levada_bench_unit unit name shown element direct)
  add_library(bench_models_${unit} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/benchmarks/models/each/network.cpp)
  target_link_libraries(bench_models_${unit} PRIVATE bench_network_${name} levada_development)
  target_compile_definitions(
    bench_models_${unit} PRIVATE LEVADA_NETWORK=bench_network_${name} LEVADA_NETWORK_NAME="${shown}"
                                 LEVADA_NETWORK_ELEMENT="${element}" LEVADA_NETWORK_FILE="${file}"
                                 LEVADA_NETWORK_CONSTANT=${network_NUMBER} LEVADA_NETWORK_DIRECT=${direct}
                                 LEVADA_NETWORK_HEADER=<bench_network_${name}.onnx.hpp>)
  target_link_libraries(bench_models PRIVATE bench_models_${unit})
endmacro()

# levada_bench_network(NAME SCRIPT ARGS... [BFLOAT16] [DIRECT] [DEPENDS FILE...] [ONNX ARGS...] [NUMBER N]): python3
# SCRIPT ARGS writes the network; ONNX has arguments of levada_add_onnx. Peers are given the number for inputs of
# integers. One whose name ends in _int8 is the network before that, quantized. BFLOAT16: it is computed with that, too.
# DIRECT: also without Winograd's transforms.
function(levada_bench_network name script)
  cmake_parse_arguments(PARSE_ARGV 2 network "BFLOAT16;DIRECT" "NUMBER" "DEPENDS;ONNX")
  set(file ${CMAKE_CURRENT_BINARY_DIR}/models/${name}.onnx)
  set(script ${PROJECT_SOURCE_DIR}/benchmarks/models/${script})
  string(REPLACE "<file>" "${file}" arguments "${network_UNPARSED_ARGUMENTS}")
  add_custom_command(
    OUTPUT ${file}
    COMMAND ${levada_with_writer} ${script} ${arguments}
    DEPENDS ${script} ${PROJECT_SOURCE_DIR}/tests/onnx_models/onnx_writer.py ${network_DEPENDS}
    VERBATIM)
  if(NOT network_NUMBER)
    set(network_NUMBER 0)
  endif()
  set(element float)
  if(name MATCHES "_int8$")
    set(element int8)
  endif()
  string(REGEX REPLACE "_int8$" "" shown ${name})
  levada_add_onnx(bench_network_${name} MODEL ${file} ${network_ONNX})
  levada_bench_unit(${name} ${name} ${shown} ${element} 0)
  if(network_BFLOAT16)
    levada_bench_unit(${name}_bf16 ${name} ${shown} bf16 0)
  endif()
  if(network_DIRECT)
    levada_bench_unit(${name}_direct ${name} ${shown} ${element} 1)
  endif()
endfunction()

# Peers, each a unit that enters itself.
target_sources(bench_models PRIVATE ${PROJECT_SOURCE_DIR}/benchmarks/models/each/steps.cpp)
target_link_libraries(bench_models PRIVATE onnx_to_levada_parts)
foreach(peer onnxruntime onednn xnnpack ncnn)
  set(sources ${PROJECT_SOURCE_DIR}/benchmarks/models/each/${peer}.cpp)
  levada_collect_parts(${sources})
  if(part_missing)
    message(STATUS "bench_models runs without ${peer}: ${part_missing}")
    continue()
  endif()
  target_sources(bench_models PRIVATE ${sources})
  target_compile_definitions(bench_models PRIVATE ${part_definitions})
  target_link_libraries(bench_models PRIVATE ${part_targets})
endforeach()

file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/models)
foreach(network resnet18 resnet50 mobilenet_v1 mobilenet_v2 squeezenet)
  set(also)
  if(network MATCHES "^(resnet18|mobilenet_v2)$")
    list(APPEND also BFLOAT16)
  endif()
  if(network MATCHES "^resnet")
    list(APPEND also DIRECT)
  endif()
  levada_bench_network(${network} networks.py ${network} <file> ${also})
  levada_bench_network(${network}_int8 networks.py ${network} <file> int8)
endforeach()

# levada_bench_fetched(NAME FILE [TOLD...]): a network of an npm package, where it is there.
function(levada_bench_fetched name from)
  if(EXISTS "${LEVADA_MODELS}/${from}")
    levada_bench_network(${name} fix_inputs.py ${LEVADA_MODELS}/${from} <file> ${ARGN} DEPENDS ${LEVADA_MODELS}/${from})
  else()
    levada_left_out("the benchmark models/${name}" "its network, which ./run fetches by npm")
  endif()
endfunction()
levada_bench_fetched(blazeface_front blazeface/ONNX/face_detection_front_128x128_barracuda.onnx)
levada_bench_fetched(blazeface_back blazeface/ONNX/face_detection_back_256x256_barracuda.onnx)
levada_bench_fetched(ocr_det ocr/assets/ch_PP-OCRv4_det_infer.onnx x=1,3,480,640)
levada_bench_fetched(ocr_rec ocr/assets/ch_PP-OCRv4_rec_infer.onnx x=1,3,48,320)
levada_bench_fetched(ocr_cls ocr/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx x=1,3,48,192)
# With extents or a rate that are fixed ONNX Runtime 1.30 refuses it.
levada_bench_fetched(silero_vad vad/dist/silero_vad_v6.onnx ONNX DIMS input=1,576 state=2,1,128 CONSTANTS sr=16000
                     NUMBER 16000)
