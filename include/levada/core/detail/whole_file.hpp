// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/whole_file.hpp: files that are written and read as a whole, by POSIX. Who reads a file that is written so
// finds the old one or the new one, whatever happens meanwhile: a full disk, an exception, a kill, which alone leaves a
// `.part` beside it.

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <levada/core/error.hpp>

namespace levada::detail {

/// The system's message for its error.
inline std::string system_text(int code) { return std::generic_category().message(code); }

/// A descriptor, closed where it goes.
class open_file {
 public:
  explicit open_file(int descriptor = -1) : descriptor_(descriptor) {}
  open_file(open_file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  open_file& operator=(open_file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~open_file() { static_cast<void>(close()); }

  /// errno says why where it is not open.
  static open_file at(const std::string& path, int flags, mode_t mode = 0) {
    int descriptor;
    do descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    while (descriptor < 0 && errno == EINTR);
    return open_file(descriptor);
  }

  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  /// Whether all that was written is taken; errno says why not.
  bool close() {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || ::close(descriptor) == 0 || errno == EINTR;  // Linux closes it all the same
  }
  bool write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t done = ::write(descriptor_, text.data(), text.size());
      if (done > 0)
        text.remove_prefix(static_cast<std::size_t>(done));
      else if (done == 0)
        return errno = ENOSPC, false;
      else if (errno != EINTR)
        return false;
    }
    return true;
  }
  /// On the disk, where this kind of file has one.
  bool sync() const {
    int done;
    do done = ::fsync(descriptor_);
    while (done != 0 && errno == EINTR);
    return done == 0 || errno == EINVAL || errno == ENOTSUP;
  }
  /// How many bytes from `at` on there were, at most `count`; -1 and errno.
  ssize_t read(void* to, std::size_t count, std::size_t at) const {
    std::size_t done = 0;
    while (done < count) {
      const ssize_t n =
          ::pread(descriptor_, static_cast<char*>(to) + done, count - done, static_cast<off_t>(at + done));
      if (n == 0) break;
      if (n > 0)
        done += static_cast<std::size_t>(n);
      else if (errno != EINTR)
        return -1;
    }
    return static_cast<ssize_t>(done);
  }

 private:
  int descriptor_;
};

/// A regular file to read, and how long it is: neither a folder nor a pipe is waited for. `fail(why)` throws.
template <class Fail>
std::pair<open_file, std::size_t> open_regular(const std::string& path, Fail fail) {
  open_file file = open_file::at(path, O_RDONLY | O_NONBLOCK);
  struct stat is;
  if (!file || ::fstat(file.get(), &is) != 0) fail(system_text(errno));
  if (S_ISDIR(is.st_mode)) fail(system_text(EISDIR));
  if (!S_ISREG(is.st_mode)) fail(std::string("is no regular file"));
  return {std::move(file), static_cast<std::size_t>(is.st_size)};
}

/// The content of a regular file of at most `largest` bytes. Throws levada::error that names `who` reads and the file.
inline std::string read_whole(const std::string& path, std::size_t largest, std::string_view who) {
  const auto fail = [&](const std::string& why) {
    throw error("levada: " + std::string(who) + ": cannot read \"" + path + "\": " + why);
  };
  const auto [file, size] = open_regular(path, fail);
  const auto check = [&](std::size_t bytes) {
    if (bytes > largest)
      fail("has " + std::to_string(bytes) + " bytes; at most " + std::to_string(largest) + " are accepted");
  };
  check(size);
  std::string text(size, '\0');
  const ssize_t bytes = file.read(text.data(), size, 0);
  if (bytes < 0) fail(system_text(errno));
  text.resize(static_cast<std::size_t>(bytes));
  return text;
}

/// Another file in the same folder, gone with this unless it took the old one's place.
class file_part {
 public:
  /// Not open where none can be made; errno says why.
  explicit file_part(const std::string& path) {
    static std::atomic<unsigned> count{0};
    const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
    const std::string stem = path.substr(0, name) + path.substr(name, 200) + "." + std::to_string(::getpid()) + "-";
    do {
      name_ = stem + std::to_string(count++) + ".part";
      file = open_file::at(name_, O_WRONLY | O_CREAT | O_EXCL, 0666);
    } while (!file && errno == EEXIST);
    is_there_ = static_cast<bool>(file);
  }
  file_part(const file_part&) = delete;
  file_part& operator=(const file_part&) = delete;
  ~file_part() {
    if (is_there_) ::unlink(name_.c_str());
  }

  bool replace(const std::string& path) {
    if (std::rename(name_.c_str(), path.c_str()) != 0) return false;
    is_there_ = false;
    return true;
  }

  open_file file;

 private:
  std::string name_;
  bool is_there_ = false;
};

/// Whether the text became what is at `path`; errno says why not, and what was there is there. A link is followed, and
/// what is no regular file, as /dev/stdout, is written into.
inline bool written_whole(const std::string& path, std::string_view text) {
  struct stat old;
  std::string at = path;
  const bool is_there = ::stat(path.c_str(), &old) == 0;
  if (is_there && !S_ISREG(old.st_mode)) {
    open_file to = open_file::at(path, O_WRONLY);
    return to && to.write(text) && to.close();
  }
  if (is_there) {
    if (::access(path.c_str(), W_OK) != 0) return false;
    const std::unique_ptr<char, void (*)(void*)> target(::realpath(path.c_str(), nullptr), ::free);
    if (target) at = target.get();
  }
  file_part part(at);
  if (!part.file || (is_there && ::fchmod(part.file.get(), old.st_mode & 0777) != 0)) return false;
  return part.file.write(text) && part.file.sync() && part.file.close() && part.replace(at);
}

/// Puts a file with this text in the place of the one at `path`, which is whole at any moment. Throws levada::error
/// that names `who` writes and the file; then the old one is as it was, and nothing is beside it.
inline void write_whole(const std::string& path, std::string_view text, std::string_view who) {
  if (!written_whole(path, text)) {
    const int code = errno;
    throw error("levada: " + std::string(who) + ": cannot write \"" + path + "\": " + system_text(code));
  }
}

}  // namespace levada::detail
