// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/parameter_map.hpp: a source of parameters in memory, for those that come from no file.

#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/detail/storage.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/parameters.hpp>
#include <levada/graph/detail/renamed.hpp>

namespace levada {

/// Parameters held in memory: `map.set("conv1.weight", tensor)`.
class parameter_map {
 public:
  /// Stores a copy under `name`, in place of an earlier one.
  template <class T, std::size_t... Dims>
  void set(std::string name, const tensor<T, Dims...>& values) {
    set(std::move(name), element_of<T>, shape_of<tensor<T, Dims...>>, values.data());
  }
  void set(std::string name, element type, const shape& extents, const void* data) {
    std::size_t bytes = size_of(type);
    for (const std::size_t extent : extents) bytes = detail::bytes_of(extent, bytes);
    entry e{type, extents, std::vector<std::byte>(bytes)};
    std::memcpy(e.bytes.data(), data, e.bytes.size());
    entries_.insert_or_assign(std::move(name), std::move(e));
  }

  std::optional<stored_tensor> find(std::string_view name) const {
    const auto at = entries_.find(name);
    if (at == entries_.end()) return std::nullopt;
    return stored_tensor{at->second.type, at->second.extents, at->second.bytes.data()};
  }

  /// The names of all, sorted.
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> all;
    for (const auto& [name, stored] : entries_) all.push_back(name);
    return all;
  }

 private:
  struct entry {
    element type;
    shape extents;
    std::vector<std::byte> bytes;
  };
  std::map<std::string, entry, std::less<>> entries_;
};

}  // namespace levada
