// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/model.hpp: what a service says of its pipeline, and how it refuses a request.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/service/detail/item_tensors.hpp>

namespace levada::detail {

/// The status codes of gRPC that a service uses, by their numbers.
enum class status_code : std::uint8_t {
  ok = 0,
  cancelled = 1,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  resource_exhausted = 8,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
};

/// Thrown where a request is not worked on.
struct refusal {
  status_code code = status_code::invalid_argument;
  std::string why;
};

/// A pipeline as clients see it.
struct served_model {
  std::string name, version;
  std::vector<item_tensor> inputs, outputs;
  bool keeps_state = false;
  std::size_t most_items = 1;  ///< of a request

  /// Throws refusal where that is another model, or another version of it; an empty version is any.
  void check(std::string_view asked_name, std::string_view asked_version) const {
    if (asked_name != name)
      throw refusal{status_code::not_found,
                    "no model \"" + std::string(asked_name) + "\" is here: this is \"" + name + "\""};
    if (!asked_version.empty() && asked_version != version)
      throw refusal{status_code::not_found, "model \"" + name + "\" has no version " + std::string(asked_version) +
                                                ": this is version " + version};
  }
};

/// A shape behind the axis of items, as in messages: "[-1,3,4]".
inline std::string text_of_shape(const item_tensor& tensor) {
  std::string text = "[-1";
  for (std::size_t i = 0; i < tensor.extents.rank; ++i) text += ',' + std::to_string(tensor.extents.extents[i]);
  return text += ']';
}

}  // namespace levada::detail
