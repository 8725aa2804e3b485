// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/header_file.hpp: headers that a program writes and is compiled with the next time.

#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <levada/core/error.hpp>

namespace levada::detail {

/// The constant that a header has: "box_scales" of "some/box.scales.hpp" and "_scales".
inline std::string constant_of_header(const std::string& path, std::string_view ending) {
  std::string name = std::filesystem::path(path).filename().string();
  name = name.substr(0, name.find('.'));
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "_" + name : name) +
         std::string(ending);
}

/// Writes another file and puts it in the old one's place, which is whole at any moment.
inline void write_whole(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  {
    std::ofstream to(part, std::ios::binary);
    to << text;
    if (!to.flush()) throw error("levada: cannot write \"" + part + "\"");
  }
  std::error_code failed;
  std::filesystem::rename(part, path, failed);
  if (failed) throw error("levada: cannot write \"" + path + "\": " + failed.message());
}

}  // namespace levada::detail
