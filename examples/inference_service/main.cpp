// SPDX-License-Identifier: Apache-2.0
// The demo's network as a service of the Open Inference Protocol: client.js asks it from another language.
//
//   inference_service --address 0.0.0.0:8001 --authority ca.pem --certificate me.pem --key me.key
//   inference_service --address 127.0.0.1:8001 --plain-text

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>
#include <levada/service/serve.hpp>

#if LEVADA_HAS_HTTPLIB
#include <levada/interop/html_report.hpp>
#include <levada/service/pages.hpp>
#endif

#include "../fashion_mnist/network.hpp"

namespace lv = levada;

int main(int count, char** arguments) try {
  std::string address = "127.0.0.1:8001", authority, certificate, key;
  bool plain = false;
  CLI::App program("The demo's network as a service of the Open Inference Protocol");
  program.add_option("--address", address, "where it listens; port 0: any")->capture_default_str();
  program.add_option("--authority", authority, "PEM file of who signed the certificates of clients");
  program.add_option("--certificate", certificate, "PEM file of the service's own");
  program.add_option("--key", key, "PEM file of its key");
  int pages = -1;
  program.add_option("--pages", pages, "port of /metrics and /plan by HTTP, for this machine; 0: any");
  program.add_flag("--plain-text", plain, "without certificates, for this machine alone");
  CLI11_PARSE(program, count, arguments);

  lv::service_options options{.model = "fashion_mnist", .address = address};
  if (plain)
    options.security = lv::plain_text{};
  else
    options.security = lv::certificate_files{authority, certificate, key, {}};

  const lv::safetensors weights{LEVADA_SOURCE_DIR "/examples/fashion_mnist/weights.safetensors"};
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(example::fashion_mnist::classifier(weights));
  app.measure();
  lv::inference_service service = lv::serve(app, options);
#if LEVADA_HAS_HTTPLIB
  std::optional<lv::page_server> shown;
  if (pages >= 0) {
    shown.emplace("127.0.0.1", pages,
                  std::vector<lv::page>{{"/metrics", "text/plain; version=0.0.4", [&] { return service.metrics(); }},
                                        {"/plan", "text/html", [&] { return lv::html_report(app); }}});
    std::printf("pages at http://127.0.0.1:%d\n", shown->port());
  }
#endif
  std::printf("serving at %s until SIGTERM\n", service.address().c_str());
  std::fflush(stdout);
  const bool all_answered = service.run();
  std::printf("%s", service.metrics().c_str());
  return all_answered ? 0 : 1;
} catch (const lv::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
