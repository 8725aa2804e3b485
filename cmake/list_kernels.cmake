# SPDX-License-Identifier: Apache-2.0
# Which kernels objects name and lack, as UNITS units in FOLDER that instantiate them. A unit whose kernels are the same
# stays as it is. Run by levada_add_kernels.
set(kernels)
foreach(object IN LISTS OBJECTS)
  execute_process(
    COMMAND "${NM}" -u -C "${object}"
    OUTPUT_VARIABLE lacking
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+ levada::detail::(run|make|tile)_kernel_apart<[^\n]+" found "${lacking}")
  foreach(line IN LISTS found)
    string(REGEX REPLACE "^ *U +" "" line "${line}")
    list(APPEND kernels "template ${line}")
  endforeach()
endforeach()
list(REMOVE_DUPLICATES kernels)
list(SORT kernels)

set(head "// The kernels that another unit names; made by levada_add_kernels.\n")
foreach(header IN LISTS INCLUDE)
  string(APPEND head "#include <${header}>\n")
endforeach()
string(APPEND head "#include <levada/run/detail/program/kernels_here.hpp>\n\n")
math(EXPR last "${UNITS} - 1")
foreach(unit RANGE ${last})
  set(text_${unit} "${head}")
endforeach()
foreach(kernel IN LISTS kernels)
  # By its name, so that another kernel moves none from unit to unit.
  string(SHA1 hash "${kernel}")
  string(SUBSTRING "${hash}" 0 7 hash)
  math(EXPR unit "0x${hash} % ${UNITS}")
  string(APPEND text_${unit} "${kernel};\n")
endforeach()
foreach(unit RANGE ${last})
  set(file "${FOLDER}/kernels_${unit}.cpp")
  set(there)
  if(EXISTS "${file}")
    file(READ "${file}" there)
  endif()
  if(NOT there STREQUAL text_${unit})
    file(WRITE "${file}" "${text_${unit}}")
  endif()
endforeach()
