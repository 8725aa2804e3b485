// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/cost_keeper.hpp: what is measured, round by round, as it goes into a header of costs: what is wanted
// still, and how far all is.

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <levada/interop/profile/cost_header.hpp>
#include <levada/interop/profile/options.hpp>
#include <levada/plan/cost_table.hpp>

namespace levada::detail {

/// Of one pipeline. Who measures asks whether a cost is wanted, and gives it then.
class cost_keeper {
 public:
  cost_keeper(cost_header& costs, const profile_options& options) : costs_(costs), options_(options) {}

  /// So many measurements in all rounds.
  void begin(std::size_t all) {
    begin_ = std::chrono::steady_clock::now();
    all_ = all;
  }
  void begin_round(int round) { round_ = round; }
  const profile_result& result() const { return result_; }

  /// Nobody has measured it, or only an earlier round.
  bool is_wanted(std::string_view backend, const std::string& signature) {
    ++done_;
    const bool is_first = !measured_in_.contains({backend, signature});
    if (is_first && costs_.find(backend, signature) == nullptr) return true;
    if (!is_first && measured_in_.at({backend, signature}) < round_) return true;
    if (round_ == 0) ++result_.reused;
    return false;
  }
  void keep(std::string_view backend, const std::string& signature, const cost& c) {
    const cost* const known = costs_.find(backend, signature);
    if (known == nullptr || c.seconds < known->seconds) costs_.set(backend, signature, c);
    measured_in_[{backend, signature}] = round_;
    costs_.write();
    if (round_ == 0) ++result_.measured;
    ++kept_;
    if (!options_.progress) return;
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    options_.progress(
        {done_, all_, spent / static_cast<double>(kept_) * static_cast<double>(all_ - done_), backend, signature});
  }

 private:
  cost_header& costs_;
  const profile_options& options_;
  profile_result result_;
  std::map<std::pair<std::string_view, std::string>, int> measured_in_;  ///< the last round
  int round_ = 0;
  std::size_t all_ = 0, done_ = 0, kept_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace levada::detail
