// SPDX-License-Identifier: Apache-2.0
// Texts of a program by HTTP.

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include <httplib.h>
#include <levada/service/pages.hpp>

namespace lv = levada;

TEST_CASE("pages are made when they are asked for, and for this machine alone") {
  int asked = 0;
  const lv::page_server pages(
      "127.0.0.1", 0,
      {{"/count", "text/plain", [&] { return std::to_string(++asked); }},
       {"/none", "text/plain", []() -> std::string { throw std::runtime_error("there is nothing"); }}});
  httplib::Client client("127.0.0.1", pages.port());
  for (const char* const text : {"1", "2"}) {
    const httplib::Result found = client.Get("/count");
    REQUIRE(found);
    CHECK(found->body == text);
    CHECK(found->get_header_value("Content-Type") == "text/plain");
  }
  CHECK(client.Get("/none")->status == 500);
  CHECK(client.Get("/other")->status == 404);
  CHECK_THROWS_WITH_AS(lv::page_server("0.0.0.0", 0, {}),
                       "levada: pages go to no other machine, and \"0.0.0.0\" is not this one", lv::error);
  const std::string taken = "levada: pages cannot be shown at \"127.0.0.1:" + std::to_string(pages.port()) + '"';
  try {
    lv::page_server("127.0.0.1", pages.port(), {});
    FAIL_CHECK("two have one port");
  } catch (const lv::error& e) {
    CHECK(e.what() == taken);
  }
}
