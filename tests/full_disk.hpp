// SPDX-License-Identifier: Apache-2.0
#pragma once
// A disk that is full.

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>
#include <cerrno>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include "files.hpp"

namespace levada::test {

/// A folder on a small disk of its own.
class small_disk {
 public:
  explicit small_disk(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::string file(const char* name) const { return (folder_ / name).string(); }
  /// From here on there is no byte left.
  void fill() const {
    const int file = ::open((folder_ / "filler").c_str(), O_WRONLY | O_CREAT, 0600);
    const char byte[512]{};
    while (::write(file, byte, sizeof byte) > 0) {
    }
    ::close(file);
  }
  void free() const { std::filesystem::remove(folder_ / "filler"); }
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) all.insert(entry.path().filename().string());
    return all;
  }

 private:
  std::filesystem::path folder_;
};

/// Calls `use(disk)` on a thread that has a tmpfs of `bytes`. Says why not where the rights to mount one are missing,
/// else nothing.
template <class Use>
std::string with_small_disk(const char* bytes, Use use) {
  const temporary_folder at;
  std::string why;
  std::thread([&] {
    const std::string size = std::string("size=") + bytes;
    // What this thread mounts no other sees, and it goes with the thread.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", at.path.c_str(), "tmpfs", 0, size.c_str()) != 0) {
      why = "no small disk can be mounted: " + std::generic_category().message(errno);
      return;
    }
    use(small_disk(at.path));
  }).join();
  return why;
}

}  // namespace levada::test
