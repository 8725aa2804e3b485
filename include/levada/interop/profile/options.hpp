// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/options.hpp: how a profile is made, and what it says.

#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <levada/plan/detail/cost.hpp>

namespace levada {

/// How far a profile is.
struct profile_progress {
  std::size_t done = 0, all = 0;
  double seconds_left = 0;  ///< if the rest takes as long as what was measured
  std::string_view backend, signature;
};

/// A line on the terminal, for `profile_options::progress`.
inline void print_progress(const profile_progress& p) {
  std::fprintf(stderr, "\r%zu of %zu, %.0f s left: %.*s %.60s\033[K%s", p.done, p.all, p.seconds_left,
               static_cast<int>(p.backend.size()), p.backend.data(), std::string(p.signature).c_str(),
               p.done == p.all ? "\n" : "");
}

/// How a profile is made.
struct profile_options {
  double seconds_each = 0.1;   ///< for each kernel, in each round
  int rounds = 3;              ///< all kernels, once more; of a kernel's medians the smallest counts
  double seconds_wholes = 20;  ///< for whole plans against each other, at most; 0: none is tried
  std::function<void(const profile_progress&)> progress{};
};

/// A plan that was tried as a whole.
struct tried_plan {
  std::string name;  ///< "simd first", "by costs"
  double seconds = 0;
  double of_kept = 0;  ///< its time over that of the plan that was kept, paired
};

/// What became of the second pass of a profile.
struct whole_result {
  cost kept{};              ///< an item's time by the plan that was kept; unknown where nothing was tried
  double sum = 0;           ///< of the kept plan's kernels, each by itself
  double sum_in_place = 0;  ///< of the same between the others, which the header has from now on
  std::size_t tried = 0;    ///< plans, in all
  std::size_t better = 0;   ///< neighbours that were kept for a while
  std::vector<tried_plan> plans;

  /// By how much the whole takes more than the sum (Collage's additive error).
  double additive_error() const { return sum > 0 ? kept.seconds / sum - 1 : 0; }
};

/// What became of a profile.
struct profile_result {
  std::size_t measured = 0;  ///< now
  std::size_t reused = 0;    ///< from the header that was there
  std::string stale;         ///< the machine that a header which was there is from, if it is not this one
  whole_result wholes;       ///< of the second pass, if there was one
};

}  // namespace levada
