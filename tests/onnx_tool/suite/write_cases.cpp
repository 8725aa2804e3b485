// SPDX-License-Identifier: Apache-2.0
// Converts the cases of ONNX's suite as a user converts a model, and writes units that run them:
//
// write_cases CASES OUT UNITS [few]   OUT/unit_0.cpp ... and a header and a file of weights of each case; `few`: one
//                                     case of each op that has several forms, and those whose numbers are inaccurate
// write_cases CASES                   prints, as Markdown, what is converted and what is not, and why
// write_cases CASES --check FILE      says whether FILE is what that prints
//
// Both fail where a case is folded to other elements than are expected, or fewer than 97 % of the static cases pass.

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "output/header.hpp"
#include "output/names.hpp"
#include "output/safetensors.hpp"
#include "suite.hpp"

namespace {

using namespace levada_test;

/// The whole name as an identifier: `onnx::identifier` shortens, so that two cases would be one.
std::string name_of(const suite_case& c) {
  std::string name = c.name;
  std::ranges::replace_if(
      name, [](char x) { return x == '/' || x == '-'; }, '_');
  return name;
}

/// The test of a case; its header and its weights lie in `out`.
std::string written(const suite_case& c, const fs::path& out) {
  const onnx::network& net = *c.net;
  onnx::lowering lowered(net);
  lowered.run();
  const onnx::fused_graph graph = onnx::fuse(lowered);
  const std::string name = name_of(c);
  onnx::header_text text{.name = name,
                         .model = c.name,
                         .model_hash = "",
                         .options = "",
                         .weights_file = name + ".safetensors",
                         .states = {}};
  std::ofstream(out / (name + ".hpp")) << onnx::write_header(lowered, graph, net, text);
  const bool has_weights = !lowered.weights().empty();
  if (has_weights)
    onnx::write_safetensors(out / text.weights_file, lowered.weights(),
                            {{"levada.structure", onnx::structure_hash(lowered.weights())}});
  const auto quoted = [](const std::string& s) { return "\"" + s + "\""; };
  std::string body = "TEST_CASE(" + quoted(c.name) + ") {\n";
  if (has_weights)
    body += "  const levada::safetensors weights{std::filesystem::path(" + quoted((out / text.weights_file).string()) +
            ")};\n";
  else
    body += "  const levada::safetensors weights = no_weights();\n";
  body += "  const auto app = levada::deploy<one_thread>(" + name + "::graph(weights));\n  using app_type = " +
          "std::remove_const_t<decltype(app)>;\n  const auto item = std::make_unique<app_type::item>();\n" +
          "  const auto result = std::make_unique<app_type::output>();\n  auto& in = *item;\n  auto& out = *result;\n";
  const auto number_of = [](const std::vector<std::string>& names, const std::string& wanted) {
    return static_cast<std::size_t>(std::ranges::find(names, wanted) - names.begin());
  };
  for (const int port : graph.ports) {
    const std::string& given = net[net.inputs[static_cast<std::size_t>(port)]].name;
    const std::string& port_name = lowered[port].name;
    body += "  read_input(" + quoted(c.data("input_", number_of(c.input_names, given)).string()) + ", in" +
            (graph.ports.size() == 1 ? std::string() : ".get<" + quoted(port_name) + ">()") + ");\n";
  }
  body += "  app(in, out);\n";
  std::vector<std::string> outputs;
  for (const auto& [output, made] : lowered.outputs()) outputs.push_back(output);
  const std::vector<std::string> names = onnx::short_names(outputs);
  const double inaccuracy = inaccuracy_of(c.name);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    body += "  check_output(" + quoted(c.data("output_", number_of(c.output_names, outputs[i])).string()) + ", out" +
            (outputs.size() == 1 ? std::string() : ".get<" + quoted(names[i]) + ">()") +
            (inaccuracy == 0 ? std::string() : ", " + std::to_string(inaccuracy)) + ");\n";
  return body + "}\n";
}

/// Ops that the tool writes in more than one way; the kernels of all have their own tests.
const std::set<std::string> of_several_forms{"Add",
                                             "ArgMax",
                                             "AveragePool",
                                             "BatchNormalization",
                                             "BitShift",
                                             "Clip",
                                             "Concat",
                                             "Conv",
                                             "CumSum",
                                             "Einsum",
                                             "DynamicQuantizeLinear",
                                             "Expand",
                                             "GRU",
                                             "Gather",
                                             "Gemm",
                                             "If",
                                             "LSTM",
                                             "LRN",
                                             "LayerNormalization",
                                             "MatMul",
                                             "MaxPool",
                                             "Mod",
                                             "OneHot",
                                             "Pad",
                                             "QLinearConv",
                                             "ReduceMean",
                                             "Resize",
                                             "ScatterND",
                                             "Slice",
                                             "Softmax",
                                             "Split",
                                             "TopK",
                                             "Transpose",
                                             "Where",
                                             "NegativeLogLikelihoodLoss"};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4 && argc != 5) {
    std::cerr << "write_cases CASES [OUT UNITS [few]]\n";
    return 2;
  }
  const fs::path suite = argv[1];
  const bool check = argc == 4 && std::string(argv[2]) == "--check";
  std::map<outcome, std::size_t> count;
  std::vector<suite_case> chosen;
  std::set<std::string> ops;
  std::map<std::string, std::vector<std::string>> left_out, dynamic;
  bool wrong = false;
  for (const std::string& name : names_of_suite(suite)) {
    suite_case c(suite, name);
    ++count[c.result];
    if (c.result == outcome::wrong) {
      std::cerr << name << ": " << c.reason << "\n";
      wrong = true;
    }
    if (c.result == outcome::refused) left_out[first_line(c.reason)].push_back(name);
    if (c.result == outcome::not_static) dynamic[c.reason].push_back(name);
    if (c.result == outcome::converted && argc > 3 &&
        (argc == 4 || inaccuracy_of(c.name) != 0 ||
         (c.nodes == 1 && of_several_forms.contains(c.op) && ops.insert(c.op).second)))
      chosen.push_back(std::move(c));
  }
  const std::size_t passed = count[outcome::converted] + count[outcome::folded],
                    all = passed + count[outcome::refused] + count[outcome::wrong];
  std::ostringstream text;
  text << "# Models of ONNX's suite through onnx_to_levada\n\n`bin/write_cases CASES` of tests/onnx_tool/suite wrote "
          "this. Of "
       << all << " static cases of numbers " << count[outcome::converted] << " are converted,\n"
       << count[outcome::folded] << " are constants that are folded, and " << count[outcome::refused]
       << " are refused: " << static_cast<double>(1000 * passed / all) / 10 << " % pass. " << count[outcome::not_static]
       << " more are not static.\n\n| refused | because |\n|---|---|\n";
  for (const auto& [reason, names] : left_out)
    for (const std::string& name : names) text << "| " << name << " | " << reason << " |\n";
  text << "\n| not static, because | cases |\n|---|---|\n";
  for (const auto& [reason, names] : dynamic) text << "| " << reason << " | " << names.size() << " |\n";
  if (argc == 2) {
    std::cout << text.str();
  } else if (check) {
    if (text_of(argv[3]) != text.str()) {
      std::cerr << argv[3] << " is not what " << argv[0] << " " << argv[1] << " prints\n";
      return 1;
    }
  } else {
    const fs::path out = fs::absolute(argv[2]);
    fs::create_directories(out);
    const std::size_t units = std::stoul(argv[3]);
    std::vector<std::string> includes(units), bodies(units);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      includes[i % units] += "#include \"" + name_of(chosen[i]) + ".hpp\"\n";
      bodies[i % units] += "\n" + written(chosen[i], out);
    }
    for (std::size_t unit = 0; unit < units; ++unit)
      std::ofstream(out / ("unit_" + std::to_string(unit) + ".cpp"))
          << "// Written by write_cases.\n#include \"onnx_tool/suite/run_case.hpp\"\n\n#include <filesystem>\n\n"
          << includes[unit] << "\nusing namespace levada_test;\n"
          << bodies[unit];
  }
  return wrong || 1000 * passed < 970 * all;
}
