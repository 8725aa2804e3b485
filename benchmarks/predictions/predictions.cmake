# SPDX-License-Identifier: Apache-2.0
# The networks of two examples, where ./run could fetch them.
if(TARGET face_front AND TARGET page_lines)
  target_link_libraries(bench_predictions PRIVATE face_front page_lines)
  target_compile_definitions(bench_predictions PRIVATE LEVADA_HAS_MODELS=1)
else()
  levada_left_out("two networks of bench_predictions" "models that ./run fetches by npm")
endif()
