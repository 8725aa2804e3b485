// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/model_weights.hpp: what the headers that onnx_to_levada writes need beside ops: where the file of weights is,
// whether it belongs to the model, and what stands around the branches of an `If`.

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/error.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/parameters.hpp>
#include <levada/interop/safetensors.hpp>

namespace levada {

/// A file that comes with a program. It is looked for beside the program, in ../share/levada beside that folder, and
/// where it was made; `path()` is the first that is there, and the last where none is.
class model_file {
 public:
  model_file(std::string_view name, std::string_view made_in) : name_(name), made_in_(made_in) {}

  std::filesystem::path path() const {
    namespace fs = std::filesystem;
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed), beside = program.parent_path();
    if (!failed)
      for (const fs::path& folder : {beside, beside.parent_path() / "share" / "levada"})
        if (fs::exists(folder / name_, failed)) return folder / name_;
    return fs::path(made_in_) / name_;
  }
  operator std::filesystem::path() const { return path(); }  // NOLINT: safetensors takes it as the path that it is

 private:
  std::string name_, made_in_;
};

/// Throws `levada::error` where weights say that they are those of another model. Sources that say nothing of it are
/// checked name by name in `deploy`.
template <parameter_source Weights>
void check_model(const Weights& weights, std::string_view structure) {
  if constexpr (requires { weights.metadata().find(std::string_view()); }) {
    const auto found = weights.metadata().find(std::string_view("levada.structure"));
    if (found != weights.metadata().end() && found->second != structure)
      throw error("these are the weights of another model: their structure is " + found->second + ", the model's is " +
                  std::string(structure));
  }
}

/// By which a route chooses its first branch: the first of its items, a truth value.
struct first_is_true {
  template <class... Others>
  bool operator()(const tensor<bool, 1>& first, const Others&...) const {
    return first[0];
  }
};

/// Of several items the first, or a tuple of the first `Count`: what a branch gives that is given more than it needs.
template <std::size_t Count>
struct first_items {
  template <class First, class Second, class... Others>
  auto operator()(const First& first, const Second& second, const Others&... others) const {
    if constexpr (Count == 1) {
      return first;
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>, const auto& all) {
        return std::tuple<std::remove_cvref_t<decltype(std::get<I>(all))>...>(std::get<I>(all)...);
      }(std::make_index_sequence<Count>{}, std::tie(first, second, others...));
    }
  }
};

}  // namespace levada
