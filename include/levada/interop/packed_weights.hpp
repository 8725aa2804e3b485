// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/packed_weights.hpp: kernels with their packed weights in a file, made while the program is built
// (levada_pack) and mapped when it starts: memory that all deployments and processes share.
//
//   const lv::safetensors weights(resnet18::weights_file);
//   const lv::packed_weights packed(weights, "resnet18.packed");
//   auto app = lv::deploy<box>(resnet18::graph(packed));
//
// The file: a head of `packed_head`, the hash of its table, the table of `packed_entry` in the order of their keys, and
// the kernels, each from the begin of a page on. All numbers are as the processor has them.

#include <sys/mman.h>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/detail/bytes_hash.hpp>
#include <levada/core/detail/log.hpp>
#include <levada/core/detail/version.hpp>
#include <levada/core/detail/whole_file.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/detail/kernel_store.hpp>
#include <levada/graph/detail/parameters.hpp>

namespace levada {

namespace detail {

struct packed_head {
  char name[16];
  std::uint64_t version;  ///< of the library
  std::uint64_t layout;   ///< of kernels
  std::uint64_t count;    ///< entries of the table
};
struct packed_entry {
  std::uint64_t key, at, bytes;
};

/// Changes where a kernel of the same name, method and size packs its weights in another way.
inline constexpr std::uint64_t packed_layout = 6;
inline constexpr std::size_t packed_page = 4096;

constexpr packed_head head_of_packed(std::uint64_t count) {
  return {{"levada kernels"}, LEVADA_VERSION, packed_layout, count};
}
inline std::uint64_t hash_of_table(const packed_head& head, std::span<const packed_entry> table) {
  bytes_hash hash;
  hash.add(std::as_bytes(std::span(&head, 1)));
  hash.add(std::as_bytes(table));
  return hash.value();
}
/// Where the first kernel of a file of so many may begin.
constexpr std::uint64_t end_of_table(std::uint64_t count) {
  return sizeof(packed_head) + sizeof(std::uint64_t) + count * sizeof(packed_entry);
}

/// A file in memory as it is on disk.
class mapped_kernels {
 public:
  /// Throws levada::error with the reason for which the file is of no use.
  explicit mapped_kernels(const std::string& path) {
    const auto fail = [](const std::string& why) { throw error(why); };
    const auto [file, size] = open_regular(path, fail);
    packed_head head;
    if (file.read(&head, sizeof head, 0) != sizeof head) fail("it is too short");
    const packed_head own = head_of_packed(head.count);
    if (std::memcmp(head.name, own.name, sizeof head.name) != 0) fail("it is no file of packed weights");
    if (std::memcmp(&head, &own, sizeof head) != 0) fail("another version of levada made it");
    if (head.count > size / sizeof(packed_entry) || end_of_table(head.count) > size) fail("it is cut off");
    table_.resize(head.count);
    std::uint64_t hash = 0;
    const auto bytes = static_cast<ssize_t>(head.count * sizeof(packed_entry));
    if (file.read(&hash, sizeof hash, sizeof head) != sizeof hash ||
        file.read(table_.data(), table_.size() * sizeof(packed_entry), sizeof head + sizeof hash) != bytes)
      fail("it is cut off");
    if (hash != hash_of_table(head, table_)) fail("it is damaged");
    for (const packed_entry& e : table_)
      if (e.at % packed_page != 0 || e.at > size || e.bytes > size - e.at) fail("it is cut off");
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) fail(system_text(errno));
    memory_ = {static_cast<const std::byte*>(at), size};
  }
  mapped_kernels(const mapped_kernels&) = delete;
  mapped_kernels& operator=(const mapped_kernels&) = delete;
  ~mapped_kernels() { ::munmap(const_cast<std::byte*>(memory_.data()), memory_.size()); }

  const std::byte* find(const stored_kernel& wanted) const {
    const auto e = std::ranges::lower_bound(table_, wanted.key, {}, &packed_entry::key);
    return e != table_.end() && e->key == wanted.key && e->bytes == wanted.bytes ? memory_.data() + e->at : nullptr;
  }
  std::size_t size() const { return table_.size(); }

 private:
  std::vector<packed_entry> table_;
  std::span<const std::byte> memory_;
};

/// The kernels of a file, and those that are not in it.
class packed_kernels final : public kernel_store {
 public:
  explicit packed_kernels(std::string path) : path_(std::move(path)) {
    try {
      file_ = std::make_shared<mapped_kernels>(path_);
    } catch (const error& e) {
      why_ = e.what();
    }
  }

  std::shared_ptr<const void> find(const stored_kernel& wanted) override {
    const std::lock_guard lock(mutex_);
    const auto known = kernels_.find(wanted.key);
    if (known != kernels_.end()) return known->second.bytes == wanted.bytes ? known->second.kernel : nullptr;
    const std::byte* const at = file_ != nullptr ? file_->find(wanted) : nullptr;
    if (at == nullptr || wanted.alignment > packed_page) return nullptr;
    return kernels_.emplace(wanted.key, known_kernel{wanted.bytes, {file_, at}}).first->second.kernel;
  }
  void keep(const stored_kernel& made, std::shared_ptr<const void> kernel, std::string_view stage) override {
    const std::lock_guard lock(mutex_);
    kernels_.insert_or_assign(made.key, known_kernel{made.bytes, std::move(kernel)});
    if (made_++ == 0 && is_logged())
      log(log_level::warning, "packed weights \"" + path_ + "\": " +
                                  (why_.empty() ? "the kernel of stage \"" + std::string(stage) +
                                                      "\" is not in it, for its weights and this instruction set"
                                                : why_) +
                                  ": weights are packed again");
  }

  std::size_t made() const {
    const std::lock_guard lock(mutex_);
    return made_;
  }

  void save() {
    const std::lock_guard lock(mutex_);
    if (made_ == 0 && file_ != nullptr && file_->size() == kernels_.size()) return;
    const packed_head head = head_of_packed(kernels_.size());
    std::vector<packed_entry> table;
    std::uint64_t end = end_of_table(kernels_.size());
    for (const auto& [key, known] : kernels_) {
      const std::uint64_t at = (end + packed_page - 1) / packed_page * packed_page;
      table.push_back({key, at, known.bytes});
      end = at + known.bytes;
    }
    std::string text(end, '\0');
    const std::uint64_t hash = hash_of_table(head, table);
    const auto put = [&](std::uint64_t at, const void* from, std::size_t bytes) {
      if (bytes != 0) std::memcpy(text.data() + at, from, bytes);
    };
    put(0, &head, sizeof head);
    put(sizeof head, &hash, sizeof hash);
    put(sizeof head + sizeof hash, table.data(), table.size() * sizeof(packed_entry));
    auto entry = table.begin();
    for (const auto& [key, known] : kernels_) put(entry++->at, known.kernel.get(), known.bytes);
    write_whole(path_, text, "packed_weights");
  }

 private:
  struct known_kernel {
    std::size_t bytes;
    std::shared_ptr<const void> kernel;
  };

  std::string path_, why_;  // why the file is of no use
  std::shared_ptr<const mapped_kernels> file_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, known_kernel> kernels_;  // that were asked for
  std::size_t made_ = 0;
};

}  // namespace detail

/// The parameters of `Source`, and a file of kernels that were made of them before. `deploy` takes from the file each
/// kernel of `simd` whose ops, weights, instruction set and version are those that it was made of, and packs the
/// weights of the others again; the first of these is a warning in the log (`log_to`). A file that is missing, of
/// another version, or damaged in its table has none.
///
/// The kernels are mapped, read only: processes share them, and so do deployments. All that are asked for are kept as
/// long as this object is there. The file may be replaced meanwhile, by `save()` too, and is not to be written into.
/// Compilers spell types differently: g++ and clang make different files.
template <parameter_source Source>
class packed_weights {
 public:
  /// `weights` must outlive it.
  packed_weights(const Source& weights, const std::filesystem::path& file)
      : weights_(&weights), kernels_(std::make_unique<detail::packed_kernels>(file.string())) {}
  packed_weights(const Source&&, const std::filesystem::path&) = delete;

  std::optional<stored_tensor> find(std::string_view name) const { return weights_->find(name); }
  std::string stored_name(std::string_view name) const { return parameter_source_ref(*weights_).stored_name(name); }
  auto names() const
    requires requires(const Source& source) { source.names(); }
  {
    return weights_->names();
  }
  const auto& metadata() const
    requires requires(const Source& source) { source.metadata(); }
  {
    return weights_->metadata();
  }
  detail::kernel_store* kernels() const { return kernels_.get(); }

  /// How many kernels were asked for that the file did not have.
  std::size_t packed_again() const { return kernels_->made(); }

  /// Puts a file of all kernels that were asked for in the place of the old one, which is whole at any moment; does
  /// nothing where the old one has these and no others. Throws levada::error where it cannot be written.
  void save() const { kernels_->save(); }

 private:
  const Source* weights_;
  std::unique_ptr<detail::packed_kernels> kernels_;
};

}  // namespace levada
