// SPDX-License-Identifier: Apache-2.0
#include "safetensors.hpp"

#include <cstdint>
#include <fstream>

namespace levada::onnx {

void write_safetensors(const std::filesystem::path& file, const std::map<std::string, constant>& weights,
                       const std::map<std::string, std::string>& metadata) {
  // Names are identifiers and hashes: nothing in them has to be escaped.
  std::string header = "{\"__metadata__\":{";
  for (const auto& [key, text] : metadata)
    header += (header.back() == '{' ? "\"" : ",\"") + key + "\":\"" + text + "\"";
  header += "}";
  std::uint64_t at = 0;
  for (const auto& [name, known] : weights) {
    const element_names* names = names_of(known.type());
    if (names == nullptr) throw conversion_error("weights of a type that safetensors lacks");
    header += ",\"" + name + "\":{\"dtype\":\"" + std::string(names->safetensors) + "\",\"shape\":[";
    for (std::size_t axis = 0; axis < known.dims().size(); ++axis)
      header += (axis == 0 ? "" : ",") + std::to_string(known.dims()[axis]);
    header += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + known.bytes().size()) + "]}";
    at += known.bytes().size();
  }
  header += "}";
  while ((header.size() + 8) % 64 != 0) header += ' ';
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  const std::uint64_t size = header.size();
  out.write(reinterpret_cast<const char*>(&size), sizeof size);
  out << header;
  for (const auto& [name, known] : weights)
    out.write(reinterpret_cast<const char*>(known.bytes().data()), static_cast<std::streamsize>(known.bytes().size()));
  if (!out.flush()) throw conversion_error(file.string() + " cannot be written");
}

}  // namespace levada::onnx
