// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/renamed.hpp: a source of parameters whose names are not those that a pipeline's stages have.
//
//   const auto weights = renamed(file, {{"", "model"}, {"bn1", "model.layers.0.1"}, {"fc.weight", "head.kernel"}});

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/parameters.hpp>

namespace levada {

namespace detail {

/// What is asked for, and what that is called where it is stored: whole names, or the first of their parts between
/// dots.
class rename_table {
 public:
  using pair = std::pair<std::string_view, std::string_view>;

  explicit rename_table(std::initializer_list<pair> pairs) {
    for (const auto& [asked, stored] : pairs) pairs_.emplace_back(asked, stored);
  }

  /// By the longest of the pairs that fit; of two equal ones the first.
  std::string operator()(std::string_view name) const {
    const std::pair<std::string, std::string>* longest = nullptr;
    for (const auto& p : pairs_)
      if (begins(name, p.first) && (longest == nullptr || p.first.size() > longest->first.size())) longest = &p;
    if (longest == nullptr) return std::string(name);
    std::string_view rest = name.substr(longest->first.size());
    if (rest.starts_with('.')) rest.remove_prefix(1);
    std::string result = longest->second;
    if (!result.empty() && !rest.empty()) result += '.';
    return result.append(rest);
  }

 private:
  static bool begins(std::string_view name, std::string_view asked) {
    return asked.empty() || (name.starts_with(asked) && (name.size() == asked.size() || name[asked.size()] == '.'));
  }

  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace detail

/// Another source under other names; see `renamed`.
template <parameter_source Source, class Rename>
class renamed_parameters {
 public:
  renamed_parameters(const Source& source, Rename rename) : source_(&source), rename_(std::move(rename)) {}

  std::optional<stored_tensor> find(std::string_view name) const {
    return source_->find(std::string_view(std::string(rename_(name))));
  }
  std::string stored_name(std::string_view name) const {
    return parameter_source_ref(*source_).stored_name(std::string(rename_(name)));
  }
  auto names() const
    requires requires(const Source& source) { source.names(); }
  {
    return source_->names();
  }
  detail::kernel_store* kernels() const { return parameter_source_ref(*source_).kernels(); }

 private:
  const Source* source_;
  Rename rename_;
};

/// A source that looks for parameters under other names in `weights`, which must outlive it. Each pair is a name that
/// is asked for and what stands for it where it is stored: a parameter ("fc.weight"), a stage ("bn1"), or "" for what
/// goes before all names. The longest that fits holds, and what fits none keeps its name.
template <parameter_source Source>
auto renamed(const Source& weights, std::initializer_list<std::pair<std::string_view, std::string_view>> pairs) {
  return renamed_parameters<Source, detail::rename_table>(weights, detail::rename_table(pairs));
}
/// By a function of the name that is asked for.
template <parameter_source Source, class Rename>
  requires std::is_invocable_r_v<std::string, const Rename&, std::string_view>
auto renamed(const Source& weights, Rename rename) {
  return renamed_parameters<Source, Rename>(weights, std::move(rename));
}
template <parameter_source Source>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<"renamed", Source>> renamed(
    const Source&&, std::initializer_list<std::pair<std::string_view, std::string_view>>);
template <parameter_source Source, class Rename>
  requires std::is_invocable_r_v<std::string, const Rename&, std::string_view>
mistake_found<weights_have_to_outlive_deploy_give_them_a_name<"renamed", Source>> renamed(const Source&&, Rename);

}  // namespace levada
