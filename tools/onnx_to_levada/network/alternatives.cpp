// SPDX-License-Identifier: Apache-2.0
#include "alternatives.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <type_traits>

#include "../model/error.hpp"
#include "../output/names.hpp"

namespace levada::onnx {
namespace {

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// "w160" of W, "x_2_160" of x.2, "x_1x3x160x160" of all of an input's.
std::string space_of(const std::string& key, const extents& numbers) {
  std::string space = identifier(key);
  std::ranges::transform(space, space.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (numbers.size() > 1 || (space.back() >= '0' && space.back() <= '9')) space += '_';
  for (std::size_t i = 0; i < numbers.size(); ++i) space += (i == 0 ? "" : "x") + std::to_string(numbers[i]);
  return space;
}

}  // namespace

std::pair<std::string, std::string> key_and_value(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw conversion_error("\"" + text + "\" is no NAME=VALUE");
  return {text.substr(0, at), text.substr(at + 1)};
}

template <class T>
std::vector<T> numbers_of(const std::string& text, char separator) {
  std::vector<T> numbers;
  for (const std::string& one : parts_of(text, separator)) {
    std::size_t read = 0;
    try {
      if constexpr (std::is_integral_v<T>)
        numbers.push_back(std::stoll(one, &read));
      else
        numbers.push_back(std::stod(one, &read));
    } catch (const std::exception&) {
      read = 0;
    }
    if (read == 0 || read != one.size()) throw conversion_error("\"" + one + "\" of \"" + text + "\" is no number");
  }
  return numbers;
}
template std::vector<double> numbers_of(const std::string&, char);
template std::vector<std::int64_t> numbers_of(const std::string&, char);

std::vector<alternative> alternatives_of(const std::vector<std::string>& texts) {
  std::vector<alternative> all{{}};
  for (const std::string& text : texts) {
    const auto [key, value] = key_and_value(text);
    const std::vector<std::string> choices = parts_of(value, '|');
    if (all.size() * choices.size() > most_alternatives)
      throw conversion_error("--dims give more than " + std::to_string(most_alternatives) + " graphs");
    std::vector<alternative> next;
    for (const alternative& before : all)
      for (const std::string& choice : choices) {
        alternative one = before;
        const extents numbers = numbers_of<std::int64_t>(choice, choice.find('x') != std::string::npos ? 'x' : ',');
        one.dims[key] = numbers;
        if (choices.size() > 1) {
          one.space += (one.space.empty() ? "" : "_") + space_of(key, numbers);
          one.said += (one.said.empty() ? "" : " ") + key + "=" + choice;
          const auto is_same = [&](const alternative& other) { return other.space == one.space; };
          if (std::ranges::any_of(next, is_same))
            throw conversion_error("\"" + text + "\" gives two graphs with the name " + one.space);
        }
        next.push_back(std::move(one));
      }
    all = std::move(next);
  }
  return all;
}

}  // namespace levada::onnx
