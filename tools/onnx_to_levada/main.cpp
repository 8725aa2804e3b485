// SPDX-License-Identifier: Apache-2.0
// onnx_to_levada: an ONNX model as a header of levada and a file of weights. See docs/onnx.md.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <list>
#include <optional>

#include "model/mapped_file.hpp"
#include "model/read_model.hpp"
#include "network/alternatives.hpp"
#include "network/elaborate.hpp"
#include "ops/op_definition.hpp"
#include "output/hash.hpp"
#include "output/header.hpp"
#include "output/listing.hpp"
#include "output/lowering.hpp"
#include "output/names.hpp"
#include "output/safetensors.hpp"
#include "output/shared_weights.hpp"
#include "passes/passes.hpp"

namespace {

namespace fs = std::filesystem;
using namespace levada::onnx;

void write_text(const fs::path& file, const std::string& text) {
  // What is the same keeps its time, so that nothing is compiled again.
  if (std::ifstream old(file, std::ios::binary); old) {
    const std::string before((std::istreambuf_iterator<char>(old)), {});
    if (before == text) return;
  }
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!(out << text).flush()) throw conversion_error(file.string() + " cannot be written");
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw conversion_error(file.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A header that is committed has to be what the model gives now. One that another version of the tool made may differ.
void compare_with(const fs::path& file, const std::string& made) {
  const std::string committed = text_of(file);
  if (committed == made) return;
  const auto made_by = [](const std::string& text) { return text.substr(0, text.find(" of ")); };
  if (made_by(committed) == made_by(made))
    throw conversion_error(
        file.string() + " is not what the model and the options give now: convert again and commit what that writes");
  std::cerr << file.string() << ": warning: another version of onnx_to_levada made it: convert again\n";
}

struct settings {
  std::string model, output = ".", name;
  std::vector<std::string> dims, constants, bound, to, states, layouts;
  std::string from, half = "widen", unsupported = "error", compare;
  bool check = false, embed = false, weights_only = false;
};

using state_pairs = std::vector<std::pair<std::string, std::string>>;

/// The model for one choice of extents.
struct chosen_graph {
  alternative chosen;
  network net;
  elaboration_counts counts;
  std::size_t before_passes = 0;
  state_pairs states;
  std::optional<lowering> lowered;  ///< of `net`, which stays where it is
  fused_graph graph;

  chosen_graph(const model_def& model, elaboration_options options, const state_pairs& wanted, alternative extents)
      : chosen(std::move(extents)) {
    options.dims = chosen.dims;
    net = elaborate(model, options, counts);
    if (options.leave_unsupported) leave_to_onnx_runtime(net);
    before_passes = net.nodes.size();
    states = join_states(net, wanted);
    simplify(net);
    lowered.emplace(net);
    lowered->run();
  }
  chosen_graph(const chosen_graph&) = delete;
  chosen_graph& operator=(const chosen_graph&) = delete;
};

/// All graphs of the model; what one cannot be is said with its extents.
std::list<chosen_graph> graphs_of(const model_def& model, const elaboration_options& options, const state_pairs& states,
                                  const std::vector<alternative>& alternatives) {
  std::list<chosen_graph> all;
  for (const alternative& chosen : alternatives) {
    try {
      all.emplace_back(model, options, states, chosen);
    } catch (const conversion_error& failure) {
      if (chosen.said.empty()) throw;
      throw conversion_error("with " + chosen.said + ": " + failure.what());
    }
  }
  return all;
}

int convert(const settings& given) {
  elaboration_options options;
  std::string said;
  const std::vector<alternative> alternatives = alternatives_of(given.dims);
  for (const std::string& text : given.dims) said += " --dims " + text;
  for (const std::string& text : given.constants) {
    const auto [key, numbers] = key_and_value(text);
    options.constants[key] = numbers_of<double>(numbers, ',');
    said += " --constants " + text;
  }
  for (const std::string& text : given.bound) {
    const auto [key, tensor] = key_and_value(text);
    options.bound[key] = read_tensor(text_of(tensor));
    said += " --bind " + key + "=" + fs::path(tensor).filename().string();
  }
  for (const std::string& text : given.layouts) {
    options.layouts.insert(key_and_value(text));
    said += " --layout " + text;
  }
  options.from = given.from;
  options.to = given.to;
  options.widen_half = given.half == "widen";
  if (!given.from.empty()) said += " --from " + given.from;
  for (const std::string& name : given.to) said += " --to " + name;
  for (const std::string& text : given.states) said += " --state " + text;
  if (!options.widen_half) said += " --half keep";
  options.leave_unsupported = given.unsupported == "onnxruntime";
  if (options.leave_unsupported) said += " --unsupported onnxruntime";
  if (given.embed) said += " --embed";

  const fs::path file(given.model);
  const model_def model = read_model(file);
  state_pairs states;
  for (const std::string& state : given.states) states.push_back(key_and_value(state));
  std::list<chosen_graph> graphs = graphs_of(model, options, states, alternatives);
  const bool several = graphs.size() > 1;
  std::vector<std::pair<std::string, lowering*>> named;
  for (chosen_graph& g : graphs) named.emplace_back(g.chosen.space, &*g.lowered);
  const weight_map weights = share_weights(named);
  for (chosen_graph& g : graphs) g.graph = fuse(*g.lowered);

  hash bytes;
  const mapped_file mapped(file);
  bytes.add({mapped.at(0).get(), mapped.size()});
  header_text text;
  text.name = given.name.empty() ? identifier(file.stem().string()) : given.name;
  text.model = file.filename().string();
  text.model_hash = bytes.text();
  text.options = said.empty() ? "" : said.substr(1);
  text.weights_file = text.name + ".safetensors";
  text.embed = given.embed;
  text.states = graphs.front().states;
  std::string listed, listed_json;
  std::vector<header_graph> parts;
  for (const chosen_graph& g : graphs) {
    const listing head{text.model, several ? text.name + "::" + g.chosen.space : text.name, g.counts, g.before_passes};
    const std::string one = listing_text(head, *g.lowered, g.graph, g.net);
    std::cout << one.substr(0, one.find("\n\n") + 1);
    listed += (listed.empty() ? "" : "\n") + one;
    listed_json += (listed_json.empty() ? "" : ",") + listing_json(head, *g.lowered, g.graph, g.net);
    parts.push_back({g.chosen.space, *g.lowered, g.graph, g.net});
  }
  if (several) listed_json = "{\"graphs\":[" + listed_json + "]}\n";
  const chosen_graph& first = graphs.front();
  const std::string header =
      several ? write_header(parts, weights, text) : write_header(*first.lowered, first.graph, first.net, text);
  if (!given.compare.empty()) compare_with(given.compare, header);
  if (given.check) return 0;
  const fs::path folder(given.output);
  fs::create_directories(folder);
  const fs::path header_file = folder / (text.name + ".onnx.hpp"), weights_file = folder / text.weights_file;
  if (given.weights_only) {
    const std::string before_now = text_of(header_file);
    if (before_now.find('"' + structure_hash(weights) + '"') == std::string::npos)
      throw conversion_error(header_file.string() +
                             " is of a model whose parameters have other names, types or extents");
  } else {
    write_text(header_file, header);
    write_text(folder / (text.name + ".onnx.txt"), listed);
    write_text(folder / (text.name + ".onnx.json"), listed_json);
    if (given.embed)
      write_text(folder / (text.name + ".weights.cpp"), write_embedded(text, fs::absolute(weights_file).string()));
  }
  write_safetensors(weights_file, weights,
                    {{"levada.structure", structure_hash(weights)}, {"levada.model", text.model_hash}});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  settings given;
  CLI::App app("Makes a header of levada and a file of weights of an ONNX model", "onnx_to_levada");
  app.add_option("model", given.model, "the .onnx file");
  bool list_ops = false;
  app.add_flag("--list-ops", list_ops, "prints the ops that are supported, as docs/onnx_ops.md");
  app.add_option("-o,--output", given.output, "the folder that gets NAME.onnx.hpp and NAME.safetensors");
  app.add_option("--name", given.name, "the namespace; the file's name where not given");
  app.add_option("--dims", given.dims,
                 "extents of free axes: batch=1 x.2=480 x=1,3,480,640; a graph each for W=160|320");
  app.add_option("--constants", given.constants, "inputs that are the same for all items: sr=16000");
  app.add_option("--bind", given.bound, "the same of tensors in files: shape=FILE.pb");
  app.add_option("--from", given.from, "the tensor where the part that is wanted begins");
  app.add_option("--to", given.to, "the tensors where it ends");
  app.add_option("--half", given.half, "float16 weights: widen or keep")->check(CLI::IsMember({"widen", "keep"}));
  app.add_option("--unsupported", given.unsupported, "nodes that levada lacks: error, or left to onnxruntime")
      ->check(CLI::IsMember({"error", "onnxruntime"}));
  app.add_option("--state", given.states, "an output that is an input of the next item: stateN=state");
  app.add_option("--layout", given.layouts, "the order of an input's items where it is not the model's: x=NHWC");
  app.add_option("--compare", given.compare, "a header that has to be the one that is made");
  app.add_flag("--embed", given.embed, "the weights become a part of the program");
  app.add_flag("--weights-only", given.weights_only, "new weights of the same extents; the header stays");
  app.add_flag("--check", given.check, "writes nothing; says whether the model converts");
  CLI11_PARSE(app, argc, argv);
  if (list_ops) {
    std::cout << table_of_ops();
    return 0;
  }
  try {
    if (given.model.empty()) throw conversion_error("no model is named: onnx_to_levada MODEL -o FOLDER, or --help");
    return convert(given);
  } catch (const std::exception& failure) {
    std::cerr << "onnx_to_levada: " << failure.what() << "\n";
    return 1;
  }
}
