# SPDX-License-Identifier: Apache-2.0
# The server is started as in the tests.
target_include_directories(bench_fleet PRIVATE ${PROJECT_SOURCE_DIR}/tests)
