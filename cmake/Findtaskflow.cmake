# SPDX-License-Identifier: Apache-2.0
# Taskflow. TASKFLOW_ROOT names the folder that has taskflow/taskflow.hpp.
include(${CMAKE_CURRENT_LIST_DIR}/find_headers.cmake)
levada_find_headers(taskflow taskflow/taskflow.hpp)
