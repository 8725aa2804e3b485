// SPDX-License-Identifier: Apache-2.0
// error: backend_cannot_take_this_region_as_one
// place: "npu"
// place: "relu + softmax"
// place: rules_of_the_backend_do_not_find_it
//
// A region given by hand to a backend that takes the same ops the other way round only.

#include <levada/levada.hpp>

#include <levada/backend/prepared.hpp>
#include <levada/plan/rules.hpp>

namespace lv = levada;

using vector = lv::tensor<float, 8>;

struct npu {
  static constexpr std::string_view name = "npu";
  static constexpr lv::device_kind device = lv::device_kind::cpu;
  static constexpr std::size_t longest_run = 4;
  static constexpr auto rules =
      lv::union_of(lv::single(lv::named_kind{"relu"}), lv::matching(lv::is("relu")(lv::is("softmax"))));

  static constexpr bool takes(lv::op_run) { return true; }
  static int prepare(lv::op_run, lv::parameter_values) { return 0; }
  static void run(int, const void* const*, void*, std::byte*) {}
  template <class In, class... Ops>
  using kernel = lv::prepared_kernel<npu, In, Ops...>;
};

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<vector> | lv::on<npu>(lv::nn::softmax | lv::nn::relu);
#else
  auto p = lv::input<vector> | lv::on<npu>(lv::nn::relu | lv::nn::softmax);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::backends<lv::simd, npu>>(p);
  static_assert(decltype(app)::plan.segments == 1);
  auto session = app.open();
  session.push(vector{});
  return static_cast<int>(app(vector{})[0] + session.pop()->value()[0]);
}
