# SPDX-License-Identifier: Apache-2.0
# levada_add_pipeline(NAME SOURCE FILE [SHARED]): a pipeline as one translation unit. The unit includes
# <levada/levada.hpp> and defines what its header, which includes <levada/run/any_pipeline.hpp>, declares:
#
#   levada::any_pipeline<int(picture)> make_classify();
#
# NAME is a static library: who links it sees the headers of levada but not the include folders of oneTBB and xsimd, and
# is linked with oneTBB. With SHARED it is a module for load_pipeline, whose one symbol LEVADA_EXPORT_PIPELINE defines;
# who loads it links levada::headers.
function(levada_add_pipeline name)
  cmake_parse_arguments(PARSE_ARGV 1 pipeline "SHARED" "SOURCE" "")
  if(NOT pipeline_SOURCE OR pipeline_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "Write levada_add_pipeline(NAME SOURCE FILE [SHARED]).")
  endif()
  if(pipeline_SHARED)
    add_library(${name} MODULE ${pipeline_SOURCE})
    # Two versions in one program share nothing: not even what g++ would make unique in the process.
    set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  else()
    add_library(${name} STATIC ${pipeline_SOURCE})
    target_link_libraries(${name} PUBLIC levada::headers)
  endif()
  target_link_libraries(${name} PRIVATE levada::levada)
endfunction()
