// SPDX-License-Identifier: Apache-2.0
// A network on levada's `simd`: compiled once for each, LEVADA_NETWORK being its name and that of its header's
// namespace. With bfloat16 the network of floats is computed with that. LEVADA_NETWORK_DIRECT: on `simd_direct`.

#include LEVADA_NETWORK_HEADER

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/nn/quantize_bfloat16.hpp>
#include <levada/plan/detail/words.hpp>

#include "../../common/tensors.hpp"
#include "../network.hpp"

namespace {

namespace lv = levada;

constexpr std::string_view element = LEVADA_NETWORK_ELEMENT;
constexpr bool is_direct = LEVADA_NETWORK_DIRECT;
using backend = std::conditional_t<is_direct, lv::simd_direct, lv::simd>;

/// (A template, so that the other way is not compiled.)
template <class Graph>
auto computed(Graph graph) {
  if constexpr (element == "bf16")
    return lv::quantize<lv::bfloat16>(std::move(graph));
  else
    return graph;
}

auto deployed() {
  const lv::safetensors weights{LEVADA_NETWORK::weights_file};
  return lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>, lv::backends<backend>>(
      computed(LEVADA_NETWORK::graph(weights)));
}

class on_simd final : public models::deployed_network {
  using app = decltype(deployed());

 public:
  std::vector<std::span<float>> inputs() override { return tensors::spans(*item_); }
  std::vector<std::span<const float>> outputs() override { return tensors::spans(std::as_const(*result_)); }

  void run() override {
    one_thread_.push(*item_, *result_);
    one_thread_.pop()->value();
  }
  void run_divided() override { app_(*item_, *result_); }

  void run_on_two(std::size_t items) override {
    items_.resize(items, *item_);
    for (auto&& r : app_.stream(items_)) r.value();
  }

  /// The least times: other work on the machine only adds.
  std::vector<models::layer> layers() override {
    for (int i = 0; i < 5; ++i) run();
    one_thread_.measure();
    for (int i = 0; i < 51; ++i) run();
    const lv::session_statistics measured = one_thread_.statistics();
    std::vector<models::layer> all;
    std::size_t u = 0;
    for (const auto& unit : app::plan.unit) {
      const lv::stage_statistics& stage = measured.stages[u++];
      all.push_back({stage.name, std::string(unit.method), lv::detail::flops_of(app::plan, unit),
                     1e-9 * static_cast<double>(stage.time.min)});
    }
    return all;
  }

 private:
  app app_ = deployed();
  /// It copies its item, which `app_` does not.
  decltype(app_.open<lv::inline_when_idle, lv::external_results>()) one_thread_ =
      app_.open<lv::inline_when_idle, lv::external_results>();
  std::unique_ptr<app::item> item_ = std::make_unique<app::item>();
  std::unique_ptr<app::output> result_ = std::make_unique<app::output>();
  std::vector<app::item> items_;
};

[[maybe_unused]] const bool is_entered = [] {
  models::entries().push_back(
      {LEVADA_NETWORK_NAME, std::string(element), LEVADA_NETWORK_FILE, LEVADA_NETWORK_CONSTANT, is_direct,
       []() -> std::unique_ptr<models::deployed_network> { return std::make_unique<on_simd>(); }});
  return true;
}();

}  // namespace
