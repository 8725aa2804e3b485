// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/parameters.hpp: the weights of ops, found by name when a pipeline is deployed. Where they come from (a
// safetensors file, memory) is a source; an op only says which names and shapes it needs.

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <levada/core/detail/shape.hpp>

namespace levada {
namespace detail {
class kernel_store;
}

/// A named tensor as a source holds it: dense, row-major, little-endian, not necessarily aligned.
struct stored_tensor {
  element type = element::other;
  shape extents;
  const void* data = nullptr;
  /// Keeps the data as long as a copy of the tensor is there; null where the source itself keeps it.
  std::shared_ptr<const void> owner = nullptr;
};

/// Where parameters come from: finds a stored tensor by its whole name ("conv1.weight"). A source that has `names()`, a
/// range of what it has, is spelled out where a parameter is missing; one that looks under other names has
/// `stored_name(name)`; one that has kernels which were made before has `kernels()`, a detail::kernel_store*.
template <class T>
concept parameter_source = requires(const T& source, std::string_view name) {
  { source.find(name) } -> std::same_as<std::optional<stored_tensor>>;
};

/// One parameter that an op needs for a given input: the last part of its name, its element type and its shape.
struct parameter_info {
  std::string_view name;
  element type = element::f32;
  shape extents;
  /// What else it may be called where it is stored: PyTorch's name where that is not ONNX's.
  std::string_view other_name = {};
};

/// Of a parameter's address, where a kernel gets it.
inline constexpr std::size_t parameter_alignment = 64;

/// The parameters of a run of ops in order, as a kernel gets them at start-up: aligned, of the types and shapes that
/// the ops asked for, valid only during the kernel's constructor.
class parameter_values {
 public:
  explicit parameter_values(std::span<const void* const> values) : values_(values) {}

  template <class T>
  const T* get(std::size_t index) const {
    return static_cast<const T*>(values_[index]);
  }
  std::size_t size() const { return values_.size(); }
  /// Those of some ops among them.
  template <class = void>
  parameter_values some(std::size_t first, std::size_t count) const {
    return parameter_values(values_.subspan(first, count));
  }

 private:
  std::span<const void* const> values_;
};

/// A source of any type, seen without owning it; it must live until `deploy` has returned.
class parameter_source_ref {
 public:
  parameter_source_ref() = default;
  template <parameter_source Source>
  explicit parameter_source_ref(const Source& source) : source_(&source), calls_(&calls_of<Source>) {}

  std::optional<stored_tensor> find(std::string_view name) const {
    return calls_ != nullptr ? calls_->find(source_, name) : std::nullopt;
  }
  /// The name under which the source looks for that one.
  std::string stored_name(std::string_view name) const {
    return calls_ != nullptr ? calls_->stored_name(source_, name) : std::string(name);
  }
  /// Calls `take(to, name)` with each name that the source has; false where it cannot tell.
  bool each_name(void* to, void (*take)(void* to, std::string_view name)) const {
    return calls_ != nullptr && calls_->each_name(source_, to, take);
  }
  /// Null where the source has none.
  detail::kernel_store* kernels() const { return calls_ != nullptr ? calls_->kernels(source_) : nullptr; }

 private:
  struct calls {
    std::optional<stored_tensor> (*find)(const void*, std::string_view);
    std::string (*stored_name)(const void*, std::string_view);
    bool (*each_name)(const void*, void*, void (*)(void*, std::string_view));
    detail::kernel_store* (*kernels)(const void*);
  };
  template <class Source>
  static constexpr calls calls_of{
      [](const void* s, std::string_view name) { return static_cast<const Source*>(s)->find(name); },
      []([[maybe_unused]] const void* s, std::string_view name) {
        if constexpr (requires(const Source& source) { std::string(source.stored_name(name)); })
          return std::string(static_cast<const Source*>(s)->stored_name(name));
        else
          return std::string(name);
      },
      []([[maybe_unused]] const void* s, [[maybe_unused]] void* to,
         [[maybe_unused]] void (*take)(void*, std::string_view)) {
        if constexpr (requires(const Source& source) { source.names(); }) {
          for (const auto& name : static_cast<const Source*>(s)->names()) take(to, name);
          return true;
        } else {
          return false;
        }
      },
      []([[maybe_unused]] const void* s) -> detail::kernel_store* {
        if constexpr (requires(const Source& source) { source.kernels(); })
          return static_cast<const Source*>(s)->kernels();
        else
          return nullptr;
      }};

  const void* source_ = nullptr;
  const calls* calls_ = nullptr;
};

}  // namespace levada
