// SPDX-License-Identifier: Apache-2.0
// Weights of a converted model: whose they are, and where their file is looked for.

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <levada/interop/model_weights.hpp>

#include "files.hpp"

namespace {

namespace lv = levada;

struct labelled_source {
  std::map<std::string, std::string, std::less<>> pairs;
  std::optional<lv::stored_tensor> find(std::string_view) const { return std::nullopt; }
  const std::map<std::string, std::string, std::less<>>& metadata() const { return pairs; }
};
struct plain_source {
  std::optional<lv::stored_tensor> find(std::string_view) const { return std::nullopt; }
};

TEST_CASE("weights of another model are refused, and those that do not say are not") {
  CHECK_NOTHROW(lv::check_model(labelled_source{{{"levada.structure", "84c4"}}}, "84c4"));
  CHECK_NOTHROW(lv::check_model(labelled_source{}, "84c4"));
  CHECK_NOTHROW(lv::check_model(plain_source{}, "84c4"));
  CHECK_THROWS_WITH_AS(lv::check_model(labelled_source{{{"levada.structure", "17ab"}}}, "84c4"),
                       "these are the weights of another model: their structure is 17ab, the model's is 84c4",
                       lv::error);
}

TEST_CASE("a model's file is beside the program, else where it was made") {
  const std::string name = "levada_model_file_test.safetensors";
  const lv::model_file file(name, "/made/here");
  CHECK(file.path() == std::filesystem::path("/made/here") / name);
  const std::filesystem::path beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
  std::ofstream(beside) << "weights";
  CHECK(file.path() == beside);
  CHECK(std::filesystem::path(file) == beside);
  std::filesystem::remove(beside);
}

}  // namespace
