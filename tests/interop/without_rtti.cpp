// SPDX-License-Identifier: Apache-2.0
// What knows items by the names of their types, in a program of its own that is compiled without run-time type
// information.

#include <doctest/doctest.h>

#include <string>

#include <levada/interop/pipeline_library.hpp>
#include <levada/interop/recording.hpp>
#include <levada/levada.hpp>

#include <files.hpp>

#ifdef __cpp_rtti
#error "this test is compiled with -fno-rtti"
#endif

namespace lv = levada;

namespace {
struct reading {
  int value;
};
struct sample {
  int value;
};

/// It throws levada's error. (doctest is compiled with run-time type information, and would ask for the exception's.)
template <class F>
bool fails(F f) {
  try {
    f();
  } catch (const lv::error&) {
    return true;
  }
  return false;
}
}  // namespace

TEST_CASE("without run-time type information a recording is read as the type it was written as, and as no other") {
  const lv::test::temporary_file file("readings.rec");
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<reading> |
                                                      lv::stage<"value">([](const reading& r) { return r.value; }));
  {
    auto session = app.open();
    lv::recorder<reading> tape(file.path);
    for (int i = 0; i < 3; ++i) {
      tape.push(session, reading{i});
      CHECK(session.pop()->value() == i);
    }
  }
  lv::recording<reading> from(file.path);
  for (int i = 0; i < 3; ++i) CHECK(from.next()->value.value == i);
  CHECK(from.next() == nullptr);
  CHECK(fails([&] { lv::recording<sample> other(file.path); }));
}

TEST_CASE("without run-time type information types have the names that the compiler gives them") {
  CHECK(lv::detail::type_words(lv::detail::type_name<int>()) == "int");
  CHECK(std::string(lv::detail::type_name<reading>()) != lv::detail::type_name<sample>());
  CHECK(fails([] { static_cast<void>(lv::load_pipeline<int(int)>("./no_such_library.so")); }));
}
