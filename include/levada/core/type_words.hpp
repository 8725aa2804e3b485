// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/type_words.hpp: the name of a type for people.

#include <cxxabi.h>
#include <cstdlib>
#include <memory>
#include <string>

namespace levada::detail {

/// What typeid calls `name`, as it is written in a program.
inline std::string type_words(const char* name) {
  const std::unique_ptr<char, void (*)(void*)> words(abi::__cxa_demangle(name, nullptr, nullptr, nullptr),
                                                     [](void* memory) { std::free(memory); });
  return words ? words.get() : name;
}

}  // namespace levada::detail
