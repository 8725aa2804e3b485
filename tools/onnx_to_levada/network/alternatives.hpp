// SPDX-License-Identifier: Apache-2.0
#pragma once
// network/alternatives.hpp: the extents for which a model is converted, each a graph of its own.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../model/constant.hpp"

namespace levada::onnx {

/// "batch=1", "x=1,3,480,640": what stands before the sign, and behind it.
std::pair<std::string, std::string> key_and_value(const std::string& text);

template <class T>
std::vector<T> numbers_of(const std::string& text, char separator);

struct alternative {
  std::map<std::string, extents> dims;  ///< of free axes, as `elaboration_options` has them
  std::string space;                    ///< its namespace, "h480_w640"; empty where there is one graph
  std::string said;                     ///< what differs, "H=480 W=640"
};

/// "W=160|320" is two extents, each with each of those of another text. Throws `conversion_error` where one is no
/// number, stands there twice, or there are more graphs than `most_alternatives`.
std::vector<alternative> alternatives_of(const std::vector<std::string>& texts);

inline constexpr std::size_t most_alternatives = 64;

}  // namespace levada::onnx
