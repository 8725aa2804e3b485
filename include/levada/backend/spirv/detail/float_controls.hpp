// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/float_controls.hpp: what a module asks of a device's floats (SPV_KHR_float_controls). Without it
// a driver may take it that no operand is infinite or no number, flush denormals and round as it likes; NVIDIA's does
// the first. Which of it a device has is known when it is opened, so that it is added to the words of a module then.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace levada::detail {

/// What a device can be asked for, of floats of 32 bits.
struct float_controls {
  bool keeps_special_values = false;  ///< signs of zeros, infinities, NaN
  bool keeps_denormals = false;
  bool rounds_to_nearest_even = false;
};

/// The module with all that the device has asked for.
inline std::vector<std::uint32_t> with_float_controls(std::span<const std::uint32_t> module,
                                                      const float_controls& has) {
  constexpr std::uint32_t op_extension = 10, op_entry_point = 15, op_execution_mode = 16, op_capability = 17;
  constexpr std::size_t header = 5;
  struct control {
    bool asked;
    std::uint32_t mode, capability;
  };
  const control controls[] = {{has.keeps_denormals, 4459, 4464},
                              {has.keeps_special_values, 4461, 4466},
                              {has.rounds_to_nearest_even, 4462, 4467}};
  std::size_t behind_capabilities = header, behind_modes = header;
  std::uint32_t entry_point = 0;
  for (std::size_t at = header; at < module.size(); at += module[at] >> 16) {
    const std::uint32_t operation = module[at] & 0xffff;
    const std::size_t end = at + (module[at] >> 16);
    if (operation == op_capability) behind_capabilities = end;
    if (operation == op_entry_point) entry_point = module[at + 2];
    if (operation == op_execution_mode) behind_modes = end;
    if (end == at || (entry_point != 0 && operation != op_entry_point && operation != op_execution_mode)) break;
  }

  std::vector<std::uint32_t> words(module.begin(), module.begin() + static_cast<std::ptrdiff_t>(behind_capabilities));
  bool asks = false;
  for (const control& c : controls)
    if (c.asked) asks = true, words.insert(words.end(), {2u << 16 | op_capability, c.capability});
  if (asks) {
    constexpr char name[] = "SPV_KHR_float_controls";  // 22 characters and the zeros behind them: 6 words
    words.push_back(7u << 16 | op_extension);
    for (std::size_t i = 0; i < 24; i += 4) {
      std::uint32_t word = 0;
      for (std::size_t c = 0; c < 4 && i + c < sizeof name; ++c)
        word |= static_cast<std::uint32_t>(static_cast<unsigned char>(name[i + c])) << 8 * c;
      words.push_back(word);
    }
  }
  words.insert(words.end(), module.begin() + static_cast<std::ptrdiff_t>(behind_capabilities),
               module.begin() + static_cast<std::ptrdiff_t>(behind_modes));
  for (const control& c : controls)
    if (c.asked) words.insert(words.end(), {4u << 16 | op_execution_mode, entry_point, c.mode, 32});
  words.insert(words.end(), module.begin() + static_cast<std::ptrdiff_t>(behind_modes), module.end());
  return words;
}

}  // namespace levada::detail
