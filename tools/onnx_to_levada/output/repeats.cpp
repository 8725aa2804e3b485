// SPDX-License-Identifier: Apache-2.0
#include "repeats.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace levada::onnx {
namespace {

/// A function and its calls count as so many nodes beside those of the block. Where less than that is saved a reader is
/// better off without it.
constexpr std::size_t nodes_of_function = 6, least_saved = 20;

std::size_t saved_nodes(std::size_t length, std::size_t times) {
  const std::size_t before = length * times, after = length + times + nodes_of_function;
  return before > after ? before - after : 0;
}

bool has_own_name(const levada_node& n) { return n.op.find('"' + n.name + '"') != std::string::npos; }

/// The op without its name, and what it gives; empty: it cannot stand in a function.
std::string form_of(const levada_node& n) {
  std::string op = n.op;
  return replace_own_name(op, n.name, "*") ? op + " gives " + tensor_text(n.type, n.dims) : "";
}

/// With what all names begin, before a '_'; empty: with nothing.
std::string prefix_of(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string prefix = names[0];
  const auto fits = [&](const std::string& name) {
    return name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] == '_';
  };
  while (!prefix.empty() && !std::ranges::all_of(names, fits)) prefix.pop_back();
  return prefix;
}

/// What has to be the same in each block.
struct block_form {
  std::size_t given = 0;
  std::vector<std::string> parameters;              ///< what is behind the prefix in their names
  std::vector<std::string> types;                   ///< of what comes from outside
  std::vector<std::pair<bool, std::size_t>> links;  ///< of each operand: from inside, and the node or what was taken

  friend bool operator==(const block_form&, const block_form&) = default;
};

class repeat_finder {
 public:
  repeat_finder(const lowering& lowered, const std::vector<int>& sequence)
      : lowered_(lowered), sequence_(sequence), place_(lowered.nodes().size(), outside), takers_(sequence.size()) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      place_[static_cast<std::size_t>(sequence[i])] = i;
      forms_.push_back(form_of(node_at(i)));
      for (const int from : node_at(i).from)
        if (place_of(from) != outside) takers_[place_of(from)].push_back(i);
    }
    for (const auto& [name, made] : lowered.outputs())
      if (place_of(made) != outside) takers_[place_of(made)].push_back(outside);
  }

  std::vector<repeated_block> find() {
    std::vector<repeated_block> found;
    while (std::optional<repeated_block> best = find_best()) {
      for (std::size_t i = best->first; i < best->first + best->nodes(); ++i) forms_[i].clear();
      found.push_back(std::move(*best));
    }
    std::ranges::sort(found, {}, &repeated_block::first);
    return found;
  }

 private:
  static constexpr std::size_t outside = ~std::size_t{0};

  const levada_node& node_at(std::size_t i) const { return lowered_[sequence_[i]]; }
  std::size_t place_of(int made) const { return place_[static_cast<std::size_t>(made)]; }

  std::optional<repeated_block> find_best() const {
    const std::size_t count = sequence_.size();
    std::optional<repeated_block> best;
    std::size_t most = least_saved - 1;
    for (std::size_t length = 2; length <= count / 2; ++length) {
      std::size_t equal = 0;  // so many nodes, from this one on, are like those a block behind them
      for (std::size_t i = count - length; i-- > 0;) {
        equal = !forms_[i].empty() && forms_[i] == forms_[i + length] ? equal + 1 : 0;
        if (saved_nodes(length, equal / length + 1) <= most) continue;
        std::optional<repeated_block> here = block_at(i, length, equal / length + 1);
        if (!here || saved_nodes(length, here->times()) <= most) continue;
        most = saved_nodes(length, here->times());
        best = std::move(here);
      }
    }
    return best;
  }

  /// From that node on, at most so often.
  std::optional<repeated_block> block_at(std::size_t first, std::size_t length, std::size_t most) const {
    repeated_block block;
    block.first = first, block.length = length;
    block_form all;
    for (std::size_t t = 0; t < most; ++t) {
      const std::size_t begin = first + t * length;
      std::vector<std::string> names;
      for (std::size_t i = begin; i < begin + length; ++i)
        if (has_own_name(node_at(i))) names.push_back(node_at(i).name);
      const std::string prefix = prefix_of(names);
      const std::optional<std::size_t> given = only_given(begin, length);
      if (prefix.empty() || !given) break;
      block_form form{*given, {}, {}, {}};
      std::vector<int> taken;
      for (std::size_t i = begin; i < begin + length; ++i)
        for (const int from : node_at(i).from) form.links.push_back(link_of(from, begin, length, taken));
      for (const int from : taken) form.types.push_back(tensor_text(lowered_[from].type, lowered_[from].dims));
      for (const std::string& name : names) form.parameters.push_back(name.substr(prefix.size()));
      if (t == 0)
        all = form;
      else if (form != all)
        break;
      block.prefixes.push_back(prefix);
      block.taken.push_back(std::move(taken));
      block.gives.push_back(sequence_[begin + *given]);
    }
    if (block.times() < 2) return std::nullopt;
    return block;
  }

  std::pair<bool, std::size_t> link_of(int from, std::size_t begin, std::size_t length, std::vector<int>& taken) const {
    const std::size_t at = place_of(from);
    if (at != outside && at >= begin && at < begin + length) return {true, at - begin};
    const auto known = std::ranges::find(taken, from);
    const auto number = static_cast<std::size_t>(known - taken.begin());
    if (known == taken.end()) taken.push_back(from);
    return {false, number};
  }

  /// The one node of a block whose value is taken outside of it.
  std::optional<std::size_t> only_given(std::size_t begin, std::size_t length) const {
    std::optional<std::size_t> found;
    for (std::size_t i = begin; i < begin + length; ++i) {
      const auto leaves = [&](std::size_t taker) { return taker < begin || taker >= begin + length; };
      if (!std::ranges::any_of(takers_[i], leaves)) continue;
      if (found) return std::nullopt;
      found = i - begin;
    }
    return found;
  }

  const lowering& lowered_;
  const std::vector<int>& sequence_;
  std::vector<std::size_t> place_;                ///< of nodes of the lowering in the sequence
  std::vector<std::vector<std::size_t>> takers_;  ///< `outside`: it is an output
  std::vector<std::string> forms_;
};

/// "encoder_layers_0" gives "encoder_layers_block".
std::string function_name(std::string prefix) {
  while (!prefix.empty() && (prefix.back() == '_' || (prefix.back() >= '0' && prefix.back() <= '9'))) prefix.pop_back();
  return prefix.empty() || prefix == "block" ? "block" : prefix + "_block";
}

}  // namespace

bool replace_own_name(std::string& op, const std::string& name, const std::string& by) {
  const std::string own = '"' + name + '"';
  const std::size_t at = op.find(own);
  if (at == std::string::npos) return true;
  if (at == 0 || op[at - 1] != '<' || op.find(own, at + 1) != std::string::npos) return false;
  op.replace(at, own.size(), by);
  return true;
}

std::vector<repeated_block> find_repeats(const lowering& lowered, const std::vector<int>& sequence) {
  std::vector<repeated_block> found = repeat_finder(lowered, sequence).find();
  std::vector<std::string> taken;
  const auto is_taken = [&](const std::string& name) {
    const auto declares = [&](const std::string& branch) {
      return branch.find("auto " + name + "(") != std::string::npos;
    };
    return std::ranges::find(taken, name) != taken.end() || std::ranges::any_of(lowered.functions(), declares);
  };
  for (repeated_block& block : found) {
    const std::string base = function_name(block.prefixes[0]);
    block.function = base;
    for (int number = 2; is_taken(block.function); ++number) block.function = base + "_" + std::to_string(number);
    taken.push_back(block.function);
  }
  return found;
}

}  // namespace levada::onnx
