// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/server_configuration.hpp: the configuration of a nats-server for a fleet whose members show certificates: who
// they are is in these, and each may do what its role needs and nothing else.

#include <cstddef>
#include <string>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/keyed_names.hpp>

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
  std::size_t partitions = 0;                      ///< of a stage with a state by key; 0: there is none
};

namespace detail {

/// What each role publishes and hears.
struct fleet_permissions {
  using subjects = std::vector<std::string>;
  subjects driver_says, driver_hears, worker_says, worker_hears;
};
inline fleet_permissions permissions_of(const fleet_names& names) {
  const std::string items = names.items_stream, outcomes = names.outcomes_stream, sessions = names.sessions_stream;
  return {{names.all_items, names.workers, names.all_sessions, "$JS.API.STREAM.INFO." + sessions,
           "$JS.API.STREAM.CREATE." + sessions, "$JS.API.STREAM.MSG.GET." + sessions, "$JS.API.STREAM.INFO." + items,
           "$JS.API.STREAM.INFO." + outcomes, "$JS.API.STREAM.CREATE." + items, "$JS.API.STREAM.CREATE." + outcomes,
           "$JS.API.STREAM.MSG.GET." + items, "$JS.API.CONSUMER.INFO." + items + ".*",
           "$JS.API.CONSUMER.INFO." + outcomes + ".*", "$JS.API.CONSUMER.DURABLE.CREATE." + items + ".*",
           "$JS.API.CONSUMER.DURABLE.CREATE." + outcomes + ".*", "$JS.API.CONSUMER.DELETE." + items + ".*",
           "$JS.API.CONSUMER.DELETE." + outcomes + ".*", "$JS.API.CONSUMER.MSG.NEXT." + outcomes + ".*",
           "$JS.ACK." + outcomes + ".>"},
          {"_INBOX.>", names.all_questions, names.drivers},
          {names.all_outcomes, names.all_questions, names.drivers, "$JS.API.CONSUMER.MSG.NEXT." + items + ".*",
           "$JS.ACK." + items + ".>"},
          {"_INBOX.>", names.workers}};
}
inline fleet_permissions permissions_of(const fleet_names& names, const keyed_names& keyed, std::size_t partitions) {
  const std::string keys = "$KV." + keyed.leases + ".", sessions = keyed.sessions_stream;
  fleet_permissions p{
      {keyed.all_inputs, names.workers, keys + keyed_names::driver_key, keyed.all_sessions,
       "$JS.API.STREAM.INFO." + sessions, "$JS.API.STREAM.CREATE." + sessions, "$JS.API.STREAM.MSG.GET." + sessions},
      {"_INBOX.>", names.drivers},
      {keyed.all_chains, keyed.here, names.drivers, keys + "partition.*"},
      {"_INBOX.>", names.workers, keyed.here}};
  const auto reads = [](fleet_permissions::subjects& who, const std::string& stream) {
    for (const char* const api : {"$JS.API.CONSUMER.CREATE.", "$JS.API.CONSUMER.DELETE."})
      who.push_back(api + stream + ".*");
    who.push_back("$JS.FC." + stream + ".>");
  };
  const auto makes = [&](const std::string& stream) {
    for (const char* const api :
         {"$JS.API.STREAM.INFO.", "$JS.API.STREAM.CREATE.", "$JS.API.STREAM.MSG.GET.", "$JS.API.STREAM.PURGE."})
      p.driver_says.push_back(api + stream);
  };
  makes(keyed.inputs_stream);
  reads(p.worker_says, keyed.inputs_stream);
  for (std::size_t i = 0; i < partitions; ++i) {
    const std::string chain = keyed.chain_stream(i);
    makes(chain);
    reads(p.driver_says, chain);
    p.worker_says.push_back("$JS.API.STREAM.MSG.GET." + chain);
  }
  p.driver_says.push_back("$JS.API.STREAM.CREATE." + keyed.leases_stream);
  for (fleet_permissions::subjects* who : {&p.driver_says, &p.worker_says}) {
    who->push_back("$JS.API.STREAM.INFO." + keyed.leases_stream);
    who->push_back("$JS.API.DIRECT.GET." + keyed.leases_stream + ".>");
  }
  return p;
}

}  // namespace detail

/// The text of the file for `nats-server -c`. Drivers make streams, and workers cannot; neither publishes as the other.
/// Throws levada::error where a text would end its line.
inline std::string server_configuration(const fleet_server& of) {
  const auto quoted = [](const std::string& text) {
    if (text.find_first_of("\"\\\n\r") != text.npos)
      throw error("levada: server_configuration: `" + text + "` has a character that a configuration cannot");
    return '"' + text + '"';
  };
  const detail::fleet_names names(of.fleet, 0);
  const detail::fleet_permissions may =
      of.partitions == 0 ? detail::permissions_of(names)
                         : detail::permissions_of(names, detail::keyed_names(of.fleet, of.partitions), of.partitions);
  const auto list = [&](const detail::fleet_permissions::subjects& subjects) {
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
         user(of.driver, list(may.driver_says), list(may.driver_hears)) +
         user(of.worker, list(may.worker_says), list(may.worker_hears)) + "  ]\n}\n";
}

}  // namespace levada
