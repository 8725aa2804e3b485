// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/server_configuration.hpp: the configuration of a nats-server for a fleet whose members show certificates: who
// they are is in these, and each may do what its role needs and nothing else.

#include <cstddef>
#include <initializer_list>
#include <string>

#include <levada/core/error.hpp>
#include <levada/fleet/detail/fleet_names.hpp>

namespace levada {

/// What the server of a fleet is told.
struct fleet_server {
  std::string fleet{};
  std::string driver{}, worker{};  ///< names in the certificates of drivers and workers: a DNS name that each has
  std::string authority{};  ///< files of the server: the certificate that signed all others, its own, and its key
  std::string certificate{}, key{};
  std::string listen = "0.0.0.0:4222";
  std::string store = "/var/lib/nats";
  std::size_t most_stored = std::size_t{1} << 30;  ///< bytes: less than the disk has, so that it is never full
};

/// The text of the file for `nats-server -c`. Drivers make streams, and workers cannot; neither publishes as the other.
/// Throws levada::error where a text would end its line.
inline std::string server_configuration(const fleet_server& of) {
  const auto quoted = [](const std::string& text) {
    if (text.find_first_of("\"\\\n\r") != text.npos)
      throw error("levada: server_configuration: `" + text + "` has a character that a configuration cannot");
    return '"' + text + '"';
  };
  const detail::fleet_names names(of.fleet, 0);
  const std::string items = names.items_stream, outcomes = names.outcomes_stream;
  const auto list = [&](std::initializer_list<std::string> subjects) {
    std::string text = "[";
    for (const std::string& s : subjects) text += (text.size() == 1 ? "\n          " : ",\n          ") + quoted(s);
    return text + "\n        ]";
  };
  const auto user = [&](const std::string& name, const std::string& publish, const std::string& subscribe) {
    return "    {\n      user: " + quoted(name) + "\n      permissions: {\n        publish: " + publish +
           "\n        subscribe: " + subscribe + "\n        allow_responses: true\n      }\n    }\n";
  };
  return "listen: " + quoted(of.listen) + "\njetstream {\n  store_dir: " + quoted(of.store) +
         "\n  max_file_store: " + std::to_string(of.most_stored) + "\n}\ntls {\n  ca_file: " + quoted(of.authority) +
         "\n  cert_file: " + quoted(of.certificate) + "\n  key_file: " + quoted(of.key) +
         "\n  verify_and_map: true\n}\nauthorization {\n  users = [\n" +
         user(of.driver,
              list({names.all_items, names.workers, "$JS.API.STREAM.INFO." + items, "$JS.API.STREAM.INFO." + outcomes,
                    "$JS.API.STREAM.CREATE." + items, "$JS.API.STREAM.CREATE." + outcomes,
                    "$JS.API.CONSUMER.INFO." + items + ".*", "$JS.API.CONSUMER.INFO." + outcomes + ".*",
                    "$JS.API.CONSUMER.DURABLE.CREATE." + items + ".*",
                    "$JS.API.CONSUMER.DURABLE.CREATE." + outcomes + ".*", "$JS.API.CONSUMER.DELETE." + outcomes + ".*",
                    "$JS.API.CONSUMER.MSG.NEXT." + outcomes + ".*", "$JS.ACK." + outcomes + ".>"}),
              list({"_INBOX.>", names.all_questions, names.drivers})) +
         user(of.worker,
              list({names.all_outcomes, names.all_questions, names.drivers, "$JS.API.CONSUMER.MSG.NEXT." + items + ".*",
                    "$JS.ACK." + items + ".>"}),
              list({"_INBOX.>", names.workers})) +
         "  ]\n}\n";
}

}  // namespace levada
