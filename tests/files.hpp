// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that tests write and read again.

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

namespace levada::test {

/// A folder that is there as long as this is. Tests run at once in several processes: each has one of its own.
struct temporary_folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("levada_test_" + std::to_string(std::random_device{}()));
  temporary_folder() { std::filesystem::create_directory(path); }
  ~temporary_folder() { std::filesystem::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
};

/// A file of that name in a folder of its own, gone with it. Nothing is there before somebody writes it.
struct temporary_file {
  temporary_folder folder;
  std::string path;
  explicit temporary_file(const char* name) : path(folder.file(name)) {}
};

inline std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace levada::test
