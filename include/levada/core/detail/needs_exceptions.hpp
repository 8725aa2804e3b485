// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/needs_exceptions.hpp: the one error of a program that is compiled without exceptions. Items that fail are
// delivered as theirs.

#ifndef __cpp_exceptions
#error "levada needs exceptions: compile without -fno-exceptions"
// There is no such header, so that the compiler ends here and the sentence stands alone.
#include <levada_needs_exceptions>
#endif
