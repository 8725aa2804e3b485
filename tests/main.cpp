// SPDX-License-Identifier: Apache-2.0
// doctest, compiled once for all test programs, and their main unless they have one of their own.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

[[gnu::weak]] int main(int count, char** arguments) { return doctest::Context(count, arguments).run(); }
