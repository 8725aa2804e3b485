// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/cost_header.hpp: a header of measured costs: read where there is one, written after each measurement,
// so that a run that is interrupted goes on where it was.

#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/detail/whole_file.hpp>
#include <levada/interop/header_file.hpp>
#include <levada/plan/cost_table.hpp>

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
    date_ = today();
  }
  /// Of a backend: what is estimated by where nobody measured.
  void set(const roofline& line) { rooflines_[std::string(line.backend)] = line; }

  /// The partition that was measured as a whole for a question: plan/detail/measured_whole.hpp.
  bool has_whole(std::uint64_t question) const { return wholes_.contains(question); }
  void set_whole(std::uint64_t question, std::string plan, const cost& c) { wholes_[question] = {std::move(plan), c}; }
  void set(const transfer_cost& t) {
    date_ = today();
    for (transfer_cost& known : transfers_)
      if (known.from == t.from && known.to == t.to) return static_cast<void>(known = t);
    transfers_.push_back(t);
  }
  /// How much threads slow each other down, by ascending threads.
  void set(std::vector<contention> measured) { contentions_ = std::move(measured); }
  bool has_transfer(device_id from, device_id to) const {
    return std::any_of(transfers_.begin(), transfers_.end(),
                       [&](const transfer_cost& t) { return t.from == from && t.to == to; });
  }

  /// All as a table, which lasts until something is set.
  cost_table table() {
    kernel_rows_.clear(), roofline_rows_.clear();
    for (const auto& [key, c] : kernels_) kernel_rows_.push_back({key.first, key.second, c.seconds, c.spread, c.p95});
    for (const auto& [backend, line] : rooflines_) {
      roofline_rows_.push_back(line);
      roofline_rows_.back().backend = backend;
    }
    return {machine_, kernel_rows_, transfers_, roofline_rows_, {}, date_, contentions_};
  }

  std::size_t size() const { return kernels_.size(); }
  /// The path was there, but measured on another machine or by another compiler.
  const std::string& stale_machine() const { return stale_; }

  /// Writes another file and puts it in the old one's place, which is whole at any moment.
  void write() const { write_whole(path_, text(), "profile"); }

  /// "box.costs.hpp" has the table box_costs.
  std::string table_name() const { return constant_of_header(path_, "_costs"); }

 private:
  static std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return text;
  }
  static std::string number(double x) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.4g", x);
    return digits;
  }

  std::string text() const {
    const std::string name = table_name();
    std::string t =
        "// Measured by levada::profile: what kernels, ways between devices and whole plans take. Other kernels are "
        "estimated by the rooflines.\n"
        "#pragma once\n\n#include <levada/plan/cost_table.hpp>\n\n// clang-format off\n";
    if (!kernels_.empty()) {
      t += "inline constexpr levada::kernel_cost " + name + "_kernels[] = {\n";
      for (const auto& [key, c] : kernels_)
        t += "    {\"" + key.first + "\", \"" + literal_text(key.second) + "\", " + number(c.seconds) + ", " +
             number(c.spread) + (c.p95 > 0 ? ", " + number(c.p95) : "") + "},\n";
      t += "};\n";
    }
    if (!rooflines_.empty()) {
      t += "inline constexpr levada::roofline " + name + "_rooflines[] = {\n";
      for (const auto& [backend, r] : rooflines_)
        t += "    {\"" + backend + "\", " + number(r.flops_per_second) + ", " + number(r.bytes_per_second) + ", " +
             number(r.launch_seconds) + "},\n";
      t += "};\n";
    }
    if (!transfers_.empty()) {
      t += "inline constexpr levada::transfer_cost " + name + "_transfers[] = {\n";
      for (const transfer_cost& r : transfers_)
        t += "    {" + device(r.from) + ", " + device(r.to) + ", " + number(r.seconds) + ", " +
             number(r.seconds_per_byte) + "},\n";
      t += "};\n";
    }
    if (!wholes_.empty()) {
      t += "inline constexpr levada::whole_cost " + name + "_wholes[] = {\n";
      for (const auto& [question, w] : wholes_)
        t += "    {" + std::to_string(question) + "u, \"" + literal_text(w.first) + "\", " + number(w.second.seconds) +
             ", " + number(w.second.spread) + "},\n";
      t += "};\n";
    }
    if (!contentions_.empty()) {
      t += "inline constexpr levada::contention " + name + "_contentions[] = {\n";
      for (const contention& c : contentions_)
        t += "    {" + std::to_string(c.threads) + ", " + number(c.slowdown) + "},\n";
      t += "};\n";
    }
    t += "inline constexpr levada::cost_table " + name + "{.machine = \"" + literal_text(machine_) + "\"";
    if (!kernels_.empty()) t += ", .kernels = " + name + "_kernels";
    if (!transfers_.empty()) t += ", .transfers = " + name + "_transfers";
    if (!rooflines_.empty()) t += ", .rooflines = " + name + "_rooflines";
    if (!wholes_.empty()) t += ", .wholes = " + name + "_wholes";
    if (!date_.empty()) t += ", .date = \"" + literal_text(date_) + "\"";
    if (!contentions_.empty()) t += ", .contentions = " + name + "_contentions";
    return t + "};\n";
  }

  static std::string device(device_id id) {
    return "{levada::device_kind::" + std::string(name_of(id.kind)) + ", " + std::to_string(id.index) + "}";
  }

  /// A row of a table: the texts in quotes, and the numbers outside of them.
  struct row {
    std::vector<std::string> texts;
    std::vector<double> numbers;
    std::uint64_t first = 0;  ///< the first number, where it is a whole one
  };
  static row row_of(const std::string& line) {
    row r;
    std::string outside;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] != '"') {
        const bool separates = line[i] == ',' || line[i] == '{' || line[i] == '}' || line[i] == ';';
        outside += separates ? ' ' : line[i];
        continue;
      }
      r.texts.push_back(text_of_literal(line, i));
    }
    std::istringstream words(outside);
    for (std::string word; words >> word;) {
      char* behind = nullptr;
      const double x = std::strtod(word.c_str(), &behind);
      if (behind == word.c_str()) continue;
      if (r.numbers.empty()) r.first = std::strtoull(word.c_str(), nullptr, 10);
      r.numbers.push_back(x);
    }
    return r;
  }
  /// The devices that a row of transfers names.
  static std::vector<device_kind> kinds_of(const std::string& line) {
    std::vector<device_kind> kinds;
    const std::string before = "levada::device_kind::";
    for (std::size_t at = 0; (at = line.find(before, at)) != std::string::npos;) {
      at += before.size();
      for (const device_kind kind : {device_kind::cpu, device_kind::vulkan, device_kind::simulated, device_kind::remote,
                                     device_kind::fleet, device_kind::mpi})
        if (line.compare(at, name_of(kind).size(), name_of(kind)) == 0) kinds.push_back(kind);
    }
    return kinds;
  }

  void read() {
    if (::access(path_.c_str(), F_OK) != 0) return;
    constexpr std::size_t largest = 100'000'000;  // a row is some hundred bytes
    std::istringstream from(read_whole(path_, largest, "profile"));
    decltype(kernels_) kernels;
    decltype(transfers_) transfers;
    decltype(wholes_) wholes;
    decltype(rooflines_) rooflines;
    decltype(contentions_) contentions;
    std::string line, of, date;
    while (std::getline(from, line)) {
      const row r = row_of(line);
      if (line.find("levada::cost_table ") != std::string::npos)
        of = r.texts.empty() ? "" : r.texts[0], date = r.texts.size() < 2 ? "" : r.texts[1];
      else if (!line.starts_with("    {"))
        continue;
      else if (r.texts.size() == 2 && (r.numbers.size() == 2 || r.numbers.size() == 3))
        kernels[{r.texts[0], r.texts[1]}] =
            cost::measured(r.numbers[0], r.numbers[1], r.numbers.size() == 3 ? r.numbers[2] : 0);
      else if (r.texts.size() == 1 && r.numbers.size() == 3 && line.starts_with("    {\""))
        rooflines[r.texts[0]] = {{}, r.numbers[0], r.numbers[1], r.numbers[2]};
      else if (r.texts.size() == 1 && r.numbers.size() == 3)
        wholes[r.first] = {r.texts[0], cost::measured(r.numbers[1], r.numbers[2])};
      else if (r.texts.empty() && r.numbers.size() == 2 && r.numbers[0] > 1)
        contentions.push_back({static_cast<int>(r.first), r.numbers[1]});
      else if (const auto kinds = kinds_of(line); kinds.size() == 2 && r.numbers.size() == 4)
        transfers.push_back({{kinds[0], static_cast<int>(r.numbers[0])},
                             {kinds[1], static_cast<int>(r.numbers[1])},
                             r.numbers[2],
                             r.numbers[3]});
    }
    if (of == machine_) {
      kernels_ = std::move(kernels);
      transfers_ = std::move(transfers);
      wholes_ = std::move(wholes);
      rooflines_ = std::move(rooflines);
      contentions_ = std::move(contentions);
      date_ = std::move(date);
    } else {
      stale_ = of;
    }
  }

  std::string path_, machine_, stale_, date_;
  std::map<std::pair<std::string, std::string>, cost> kernels_;
  std::map<std::string, roofline> rooflines_;
  std::vector<transfer_cost> transfers_;
  std::map<std::uint64_t, std::pair<std::string, cost>> wholes_;
  std::vector<contention> contentions_;
  std::vector<kernel_cost> kernel_rows_;  // of `table()`
  std::vector<roofline> roofline_rows_;
};

}  // namespace levada::detail
