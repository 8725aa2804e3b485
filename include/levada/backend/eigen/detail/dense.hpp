// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/eigen/detail/dense.hpp: the fully connected layer as Eigen's product of a matrix and a vector.

#include <cstddef>

#include <levada/backend/detail/weighted_run.hpp>
#include <levada/backend/eigen/detail/library.hpp>

namespace levada::detail {

class eigen_dense {
 public:
  eigen_dense(op_run run, const folded_weights& folded)
      : weight_(Eigen::Map<const matrix>(folded.weight.data(), static_cast<Eigen::Index>(folded.bias.size()),
                                         static_cast<Eigen::Index>(run[0].input().extents.elements()))),
        bias_(Eigen::Map<const Eigen::VectorXf>(folded.bias.data(), static_cast<Eigen::Index>(folded.bias.size()))),
        relu_(weighted_run_of(run).relu) {}

  void operator()(const float* in, float* out) const {
    const Eigen::Map<const Eigen::VectorXf, Eigen::Aligned64> from(in, weight_.cols());
    Eigen::Map<Eigen::VectorXf, Eigen::Aligned64> to(out, weight_.rows());
    to = bias_;
    to.noalias() += weight_ * from;
    // A NaN stays.
    if (relu_)
      for (Eigen::Index i = 0; i < to.size(); ++i) to[i] = to[i] < 0 ? 0 : to[i];
  }

 private:
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  matrix weight_;
  Eigen::VectorXf bias_;
  bool relu_;
};

}  // namespace levada::detail
