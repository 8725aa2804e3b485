// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/keyed_names.hpp: what a fleet with partitions is called at its servers. The number of partitions is in
// the names: another number spreads the keys in another way.

#include <cstddef>
#include <string>
#include <string_view>

#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/stream_names.hpp>
#include <levada/plan/detail/text.hpp>

namespace levada::detail {

struct keyed_names : session_names {
  keyed_names(std::string_view fleet, std::size_t partitions)
      : session_names(fleet, partitions),
        prefix(written_text([&](std::string& to) { append_fleet(to, '.', fleet, partitions); })),
        stream(written_text([&](std::string& to) { append_fleet(to, '-', fleet, partitions); })),
        inputs_stream(
            written_text([&](std::string& to) { append_stream(to, detail::inputs_stream, fleet, partitions); })),
        all_inputs(
            written_text([&](std::string& to) { append_subject(to, detail::inputs_stream, fleet, partitions); })),
        all_chains(prefix + ".chain.>"),
        here(prefix + ".here"),
        leases(written_text([&](std::string& to) { append_stream(to, detail::leases_stream, fleet, partitions); })),
        leases_stream("KV_" + leases) {}

  std::string inputs(std::size_t partition) const { return prefix + ".inputs." + std::to_string(partition); }
  /// Of what came of them.
  std::string chain_stream(std::size_t partition) const { return stream + "-chain-" + std::to_string(partition); }
  std::string all_of_chain(std::size_t partition) const { return chain(partition, "*"); }
  std::string outcomes(std::size_t partition) const { return chain(partition, "outcomes"); }
  std::string marks(std::size_t partition) const { return chain(partition, "mark"); }
  std::string states(std::size_t partition) const { return chain(partition, "state"); }
  /// Of the workers' lease of a partition.
  static std::string key(std::size_t partition) { return "partition." + std::to_string(partition); }
  static constexpr const char* driver_key = "driver";

  std::string prefix, stream, inputs_stream, all_inputs, all_chains;
  std::string here;  ///< where workers say that they are there
  std::string leases, leases_stream;

 private:
  std::string chain(std::size_t partition, const char* what) const {
    return prefix + ".chain." + std::to_string(partition) + "." + what;
  }
};

}  // namespace levada::detail
