// SPDX-License-Identifier: Apache-2.0
// Certificates of a fleet in files that are replaced while it works.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <levada/levada.hpp>

#include "files.hpp"
#include "fleet/kept_lines.hpp"
#include "fleet/nats_server.hpp"
#include "fleet/orders.hpp"
#include "remote/certificates.hpp"

namespace fleet_certificates {

namespace lv = levada;
using namespace levada::test;

/// Certificates in folders, and a link to one of them, which is turned.
class linked_files {
 public:
  void add(const char* name, const char* authority, const char* certificate, const char* key) const {
    std::filesystem::create_directory(folder_.path / name);
    const auto write = [&](const char* file, const char* text) { std::ofstream(folder_.path / name / file) << text; };
    write("authority.pem", authority);
    write("certificate.pem", certificate);
    write("key.pem", key);
  }
  void turn_to(const char* name) const {
    std::filesystem::create_symlink(name, folder_.path / "next");
    std::filesystem::rename(folder_.path / "next", folder_.path / "now");
  }
  std::string file(const char* name) const { return (folder_.path / "now" / name).string(); }
  lv::certificate_files all() const {
    return {file("authority.pem"), file("certificate.pem"), file("key.pem"), "edge"};
  }

 private:
  temporary_folder folder_;
};

nats_server::configuration showing(const lv::certificate_files& of) {
  return [of](const std::filesystem::path& folder, const std::string& listen) {
    return nats_server::plain(folder, listen) + "tls { ca_file: \"" + of.authority + "\", cert_file: \"" +
           of.certificate + "\", key_file: \"" + of.key + "\", verify: true }\n";
  };
}

bool is_served(const lv::jetstream& to) {
  try {
    static_cast<void>(lv::deploy<fleet_box, fleet_version>(orders(), to));
    return true;
  } catch (const lv::remote_error&) {
    return false;
  }
}

TEST_CASE("certificates of a fleet are read again where their files change, and sessions go on") {
  if (!has_nats_server()) return;
  const linked_files of_server, of_clients;
  of_server.add("first", authority_certificate, edge_certificate, edge_key);
  of_server.add("second", other_certificate, stranger_certificate, stranger_key);
  of_server.turn_to("first");
  of_clients.add("first", authority_certificate, driver_certificate, driver_key);
  of_clients.add("second", other_certificate, stranger_certificate, stranger_key);
  of_clients.add("no pair", other_certificate, stranger_certificate, driver_key);
  of_clients.add("no text", "nothing", stranger_certificate, stranger_key);
  of_clients.turn_to("first");
  nats_server server(showing(of_server.all()));
  const lv::jetstream to{{server.url()}, of_clients.all()};
  const lv::jetstream with_first{{server.url()},
                                 lv::certificates{authority_certificate, driver_certificate, driver_key, "edge"}};
  const lv::jetstream with_second{{server.url()},
                                  lv::certificates{other_certificate, stranger_certificate, stranger_key, "edge"}};
  auto app = lv::deploy<fleet_box, fleet_version>(orders(), to);
  const lv::fleet_worker works = lv::work<fleet_box, "orders", fleet_version>(orders(), to);
  CHECK(is_served(with_first));
  CHECK(!is_served(with_second));
  auto session = app.open<lv::dedicated>();
  const int count = 3000;
  std::thread pusher([&] {
    for (int i = 0; i < count; ++i) session.push(order{i});
    session.close();
  });
  tally came;
  const auto pop = [&](int until) {
    while (came.delivered + came.failed < until) came.add(*session.pop());
  };
  pop(500);

  // Connections that are there stay; the next show what is in the files then, or nothing.
  of_clients.turn_to("second");
  CHECK(!is_served(to));
  of_clients.turn_to("first");
  CHECK(is_served(to));
  pop(1000);

  // The server believes another authority before its clients do.
  server.kill();
  of_server.turn_to("second");
  server.start();
  CHECK(!is_served(with_first));
  CHECK(is_served(with_second));
  CHECK(!is_served(to));
  of_clients.turn_to("second");
  pop(2000);
  CHECK(is_served(to));

  {
    const kept_lines lines;
    of_clients.turn_to("no pair");
    CHECK(!is_served(to));
    CHECK(lines.has("levada: fleet \"orders\": certificate_files: \"" + of_clients.file("key.pem") + "\": "));
    of_clients.turn_to("no text");
    CHECK(!is_served(to));
    CHECK(lines.has("levada: fleet \"orders\": certificate_files: \"" + of_clients.file("authority.pem") + "\": "));
  }
  server.kill();
  server.start();
  CHECK(!is_served(to));
  of_clients.turn_to("second");
  while (const auto r = session.pop()) came.add(*r);
  pusher.join();
  CHECK(came.delivered == count);
  CHECK(came.failed == 0);
  CHECK(came.in_order);
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::detail::handshake_files::context_made_by("a test", [] {})),
                       "a test: certificates need a libnats that has the OpenSSL of this program", lv::remote_error);
  const lv::jetstream nowhere{{server.url()}, lv::certificate_files{"nowhere.pem", "", "", ""}};
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::deploy<fleet_box, fleet_version>(orders(), nowhere)),
                       "levada: certificate_files: \"nowhere.pem\" cannot be read", lv::remote_error);
}

TEST_CASE("whom the system believes, a fleet does not") {
  if (!has_nats_server()) return;
  const linked_files of_server, of_clients;
  of_server.add("first", other_certificate, stranger_certificate, stranger_key);
  of_server.turn_to("first");
  of_clients.add("first", authority_certificate, stranger_certificate, stranger_key);
  of_clients.turn_to("first");
  const nats_server server(showing(of_server.all()));
  ::setenv("SSL_CERT_FILE", of_server.file("authority.pem").c_str(), 1);
  CHECK(!is_served({{server.url()}, of_clients.all()}));
  const auto by = [&](const char* authority) {
    return lv::jetstream{{server.url()}, lv::certificates{authority, stranger_certificate, stranger_key, "edge"}};
  };
  CHECK(!is_served(by(authority_certificate)));
  CHECK(is_served(by(other_certificate)));
  ::unsetenv("SSL_CERT_FILE");
}

}  // namespace fleet_certificates
