// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion/kernels.hpp: the network by the kernels alone, without a pipeline around them: `simd` in three fused runs,
// `reference` op by op. What levada's own call costs beside them shows in the difference to `with_levada`.

#include <cstddef>
#include <memory>
#include <span>

#include <levada/backend/reference.hpp>
#include <levada/backend/simd.hpp>
#include <levada/nn.hpp>

#include "model.hpp"

namespace fashion {

namespace lv = levada;

using conv1 = lv::conv2d_op<8, lv::size<5>, lv::padding<2>>;
using pool1 = lv::max_pool2d_op<lv::size<2>>;
using conv2 = lv::conv2d_op<16, lv::size<5>, lv::padding<2>>;
using pool2 = lv::max_pool2d_op<lv::size<3>>;
using dense = lv::dense_op<10>;

/// A kernel with its scratch and its result.
template <class Backend, class In, class... Ops>
class computed {
 public:
  using kernel = typename Backend::template kernel<In, Ops...>;

  template <class... T>
  explicit computed(const T&... parameters) {
    const void* pointers[] = {parameters.data()..., nullptr};
    kernel_ = std::make_unique<kernel>(Ops()..., lv::parameter_values(std::span(pointers).first(sizeof...(T))));
  }
  const lv::run_output_t<In, Ops...>& operator()(const In& in) {
    (*kernel_)(in, result_, scratch_.data);
    return result_;
  }

 private:
  struct alignas(64) memory {
    std::byte data[kernel::scratch_bytes + 64];
  };
  std::unique_ptr<kernel> kernel_;
  lv::run_output_t<In, Ops...> result_;
  memory scratch_;
};

/// The network as three fused kernels.
class with_simd {
 public:
  pixels in;

  const logits& run() { return third_(second_(first_(in))); }

 private:
  computed<lv::simd, pixels, conv1, lv::relu_op, pool1> first_{the_weights().conv1_weight, the_weights().conv1_bias};
  computed<lv::simd, lv::tensor<float, 8, 14, 14>, conv2, lv::relu_op, pool2, lv::flatten_op> second_{
      the_weights().conv2_weight, the_weights().conv2_bias};
  computed<lv::simd, lv::tensor<float, 256>, dense> third_{the_weights().dense_weight, the_weights().dense_bias};
};

/// The network op by op.
class with_reference {
 public:
  pixels in;

  const logits& run() { return dense_(flatten_(pool2_(relu2_(conv2_(pool1_(relu1_(conv1_(in)))))))); }

 private:
  computed<lv::reference, pixels, conv1> conv1_{the_weights().conv1_weight, the_weights().conv1_bias};
  computed<lv::reference, lv::tensor<float, 8, 28, 28>, lv::relu_op> relu1_;
  computed<lv::reference, lv::tensor<float, 8, 28, 28>, pool1> pool1_;
  computed<lv::reference, lv::tensor<float, 8, 14, 14>, conv2> conv2_{the_weights().conv2_weight,
                                                                      the_weights().conv2_bias};
  computed<lv::reference, lv::tensor<float, 16, 14, 14>, lv::relu_op> relu2_;
  computed<lv::reference, lv::tensor<float, 16, 14, 14>, pool2> pool2_;
  computed<lv::reference, lv::tensor<float, 16, 4, 4>, lv::flatten_op> flatten_;
  computed<lv::reference, lv::tensor<float, 256>, dense> dense_{the_weights().dense_weight, the_weights().dense_bias};
};

}  // namespace fashion
