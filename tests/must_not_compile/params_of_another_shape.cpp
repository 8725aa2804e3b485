// SPDX-License-Identifier: Apache-2.0
// error: parameter_is_of_another_type_or_shape
// place: "weight"
// place: gives<levada::tensor<float, 2, 3>
// place: wants<levada::tensor<float, 3, 2>
//
// A weight is replaced by one of another shape.

#include <optional>
#include <string_view>

#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;

struct weights {
  std::optional<lv::stored_tensor> find(std::string_view) const { return std::nullopt; }
};

int main() {
  const weights none;
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<lv::tensor<float, 2>> |
                                                lv::params<"head">(lv::nn::dense<"fc", 3>(none)));
#ifdef LEVADA_CORRECT
  const lv::tensor<float, 3, 2> weight{};
#else
  const lv::tensor<float, 2, 3> weight{};
#endif
  app.params<"head">().set<"weight">(weight);
}
