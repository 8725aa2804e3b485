// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"

#include <map>
#include <set>

namespace levada::onnx {

std::string identifier(const std::string& name) {
  constexpr std::size_t longest = 48;
  std::string result;
  // TensorFlow's first output of a node.
  const bool first_output = name.size() > 2 && name.ends_with(":0");
  for (const char c : first_output ? name.substr(0, name.size() - 2) : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain)
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.size() > longest) result = result.substr(result.size() - longest);
  while (!result.empty() && result.front() == '_') result.erase(0, 1);
  if (result.empty() || (result[0] >= '0' && result[0] <= '9')) result = "n" + result;
  return result;
}

std::vector<std::string> short_names(const std::vector<std::string>& names) {
  // The ends of a path, from the shortest on.
  const auto ends = [](const std::string& name) {
    std::vector<std::string> result;
    for (std::size_t at = name.size(); at-- > 0;)
      if (name[at] == '/' && at + 1 < name.size()) result.push_back(name.substr(at + 1));
    result.push_back(name);
    return result;
  };
  std::map<std::string, std::size_t> seen;
  for (const std::string& name : names)
    for (const std::string& end : ends(name)) ++seen[end];
  std::vector<std::string> result;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    std::string chosen = name;
    for (const std::string& end : ends(name))
      if (seen[end] == 1) {
        chosen = end;
        break;
      }
    const std::string base = identifier(chosen);
    std::string unique = base;
    for (int number = 2; !taken.insert(unique).second; ++number) unique = base + "_" + std::to_string(number);
    result.push_back(unique);
  }
  return result;
}

}  // namespace levada::onnx
