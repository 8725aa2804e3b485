// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/collected_parameters.hpp: the parameters of ops from where their stages have them, as kernels are
// given them.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <levada/core/detail/bfloat16.hpp>
#include <levada/core/detail/half.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/op.hpp>
#include <levada/run/detail/program/missing_parameter.hpp>

namespace levada::detail {

/// Whether parameters are only read, or changed in place later.
enum class parameter_use : std::uint8_t { read, changed };

/// The stored parameters of one op under "<stage>.<parameter>", checked and in aligned memory.
template <class = void>
class basic_collected_parameters {
 public:
  explicit basic_collected_parameters(std::size_t count, parameter_use use = parameter_use::read)
      : use_(use), memory_(count), owners_(count), pointers_(count) {}

  /// Throws levada::error naming stage, tensor, and what was found instead.
  void collect(std::string_view stage, const parameter_source_ref& source, const parameter_info& wanted) {
    std::string name = std::string(stage) + "." + std::string(wanted.name);
    std::optional<stored_tensor> found = source.find(name);
    if (!found) {
      std::string other;
      if (!wanted.other_name.empty()) other = std::string(stage) + "." + std::string(wanted.other_name);
      if (!other.empty()) found = source.find(other);
      if (!found) throw error(missing(stage, source, name, other));
      name = std::move(other);
    }
    const std::string place = "levada: stage \"" + std::string(stage) + "\": parameter " + named(source, name);
    if (!widens(found->type, wanted.type))
      throw error(place + " has elements of type " + std::string(name_of(found->type)) + ", not " +
                  std::string(name_of(wanted.type)) +
                  (is_floating(found->type) && is_floating(wanted.type)
                       ? "; nothing is rounded here: convert it where it is stored"
                       : ""));
    if (found->extents != wanted.extents)
      throw error(place + " has shape " + text_of(found->extents) + ", not " + text_of(wanted.extents));
    if (use_ == parameter_use::read && found->type == wanted.type &&
        reinterpret_cast<std::uintptr_t>(found->data) % parameter_alignment == 0) {
      pointers_[collected_] = found->data;
      owners_[collected_++] = std::move(found->owner);
      return;
    }
    const std::size_t count = wanted.extents.elements();
    copy(keep(count * size_of(wanted.type)), wanted.type, static_cast<const std::byte*>(found->data), found->type,
         count);
  }

  /// Memory for the next one.
  std::byte* keep(std::size_t bytes) {
    std::byte* const to = (memory_[collected_] = arena_bytes(bytes, parameter_alignment)).get();
    pointers_[collected_++] = to;
    return to;
  }

  parameter_values values() const { return parameter_values({pointers_.begin(), pointers_.size()}); }
  /// Where the `i`-th is kept, of parameters that are changed.
  void* at(std::size_t i) { return memory_[i].get(); }

 private:
  static constexpr bool is_floating(element e) {
    return e == element::f16 || e == element::bf16 || e == element::f32 || e == element::f64;
  }
  /// Every number of type `from` is one of type `to`: docs/ops.md has the table.
  static constexpr bool widens(element from, element to) {
    const bool narrow = from == element::f16 || from == element::bf16;
    return from == to || (to == element::f32 && narrow) || (to == element::f64 && (narrow || from == element::f32));
  }
  template <class To, class From>
  static void copy_as(std::byte* to, const std::byte* from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      From stored;
      std::memcpy(static_cast<void*>(&stored), from + i * sizeof stored, sizeof stored);
      const To value = static_cast<To>(static_cast<float>(stored));
      std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
  }
  template <class To>
  static void copy_as(std::byte* to, const std::byte* from, element stored, std::size_t count) {
    if (stored == element::f16)
      copy_as<To, half>(to, from, count);
    else if (stored == element::bf16)
      copy_as<To, bfloat16>(to, from, count);
    else
      copy_as<To, float>(to, from, count);
  }
  static void copy(std::byte* to, element wanted, const std::byte* from, element stored, std::size_t count) {
    if (stored == wanted)
      std::memcpy(to, from, count * size_of(wanted));
    else if (wanted == element::f32)
      copy_as<float>(to, from, stored, count);
    else
      copy_as<double>(to, from, stored, count);
  }

  /// A parameter by its name, and where it is looked for if that is elsewhere.
  static std::string named(const parameter_source_ref& source, const std::string& name) {
    const std::string stored = source.stored_name(name);
    return "\"" + name + "\"" + (stored == name ? "" : " (stored as " + quoted_name(stored) + ")");
  }
  static std::string missing(std::string_view stage, const parameter_source_ref& source, const std::string& name,
                             const std::string& other) {
    std::string text = "levada: stage \"" + std::string(stage) + "\": parameter " + named(source, name);
    if (!other.empty()) text += ", or " + named(source, other) + ",";
    const std::string stored = source.stored_name(name);
    const std::string stored_other = other.empty() ? other : source.stored_name(other);
    return text + " is missing from its source" +
           names_of_source(source, stored, stored_other.empty() ? stored : stored_other).text();
  }
  static std::string text_of(const shape& extents) {
    std::string text = "[";
    for (std::size_t i = 0; i < extents.rank; ++i) text += (i != 0 ? ", " : "") + std::to_string(extents[i]);
    return text + "]";
  }

  parameter_use use_;
  fixed_array<arena_bytes> memory_;
  fixed_array<std::shared_ptr<const void>> owners_;  ///< of what the source gave away
  fixed_array<const void*> pointers_;
  std::size_t collected_ = 0;
};
using collected_parameters = basic_collected_parameters<>;

}  // namespace levada::detail
