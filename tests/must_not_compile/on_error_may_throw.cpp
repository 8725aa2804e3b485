// SPDX-License-Identifier: Apache-2.0
// error: on_error_takes_a_noexcept_function_of_a_sequence_number_and_an_exception
//
// Who hears of failed items cannot fail.

#include <cstdint>
#include <exception>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"same">([](const int& v) { return v; }));
  auto session = app.open();
#ifdef LEVADA_CORRECT
  session.on_error([](std::uint64_t, const std::exception_ptr&) noexcept {});
#else
  session.on_error([](std::uint64_t, const std::exception_ptr&) {});
#endif
  return static_cast<int>(session.counts().pushed);
}
