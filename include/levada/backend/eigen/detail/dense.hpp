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
        bias_(Eigen::Map<const Eigen::VectorXf>(folded.bias.data(), static_cast<Eigen::Index>(folded.bias.size()))) {}

  static constexpr std::size_t scratch_bytes(const op_info&) { return 0; }

  template <class Epilogue>
  void operator()(const float* const* inputs, float* out, std::byte*, const Epilogue& epilogue) const {
    const Eigen::Map<const Eigen::VectorXf, Eigen::Aligned64> from(inputs[0], weight_.cols());
    Eigen::Map<Eigen::VectorXf, Eigen::Aligned64> to(out, weight_.rows());
    to = bias_;
    to.noalias() += weight_ * from;
    epilogue(out, 0, 0, static_cast<std::size_t>(to.size()));
  }

 private:
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  matrix weight_;
  Eigen::VectorXf bias_;
};

}  // namespace levada::detail
