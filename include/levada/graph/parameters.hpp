// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/parameters.hpp: the weights of ops, found by name when a pipeline is deployed. Where they come from (a safetensors
// file, memory) is a source; an op only says which names and shapes it needs.

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <levada/core/shape.hpp>

namespace levada {

/// A named tensor as a source holds it: dense, row-major, little-endian, not necessarily aligned.
struct stored_tensor {
  element type = element::other;
  shape extents;
  const void* data = nullptr;
};

/// Where parameters come from: finds a stored tensor by its whole name ("conv1.weight").
template <class T>
concept parameter_source = requires(const T& source, std::string_view name) {
  { source.find(name) } -> std::same_as<std::optional<stored_tensor>>;
};

/// One parameter that an op needs for a given input: the last part of its name, its element type and its shape.
struct parameter_info {
  std::string_view name;
  element type = element::f32;
  shape extents;
};

/// The parameters of a run of ops in order, as a kernel gets them at start-up: aligned to 64 bytes, of the types and shapes
/// that the ops asked for, valid only during the kernel's constructor.
class parameter_values {
 public:
  explicit parameter_values(std::span<const void* const> values) : values_(values) {}

  template <class T>
  const T* get(std::size_t index) const {
    return static_cast<const T*>(values_[index]);
  }
  std::size_t size() const { return values_.size(); }

 private:
  std::span<const void* const> values_;
};

/// A source of any type, seen without owning it; it must live until `deploy` has returned.
class parameter_source_ref {
 public:
  parameter_source_ref() = default;
  template <parameter_source Source>
  explicit parameter_source_ref(const Source& source)
      : source_(&source),
        find_([](const void* s, std::string_view name) { return static_cast<const Source*>(s)->find(name); }) {}

  std::optional<stored_tensor> find(std::string_view name) const {
    return find_ != nullptr ? find_(source_, name) : std::nullopt;
  }

 private:
  const void* source_ = nullptr;
  std::optional<stored_tensor> (*find_)(const void*, std::string_view) = nullptr;
};

}  // namespace levada
