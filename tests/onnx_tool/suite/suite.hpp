// SPDX-License-Identifier: Apache-2.0
#pragma once
// onnx_tool/suite/suite.hpp: a case of ONNX's suite as a user would convert it: the inputs that shapes or parameters
// depend on are constants, all others stay inputs.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/read_model.hpp"
#include "network/elaborate.hpp"
#include "output/lowering.hpp"
#include "passes/passes.hpp"

namespace levada_test {

namespace fs = std::filesystem;
namespace onnx = levada::onnx;

inline std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

enum class outcome {
  converted,   ///< a header, which is compiled and run
  folded,      ///< all outputs are constants, which are the expected ones
  not_static,  ///< no tensors of numbers, or extents that depend on the items
  refused,     ///< a sentence of the tool
  wrong        ///< constants that are not the expected ones
};

/// Ops whose results have extents that depend on their elements, that run a graph some number of times, or that draw
/// numbers.
inline const std::set<std::string> dynamic_ops{"Loop",
                                               "Scan",
                                               "Unique",
                                               "NonZero",
                                               "Compress",
                                               "NonMaxSuppression",
                                               "Bernoulli",
                                               "RandomNormal",
                                               "RandomUniform",
                                               "RandomNormalLike",
                                               "RandomUniformLike",
                                               "Multinomial",
                                               "Optional",
                                               "OptionalHasElement",
                                               "OptionalGetElement",
                                               "SequenceMap",
                                               "StringNormalizer",
                                               "TfIdfVectorizer",
                                               "ConcatFromSequence",
                                               "SplitToSequence",
                                               "SequenceAt",
                                               "SequenceConstruct",
                                               "SequenceEmpty",
                                               "SequenceErase",
                                               "SequenceInsert",
                                               "SequenceLength"};

/// How far from the truth the suite's own numbers of a case are: some are rounded to four digits, and its windows are
/// computed with 3.1415.
inline double inaccuracy_of(const std::string& name) {
  if (name.find("window") != std::string::npos) return 1e-4;
  return name == "node/test_gridsample_bicubic" ? 5e-5 : 0;
}

struct suite_case {
  explicit suite_case(const fs::path& suite, const std::string& given) : name(given), folder(suite / given) {
    try {
      convert(onnx::read_model(folder / "model.onnx"));
    } catch (const onnx::conversion_error& failure) {
      result = outcome::refused;
      reason = failure.what();
    }
  }

  std::string name;  ///< "node/test_abs"
  fs::path folder;
  outcome result = outcome::refused;
  std::string reason;
  std::string op;  ///< of the only node, else of the first
  std::size_t nodes = 0;
  std::optional<onnx::network> net;       ///< of one that is converted
  std::vector<std::string> input_names;   ///< of the files input_0.pb and so on
  std::vector<std::string> output_names;  ///< of output_0.pb and so on
  std::string bound;                      ///< the inputs that became constants

  fs::path data(const char* kind, std::size_t number) const {
    return folder / "test_data_set_0" / (kind + std::to_string(number) + ".pb");
  }

 private:
  using mask = std::vector<bool>;

  void give(outcome o, std::string why) {
    result = o;
    reason = std::move(why);
  }

  void convert(const onnx::model_def& model) {
    std::set<std::string> initial;
    for (const auto& [key, known] : model.graph.initializers) initial.insert(key);
    nodes = model.graph.nodes.size();
    if (nodes != 0) op = model.graph.nodes[0].op;
    std::vector<onnx::declared> inputs;
    for (const onnx::declared& input : model.graph.inputs)
      if (!initial.contains(input.name)) inputs.push_back(input);
    for (const std::vector<onnx::declared>* all : {&std::as_const(inputs), &model.graph.outputs})
      for (const onnx::declared& d : *all)
        if (onnx::names_of(d.type) == nullptr)
          return give(outcome::not_static, d.type == onnx::element::undefined
                                               ? "a sequence, an optional or a map"
                                               : "strings, or elements that levada lacks");
    for (const onnx::node_def& n : model.graph.nodes)
      if (n.domain.starts_with("ai.onnx.")) return give(outcome::not_static, "a step of training, of " + n.domain);
    for (const onnx::node_def& n : model.graph.nodes)
      if (dynamic_ops.contains(n.op)) return give(outcome::not_static, n.op + ": extents that depend on the items");
    for (const onnx::declared& o : model.graph.outputs) output_names.push_back(o.name);
    for (const onnx::declared& i : inputs) input_names.push_back(i.name);
    std::vector<onnx::constant> given, expected;
    for (std::size_t i = 0; i < inputs.size(); ++i) given.push_back(onnx::read_tensor(text_of(data("input_", i))));
    for (std::size_t i = 0; i < output_names.size(); ++i)
      expected.push_back(onnx::read_tensor(text_of(data("output_", i))));
    // Its files have bfloat16 as uint16, since NumPy lacks it.
    const auto declared_as = [](onnx::constant& c, onnx::element type) {
      if (type == onnx::element::bf16 && c.type() == onnx::element::u16)
        c = onnx::constant(type, c.dims(), {c.bytes().begin(), c.bytes().end()});
    };
    for (std::size_t i = 0; i < given.size(); ++i) declared_as(given[i], inputs[i].type);
    for (std::size_t i = 0; i < expected.size(); ++i) declared_as(expected[i], model.graph.outputs[i].type);
    for (const std::vector<onnx::constant>* all : {&given, &expected})
      for (const onnx::constant& c : *all)
        if (c.elements() == 0) return give(outcome::not_static, "a tensor without elements");

    // All of it as a constant: what is folded has to be what is expected.
    const mask everything(inputs.size(), true);
    std::string why_not_folded;
    const auto folded = attempt(model, inputs, given, everything, why_not_folded);
    bool is_constant = folded.has_value();
    for (std::size_t i = 0; folded && i < folded->outputs.size(); ++i)
      if (const std::optional<onnx::constant>& known = (*folded)[folded->outputs[i].second].known) {
        if (const std::string difference = differs(*known, expected.at(i)); !difference.empty())
          return give(outcome::wrong, "output " + output_names[i] + " is folded to other elements: " + difference);
      } else {
        is_constant = false;
      }

    std::string first_reason;
    for (const mask& constants : choices(inputs, given)) {
      std::string why;
      std::optional<onnx::network> made = attempt(model, inputs, given, constants, why);
      if (made) {
        try {
          onnx::lowering lowered(*made);
          lowered.run();
          if (lowered.outputs().size() != output_names.size())
            return give(outcome::wrong, std::to_string(lowered.outputs().size()) + " outputs are left");
          net = std::move(made);
          for (std::size_t i = 0; i < inputs.size(); ++i)
            if (constants[i]) bound += (bound.empty() ? "" : ", ") + inputs[i].name;
          return give(outcome::converted, "");
        } catch (const onnx::conversion_error& failure) {
          why = failure.what();
        }
      }
      if (first_reason.empty() || constants != mask(inputs.size())) first_reason = why;
    }
    if (is_constant) return give(outcome::folded, "");
    if (first_reason.find("it draws numbers") != std::string::npos)
      return give(outcome::not_static, "it draws numbers");
    give(outcome::refused, first_reason.empty() ? why_not_folded : first_reason);
  }

  /// No input a constant; those of integers; all but the first; all but the first of floating numbers.
  static std::vector<mask> choices(const std::vector<onnx::declared>& inputs,
                                   const std::vector<onnx::constant>& given) {
    std::vector<mask> result;
    const std::size_t count = inputs.size();
    if (count == 0) return result;
    const auto add = [&](mask m) {
      if (std::ranges::find(result, m) == result.end() && std::ranges::find(m, false) != m.end()) result.push_back(m);
    };
    add(mask(count));
    mask integers(count), rest(count, true), floating(count, true);
    std::size_t first = count;
    for (std::size_t i = 0; i < count; ++i) {
      integers[i] = i != 0 && !onnx::is_floating(given[i].type());
      if (first == count && onnx::is_floating(given[i].type())) first = i;
    }
    rest[0] = false;
    if (first < count) floating[first] = false;
    add(integers);
    if (first < count) add(floating);
    add(rest);
    return result;
  }

  static std::optional<onnx::network> attempt(const onnx::model_def& model, const std::vector<onnx::declared>& inputs,
                                              const std::vector<onnx::constant>& given, const mask& constants,
                                              std::string& why) {
    onnx::elaboration_options options;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (constants[i])
        options.bound[inputs[i].name] = given[i];
      else
        options.dims[inputs[i].name] = given[i].dims();
    onnx::elaboration_counts counts;
    try {
      onnx::network made = onnx::elaborate(model, options, counts);
      onnx::simplify(made);
      return made;
    } catch (const onnx::conversion_error& failure) {
      why = failure.what();
      return std::nullopt;
    }
  }

  /// "" of the same tensors: within 1e-5 of the magnitude and 1e-6, rounding of half and of the suite left aside.
  std::string differs(const onnx::constant& known, const onnx::constant& expected) const {
    if (known.dims() != expected.dims()) return "its extents are " + onnx::list_of(known.dims());
    const bool is_half = expected.type() == onnx::element::f16 || expected.type() == onnx::element::bf16;
    if (known.type() != expected.type() && !is_half) return "its type is another";
    const std::vector<double> a = known.as<double>(), b = expected.as<double>();
    const double relative = expected.type() == onnx::element::bf16 ? 2e-2 : is_half ? 2e-3 : 1e-5;
    const double absolute = 1e-6 + inaccuracy_of(name);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool same =
          a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ||
          (onnx::is_floating(known.type()) && std::abs(a[i] - b[i]) <= relative * std::abs(b[i]) + absolute);
      if (!same)
        return "element " + std::to_string(i) + " is " + std::to_string(a[i]) + ", not " + std::to_string(b[i]);
    }
    return "";
  }
};

/// All cases of node, simple and the two of PyTorch, in order.
inline std::vector<std::string> names_of_suite(const fs::path& suite) {
  std::vector<std::string> names;
  for (const char* part : {"node", "simple", "pytorch-operator", "pytorch-converted"})
    for (const fs::directory_entry& entry : fs::directory_iterator(suite / part))
      if (fs::exists(entry.path() / "model.onnx")) names.push_back(part + ("/" + entry.path().filename().string()));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace levada_test
