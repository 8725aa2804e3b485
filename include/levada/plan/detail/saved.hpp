// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/saved.hpp: the partition of a plan as one line of text, and back. The line names what was decided and
// nothing that follows from it: slots, and for each segment its device and its units in order.
//
//   levada plan 1: 64 slots | cpu: "decode" simd("conv1" "bias1" "relu1") | vulkan<0>: spirv("conv2") | cpu: "label"
//
// A quoted name alone is a callable; backend("..." "...") is a run of ops fused by that backend. In quotes, `\"`, `\\`
// and `\x0a` (any byte) are escapes; other bytes stand for themselves. A line is UTF-8: bytes of a name that are not
// are escaped. Between the words any white space is fine.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/plan/detail/options.hpp>
#include <levada/plan/detail/plan_info.hpp>
#include <levada/plan/detail/text.hpp>

namespace levada {
namespace detail {

template <class Text>
constexpr void append_quoted_name(Text& text, std::string_view name) {
  text += '"';
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (c == '"' || c == '\\') text += '\\';
    const std::size_t length = utf8_length(name, at);
    if (is_control(c) || length == 0) {
      text += "\\x";
      append_hex(text, c);
    } else {
      text += name.substr(at, length);
      at += length - 1;
    }
  }
  text += '"';
}

constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

template <class Text, std::size_t N>
constexpr void append_unit(Text& line, const plan_info<N>& plan, const planned_unit& unit) {
  const bool fused = unit.backend != partition_unit::callable;
  if (fused) {
    const std::string_view backend = plan.backend[unit.backend].name;
    if (!backend.empty() && std::all_of(backend.begin(), backend.end(), is_word))
      line += backend;
    else
      append_quoted_name(line, backend);
    line += '(';
  }
  for (std::size_t n = 0; n < unit.count; ++n) {
    if (n > 0) line += ' ';
    append_quoted_name(line, plan.graph.nodes[unit.first + n].name);
  }
  if (fused) line += ')';
}

template <class Text, std::size_t N>
constexpr void append_plan(Text& line, const plan_info<N>& plan) {
  line += "levada plan 1: ";
  append_number(line, plan.slots);
  line += " slots";
  for (const planned_segment& s : plan.segment) {
    line += " | ";
    append_device(line, s.device);
    line += ':';
    for (std::size_t u = s.first; u < s.first + s.count; ++u) {
      line += ' ';
      append_unit(line, plan, plan.unit[u]);
    }
  }
}

}  // namespace detail

/// The partition of a plan as one line: equal partitions give equal lines, and `read_plan` gives the partition back.
template <std::size_t N>
std::string save(const plan_info<N>& plan) {
  return detail::written_text([&](std::string& into) { detail::append_plan(into, plan); });
}

/// The line of a constexpr plan as a template argument: `pinned<saved<plan>()>`.
template <const auto& Plan>
consteval auto saved() {
  return detail::written_fixed_string<[](auto& into) { detail::append_plan(into, Plan); }>();
}

/// A name as it stands in a line between its quotes, escapes and all.
struct written_name {
  std::string_view text;

  /// The bytes it stands for, one after the other.
  template <class Visit>
  constexpr void each(Visit visit) const {
    const auto hex = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\')
        visit(text[i]);
      else if (text[++i] != 'x')
        visit(text[i]);
      else {
        visit(static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2])));
        i += 2;
      }
    }
  }
  constexpr std::size_t size() const {
    std::size_t bytes = 0;
    each([&](char) { ++bytes; });
    return bytes;
  }
  friend constexpr bool operator==(const written_name& written, std::string_view name) {
    std::size_t at = 0;
    bool equal = true;
    written.each([&](char c) { equal = equal && at < name.size() && name[at++] == c; });
    return equal && at == name.size();
  }
};

/// One stage of a line.
struct written_stage {
  written_name name;
  written_name backend;
  bool is_callable = true;  ///< no backend is written
  device_id device{};
  bool starts_unit = true;
  bool starts_segment = false;
};

/// A line taken apart. Its names are parts of the line.
template <std::size_t N>
struct written_plan {
  static constexpr std::size_t nowhere = ~std::size_t{0};

  bounded<written_stage, N> stages;  ///< the first N
  std::size_t count = 0;             ///< of all stages of the line
  std::size_t slots = 0;
  std::size_t malformed_at = nowhere;  ///< the byte where the line stops being a plan
};

namespace detail {

/// Takes a line apart from its front. Every `take` says whether it was there and moves on only then.
class plan_reader {
 public:
  constexpr explicit plan_reader(std::string_view line) : line_(line) {}

  constexpr std::size_t at() const { return at_; }
  constexpr bool at_end() { return skip_space(), at_ == line_.size(); }

  constexpr bool take(std::string_view word) {
    skip_space();
    if (line_.substr(at_, word.size()) != word) return false;
    const std::size_t behind = at_ + word.size();
    if (is_word(word.back()) && behind < line_.size() && is_word(line_[behind])) return false;
    at_ = behind;
    return true;
  }

  /// A decimal number up to `most`.
  constexpr bool take_number(std::size_t& number, std::size_t most = ~std::size_t{0}) {
    skip_space();
    std::size_t i = at_, value = 0;
    for (; i < line_.size() && line_[i] >= '0' && line_[i] <= '9'; ++i) {
      const auto digit = static_cast<std::size_t>(line_[i] - '0');
      if (value > (most - digit) / 10) return false;
      value = value * 10 + digit;
    }
    if (i == at_ || (i < line_.size() && is_word(line_[i]))) return false;
    at_ = i;
    number = value;
    return true;
  }

  constexpr bool take_word(written_name& word) {
    skip_space();
    std::size_t i = at_;
    while (i < line_.size() && is_word(line_[i])) ++i;
    if (i == at_) return false;
    word.text = line_.substr(at_, i - at_);
    at_ = i;
    return true;
  }

  constexpr bool take_quoted(written_name& name) {
    skip_space();
    if (at_ >= line_.size() || line_[at_] != '"') return false;
    const auto hex = [&](std::size_t i) {
      return i < line_.size() && ((line_[i] >= '0' && line_[i] <= '9') || (line_[i] >= 'a' && line_[i] <= 'f'));
    };
    for (std::size_t i = at_ + 1; i < line_.size(); ++i) {
      if (line_[i] == '"') {
        name.text = line_.substr(at_ + 1, i - at_ - 1);
        at_ = i + 1;
        return true;
      }
      if (is_control(line_[i])) return false;
      if (line_[i] != '\\') continue;
      ++i;
      if (i < line_.size() && (line_[i] == '"' || line_[i] == '\\')) continue;
      if (i >= line_.size() || line_[i] != 'x' || !hex(i + 1) || !hex(i + 2)) return false;
      i += 2;
    }
    return false;
  }

  constexpr bool take_device(device_id& device) {
    return take("any_of") ? take_equal_devices(device) : take_one_device(device);
  }

 private:
  constexpr bool take_one_device(device_id& device) {
    constexpr std::size_t largest = 0x7fffffff;
    std::size_t index = 0;
    if (take("cpu")) {
      device = {device_kind::cpu, 0};
      return true;
    }
    for (const device_kind kind :
         {device_kind::vulkan, device_kind::simulated, device_kind::remote, device_kind::fleet, device_kind::mpi}) {
      if (!take(name_of(kind))) continue;
      if (!take("<")) return false;
      const bool negative = take("-");
      if (!take_number(index, largest) || !take(">")) return false;
      device = {kind, negative ? -static_cast<int>(index) : static_cast<int>(index)};
      return true;
    }
    return false;
  }

  /// Behind "any_of", the smallest first.
  constexpr bool take_equal_devices(device_id& device) {
    device = {};
    if (!take("<")) return false;
    do {
      device_id one;
      if (!take_one_device(one) || one.index < 0 || one.index >= 32) return false;
      const std::uint32_t bit = std::uint32_t{1} << one.index;
      if (device && (one.kind != device.kind || bit <= device.equal)) return false;
      if (!device) device = one;
      device.equal |= bit;
    } while (take(","));
    return count_of(device) > 1 && take(">");
  }

  constexpr void skip_space() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\n' || line_[at_] == '\t')) ++at_;
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

template <std::size_t N>
constexpr bool take_unit(plan_reader& reader, written_plan<N>& plan, written_stage stage) {
  const auto add = [&] {
    if (plan.count++ < N) plan.stages.push_back(stage);
  };
  if (reader.take_quoted(stage.name)) {
    stage.is_callable = !reader.take("(");
    if (stage.is_callable) return add(), true;
    stage.backend = stage.name;
  } else {
    stage.is_callable = false;
    if (!reader.take_word(stage.backend) || !reader.take("(")) return false;
  }
  do {
    if (!reader.take_quoted(stage.name)) return false;
    add();
    stage.starts_unit = stage.starts_segment = false;
  } while (!reader.take(")"));
  return true;
}

template <std::size_t N>
constexpr bool take_plan(plan_reader& reader, written_plan<N>& plan) {
  if (!(reader.take("levada") && reader.take("plan") && reader.take("1") && reader.take(":"))) return false;
  if (!reader.take_number(plan.slots) || plan.slots == 0 || plan.slots > most_counted_slots) return false;
  if (!reader.take("slots") || !reader.take("|")) return false;
  do {
    written_stage stage;
    stage.starts_segment = true;
    if (!reader.take_device(stage.device) || !reader.take(":")) return false;
    do {
      if (!take_unit(reader, plan, stage)) return false;
      stage.starts_segment = false;
      if (reader.at_end()) return true;
    } while (!reader.take("|"));
  } while (true);
}

}  // namespace detail

/// A line taken apart, for a graph of at most `N` nodes. Any text has an answer.
template <std::size_t N>
constexpr written_plan<N> parse_plan(std::string_view line) {
  written_plan<N> plan;
  detail::plan_reader reader(line);
  if (!detail::take_plan(reader, plan)) plan.malformed_at = reader.at();
  return plan;
}

/// Why a line is not a plan for a pipeline, its target and its backends.
enum class plan_change : std::uint8_t {
  none,
  malformed,        ///< the line is no plan
  stage,            ///< it names another stage
  stage_count,      ///< it has more stages, or fewer
  device,           ///< the target has no such device
  pin,              ///< the pipeline pins the stage to another device
  border,           ///< the pipeline splits behind the stage, the line does not
  callable_device,  ///< the stage is a callable, and its device runs none
  missing_backend,  ///< an op stands there without a backend
  backend,          ///< no such backend computes on the device
  fusion            ///< the backend does not take these stages as one
};

/// What a line says about a graph, or the first thing that changed since it was saved.
template <std::size_t N>
struct plan_reading {
  partition<N> parts;
  std::size_t slots = 0;
  plan_change change = plan_change::none;
  std::size_t at = 0;     ///< the byte of the line where it is malformed, else the node
  std::size_t count = 0;  ///< of the stages of the line
  written_stage written;  ///< what the line says at that node

  constexpr explicit operator bool() const { return change == plan_change::none; }
};

namespace detail {

/// What is wrong with the unit of `parts` that is about to be added, whose first stage is `written`.
template <std::size_t N>
constexpr plan_change complete_unit(partition_unit& unit, const written_stage& written, const graph_info<N>& graph,
                                    std::span<const device_info> devices, std::span<const candidate> candidates,
                                    std::span<const backend_info> backends) {
  const node_info& node = graph.nodes[unit.first];
  if (std::none_of(devices.begin(), devices.end(), [&](const device_info& d) { return d.id == unit.device; }))
    return plan_change::device;
  if (written.is_callable) {
    if (is_op(node)) return plan_change::missing_backend;
    return runs_callables(unit.device) && may_run_on(node, unit.device) ? plan_change::none
                                                                        : plan_change::callable_device;
  }
  plan_change found = plan_change::backend;
  for (std::size_t b = 0; b < backends.size(); ++b) {
    if (!(written.backend == backends[b].name) || !computes_on(backends[b], unit.device)) continue;
    found = plan_change::fusion;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      if (candidates[c].backend != b || candidates[c].first != unit.first || candidates[c].count != unit.count)
        continue;
      unit.backend = b;
      unit.candidate = c;
      return plan_change::none;
    }
  }
  return found;
}

}  // namespace detail

/// The partition that a line says for a graph, with the candidates and backends of now.
template <std::size_t N>
constexpr plan_reading<N> read_plan(std::string_view line, const graph_info<N>& graph,
                                    std::span<const device_info> devices, std::span<const candidate> candidates,
                                    std::span<const backend_info> backends) {
  const written_plan<N> written = parse_plan<N>(line);
  const std::size_t count = graph.nodes.size();
  plan_reading<N> reading;
  reading.slots = written.slots;
  reading.count = written.count;
  const auto changed = [&](plan_change change, std::size_t at) {
    reading.change = change;
    reading.at = at;
    if (change != plan_change::malformed && at < written.stages.size()) reading.written = written.stages[at];
    return reading;
  };
  if (written.malformed_at != written_plan<N>::nowhere) return changed(plan_change::malformed, written.malformed_at);
  for (std::size_t i = 0; i < std::min(count, written.stages.size()); ++i)
    if (!(written.stages[i].name == graph.nodes[i].name)) return changed(plan_change::stage, i);
  if (written.count != count) return changed(plan_change::stage_count, std::min(count, written.count));

  for (std::size_t i = 0; i < count; ++i) {
    const written_stage& stage = written.stages[i];
    if (graph.nodes[i].pin && !admits(graph.nodes[i].pin, stage.device)) return changed(plan_change::pin, i);
    if (graph.nodes[i].split_after && i + 1 < count && !written.stages[i + 1].starts_segment)
      return changed(plan_change::border, i);
    if (!stage.starts_unit) continue;
    partition_unit unit{i, 1, partition_unit::callable, partition_unit::callable, stage.device, stage.starts_segment};
    while (i + unit.count < count && !written.stages[i + unit.count].starts_unit) ++unit.count;
    const plan_change change = detail::complete_unit(unit, stage, graph, devices, candidates, backends);
    if (change != plan_change::none) return changed(change, i);
    reading.parts.push_back(unit);
  }
  return reading;
}

}  // namespace levada
