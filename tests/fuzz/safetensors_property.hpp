// SPDX-License-Identifier: Apache-2.0
#pragma once
// fuzz/safetensors_property.hpp: what must hold for any bytes at all given to the safetensors reader.

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>

#include <levada/interop/safetensors.hpp>

namespace levada_test {

/// Reads `bytes` as a safetensors file: true when they were accepted, false when refused by a `levada::error`. Every
/// other exception gets out; so does std::logic_error when an accepted file gives a tensor that is not wholly inside
/// `bytes`, or tensors that together exceed them. Touches every byte of data, for the address sanitizer.
inline bool accepts_safetensors(std::span<const std::byte> bytes) {
  try {
    const auto file = levada::safetensors::from_bytes(bytes);
    std::size_t total = 0;
    volatile unsigned sum = 0;
    const std::byte* const end = bytes.data() + bytes.size();
    for (const std::string_view name : file.names()) {
      const auto tensor = file.find(name);
      if (!tensor) throw std::logic_error("a name that is listed is not found");
      const std::size_t size = tensor->extents.elements() * levada::size_of(tensor->type);
      const auto* const data = static_cast<const std::byte*>(tensor->data);
      if (data < bytes.data() + 8 || data > end || size > static_cast<std::size_t>(end - data))
        throw std::logic_error("a tensor is not inside the file");
      for (std::size_t i = 0; i < size; ++i) sum = sum + static_cast<unsigned>(data[i]);
      total += size;
    }
    if (total + 8 > bytes.size()) throw std::logic_error("the tensors are larger than the file");
    return true;
  } catch (const levada::error&) {
    return false;
  }
}

}  // namespace levada_test
