// SPDX-License-Identifier: Apache-2.0
#pragma once
// libraries/answer.hpp: what the libraries and the program that loads them both know.

#include <levada/core/error.hpp>

struct answer {
  int item, library, seen;
};

struct no_answer : levada::error {
  no_answer(int of, int in) : levada::error("no answer"), item(of), library(in) {}
  int item, library;
};

constexpr bool fails(int item) { return item % 11 == 4; }
