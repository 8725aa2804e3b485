# SPDX-License-Identifier: Apache-2.0
# OBJECTS, the units of kernels of one instruction set, as one object OUTPUT that exports the tables, whose names begin
# with TABLE, and nothing else. A linker then takes no function of it for another unit's: also none that is inline in
# both, as those of the standard library are. Run by levada_add_kernels.
#
# --force-group-allocation of GNU ld: no section is one of a group any more, for which a later link takes another's.
execute_process(
  COMMAND "${LINKER}" -r --force-group-allocation -o "${OUTPUT}.all" ${OBJECTS}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND "${OBJCOPY}" --wildcard "--keep-global-symbol=${TABLE}_*" "${OUTPUT}.all" "${OUTPUT}"
  COMMAND_ERROR_IS_FATAL ANY)
# What runs before main runs on every processor.
execute_process(
  COMMAND "${OBJDUMP}" -h "${OUTPUT}"
  OUTPUT_VARIABLE sections
  COMMAND_ERROR_IS_FATAL ANY)
if(sections MATCHES "\\.(init_array|ctors)")
  file(REMOVE "${OUTPUT}")
  message(FATAL_ERROR "The kernels have code that runs before main, by instructions that not every processor has: a "
                      "header of INCLUDE has a variable that is not constant, or the flags name a sanitizer. It is in "
                      "${OUTPUT}.all")
endif()
