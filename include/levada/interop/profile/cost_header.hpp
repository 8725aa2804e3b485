// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/cost_header.hpp: a header of measured costs: read where there is one, written after each measurement, so that a run
// that is interrupted goes on where it was.

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/plan/cost.hpp>

namespace levada::detail {

/// The costs that a header has, by backend and signature.
class cost_header {
 public:
  /// What a header at `path` has, if it was measured on `machine`; else it begins empty.
  cost_header(std::string path, std::string machine) : path_(std::move(path)), machine_(std::move(machine)) { read(); }

  const cost* find(std::string_view backend, std::string_view signature) const {
    const auto at = kernels_.find({std::string(backend), std::string(signature)});
    return at == kernels_.end() ? nullptr : &at->second;
  }
  void set(std::string_view backend, std::string_view signature, const cost& c) {
    kernels_[{std::string(backend), std::string(signature)}] = c;
  }
  /// Of a backend: what is estimated by where nobody measured.
  void set(const roofline& line) { rooflines_[std::string(line.backend)] = line; }
  bool has_roofline(std::string_view backend) const { return rooflines_.contains(std::string(backend)); }
  double flops_per_second(std::string_view backend) const {
    return rooflines_.at(std::string(backend)).flops_per_second;
  }

  std::size_t size() const { return kernels_.size(); }
  /// The path was there, but measured on another machine or by another compiler.
  const std::string& stale_machine() const { return stale_; }

  /// Writes another file and puts it in the old one's place, which is whole at any moment.
  void write() const {
    const std::string part = path_ + ".part";
    {
      std::ofstream to(part);
      to << text();
      if (!to.flush()) throw error("levada: cannot write \"" + part + "\"");
    }
    std::error_code failed;
    std::filesystem::rename(part, path_, failed);
    if (failed) throw error("levada: cannot write \"" + path_ + "\": " + failed.message());
  }

  /// "box.costs.hpp" has the table box_costs.
  std::string table_name() const {
    std::string name = std::filesystem::path(path_).filename().string();
    name = name.substr(0, name.find('.'));
    for (char& c : name)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "_" + name : name) + "_costs";
  }

 private:
  static std::string number(double x) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.4g", x);
    return digits;
  }

  std::string text() const {
    const std::string name = table_name();
    std::string t =
        "// What kernels take, measured by levada::profile. What is not among the kernels is estimated by the "
        "rooflines.\n"
        "#pragma once\n\n#include <levada/plan/cost_table.hpp>\n\n// clang-format off\n";
    if (!kernels_.empty()) {
      t += "inline constexpr levada::kernel_cost " + name + "_kernels[] = {\n";
      for (const auto& [key, c] : kernels_)
        t += "    {\"" + key.first + "\", \"" + key.second + "\", " + number(c.seconds) + ", " + number(c.spread) +
             "},\n";
      t += "};\n";
    }
    if (!rooflines_.empty()) {
      t += "inline constexpr levada::roofline " + name + "_rooflines[] = {\n";
      for (const auto& [backend, r] : rooflines_)
        t += "    {\"" + backend + "\", " + number(r.flops_per_second) + ", " + number(r.bytes_per_second) + ", " +
             number(r.launch_seconds) + "},\n";
      t += "};\n";
    }
    t += "inline constexpr levada::cost_table " + name + "{.machine = \"" + machine_ + "\"";
    if (!kernels_.empty()) t += ", .kernels = " + name + "_kernels";
    if (!rooflines_.empty()) t += ", .rooflines = " + name + "_rooflines";
    return t + "};\n";
  }

  /// The texts in quotes of a line, and the numbers behind them.
  static std::pair<std::vector<std::string>, std::vector<double>> parts_of(const std::string& line) {
    std::pair<std::vector<std::string>, std::vector<double>> parts;
    std::size_t at = 0;
    for (std::size_t end; (at = line.find('"', at)) != std::string::npos; at = end + 1) {
      end = line.find('"', at + 1);
      if (end == std::string::npos) return {};
      parts.first.push_back(line.substr(at + 1, end - at - 1));
    }
    if (parts.first.empty()) return {};
    std::string numbers = line.substr(line.rfind('"') + 1);
    for (char& c : numbers)
      if (c == ',' || c == '}' || c == ';') c = ' ';
    const char* from = numbers.c_str();
    for (char* behind = nullptr;; from = behind) {
      const double x = std::strtod(from, &behind);
      if (behind == from) return parts;
      parts.second.push_back(x);
    }
  }

  void read() {
    std::ifstream from(path_);
    decltype(kernels_) kernels;
    std::string line, of;
    while (std::getline(from, line)) {
      if (line.find("cost_table ") != std::string::npos) {
        const auto texts = parts_of(line).first;
        of = texts.empty() ? "" : texts[0];
      } else if (line.starts_with("    {\"")) {
        const auto [texts, numbers] = parts_of(line);
        if (texts.size() == 2 && numbers.size() == 2)
          kernels[{texts[0], texts[1]}] = cost::measured(numbers[0], numbers[1]);
      }
    }
    if (of == machine_)
      kernels_ = std::move(kernels);
    else
      stale_ = of;
  }

  std::string path_, machine_, stale_;
  std::map<std::pair<std::string, std::string>, cost> kernels_;
  std::map<std::string, roofline> rooflines_;
};

}  // namespace levada::detail
