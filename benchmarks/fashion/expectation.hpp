// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion/expectation.hpp: that all contenders compute the same is checked before anything is timed.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels.hpp"
#include "model.hpp"

namespace fashion {

/// What `reference` says, which all others are checked against.
class expectation {
 public:
  expectation() {
    for (std::size_t i = 0; i < std::min<std::size_t>(1'000, pictures_.size()); ++i)
      first_logits_.push_back(by_reference(i));
  }

  /// Throws where the logits of the first pictures differ.
  template <class Network>
  void check_logits(const std::string& contender, Network& network) const {
    for (std::size_t i = 0; i < first_logits_.size(); ++i) {
      normalise(pictures_[i], network.in);
      const logits &expected = first_logits_[i], &got = network.run();
      for (std::size_t k = 0; k < logits::elements; ++k)
        if (!(std::abs(got.data()[k] - expected.data()[k]) <= tolerance))
          throw levada::error(contender + ": a logit of picture " + std::to_string(i) + " is " +
                              std::to_string(got.data()[k]) + ", the reference's " +
                              std::to_string(expected.data()[k]));
    }
  }

  /// Throws where a label has not the largest logit: asked of the first pictures, and of all to which the contender
  /// before gave another label.
  void check_labels(const std::string& contender, const labels& got) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool first = i < first_logits_.size();
      if (!first && (before_.empty() || got[i] == before_[i])) continue;
      const logits l = first ? first_logits_[i] : by_reference(i);
      if (got[i] < 0 || got[i] > 9 || l.data()[got[i]] < *std::max_element(l.begin(), l.end()) - tolerance)
        throw levada::error(contender + ": the label of picture " + std::to_string(i) + " is not " +
                            std::to_string(got[i]));
    }
    before_ = got;
  }

  /// Throws where more than two labels of a hundred are not what `reference` says of the first pictures.
  void check_most_labels(const std::string& contender, const labels& got) const {
    std::size_t others = 0;
    for (std::size_t i = 0; i < first_logits_.size(); ++i) others += got[i] != levada::argmax(first_logits_[i]);
    if (50 * others > first_logits_.size())
      throw levada::error(contender + ": " + std::to_string(others) + " of " + std::to_string(first_logits_.size()) +
                          " labels are not those of float");
  }

 private:
  static constexpr float tolerance = 1e-4f;

  const logits& by_reference(std::size_t i) {
    normalise(pictures_[i], reference_->in);
    return reference_->run();
  }

  const std::vector<picture>& pictures_ = the_pictures().pictures;
  std::unique_ptr<with_reference> reference_ = std::make_unique<with_reference>();
  std::vector<logits> first_logits_;
  labels before_;
};

}  // namespace fashion
