// SPDX-License-Identifier: Apache-2.0
// The recogniser: how likely each of 6,625 characters is at each place of a line, and the text that follows
// (connectionist temporal classification: the likeliest of each place, repetitions once, without blanks).

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <levada/levada.hpp>
#include <page_text.onnx.hpp>

#include "parts.hpp"

namespace read_page {
namespace {

using likely = page_text::softmax_11_tmp_0_result;

/// Characters by their numbers: 0 is the blank, the last one a space.
struct text_of {
  std::vector<std::string> characters;
  std::vector<float>* seen;

  text_of(std::string_view file, std::vector<float>* map) : characters{""}, seen(map) {
    std::ifstream lines{std::filesystem::path(file)};
    for (std::string line; std::getline(lines, line);) characters.push_back(line);
    characters.emplace_back(" ");
    if (characters.size() != likely::extents[1])
      throw levada::error(std::string(file) + " has " + std::to_string(characters.size() - 2) + " characters, not " +
                          std::to_string(likely::extents[1] - 2));
  }

  line_text operator()(const likely& map) const {
    if (seen != nullptr) seen->assign(map.begin(), map.end());
    line_text result;
    std::size_t before = 0, count = 0;
    for (std::size_t place = 0; place < likely::extents[0]; ++place) {
      const float* const row = map.data() + place * likely::extents[1];
      const auto best = static_cast<std::size_t>(std::max_element(row, row + likely::extents[1]) - row);
      const std::string& character = characters[best];
      if (best != 0 && best != before && result.size + character.size() <= result.bytes.size()) {
        std::memcpy(result.bytes.data() + result.size, character.data(), character.size());
        result.size += character.size();
        result.certainty += row[best];
        ++count;
      }
      before = best;
    }
    if (count != 0) result.certainty /= static_cast<float>(count);
    return result;
  }
};

}  // namespace

lv::any_pipeline<line_text(strip)> make_reader(std::string_view keys_file, std::vector<float>* map) {
  const lv::safetensors weights{page_text::weights_file};
  auto read = lv::input<strip> | page_text::graph(weights) | lv::stage<"text">(lv::parallel(text_of(keys_file, map)));
  return lv::deploy<lv::target<lv::cpu<2>>, lv::slots<2>>(std::move(read));
}

}  // namespace read_page
