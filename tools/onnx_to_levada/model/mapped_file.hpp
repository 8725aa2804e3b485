// SPDX-License-Identifier: Apache-2.0
#pragma once
// model/mapped_file.hpp: the bytes of a file, mapped for as long as anything refers to them.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>

#include "error.hpp"

namespace levada::onnx {

class mapped_file {
 public:
  explicit mapped_file(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (descriptor < 0 || ::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
      const std::string reason = descriptor < 0 ? std::strerror(errno) : "it is no file";
      if (descriptor >= 0) ::close(descriptor);
      throw conversion_error(file.string() + ": " + reason);
    }
    size_ = static_cast<std::size_t>(status.st_size);
    void* data = size_ == 0 ? nullptr : ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    ::close(descriptor);
    if (data == MAP_FAILED) throw conversion_error(file.string() + ": " + std::strerror(errno));
    data_ = std::shared_ptr<const std::byte>(static_cast<const std::byte*>(data), [size = size_](const std::byte* p) {
      if (p != nullptr) ::munmap(const_cast<std::byte*>(p), size);
    });
  }

  std::size_t size() const { return size_; }
  /// The bytes from `offset` on; they keep the file mapped.
  std::shared_ptr<const std::byte> at(std::size_t offset) const { return {data_, data_.get() + offset}; }

 private:
  std::shared_ptr<const std::byte> data_;
  std::size_t size_ = 0;
};

}  // namespace levada::onnx
