# SPDX-License-Identifier: Apache-2.0
# FastFlow. FASTFLOW_ROOT names the folder that has ff/ff.hpp.
include(${CMAKE_CURRENT_LIST_DIR}/find_headers.cmake)
levada_find_headers(fastflow ff/ff.hpp)
