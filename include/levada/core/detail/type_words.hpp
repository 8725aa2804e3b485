// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/type_words.hpp: the name of a type for people.

#include <cxxabi.h>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

namespace levada::detail {

/// The name of a type as typeid spells it. A program without run-time type information spells it as its compiler does:
/// by that name such programs and others do not know each other's types.
template <class T>
const char* type_name() {
#ifdef __cpp_rtti
  return typeid(T).name();
#else
  static const std::string name = [](std::string_view function) {
    const std::size_t first = function.find("T = ") + 4;
    return std::string(function.substr(first, function.rfind(']') - first));
  }(__PRETTY_FUNCTION__);
  return name.c_str();
#endif
}

/// A type as it is written in a program; typeid calls it `name`.
inline std::string type_words(const char* name) {
  const std::unique_ptr<char, void (*)(void*)> words(abi::__cxa_demangle(name, nullptr, nullptr, nullptr),
                                                     [](void* memory) { std::free(memory); });
  return words ? words.get() : name;
}

}  // namespace levada::detail
