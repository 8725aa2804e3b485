// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote_camera/tracker.hpp: follows faces from shot to shot. It has a state, so it sees the shots one by one.

#include <algorithm>
#include <cstddef>

#include "../face/faces.hpp"

namespace example {

struct face_track {
  int id = 0;                 ///< from the third shot on: what is found once is often no face
  int shots = 0, unseen = 0;  ///< with it, and since it was found
  face at;                    ///< its box is smoothed
};
using face_tracks = levada::bounded<face_track, most_faces>;

class face_tracker {
 public:
  face_tracks operator()(const faces& found) {
    for (face_track& t : known_) ++t.unseen;
    for (const face& f : found) {
      const auto same = std::find_if(known_.begin(), known_.end(),
                                     [&](const face_track& t) { return t.unseen != 0 && overlap(t.at, f) > 0.3f; });
      if (same == known_.end())
        known_.try_push_back({0, 1, 0, f});
      else
        *same = {++same->shots == 3 ? ++last_id_ : same->id, same->shots, 0, smoothed(same->at, f)};
    }
    const auto left =
        std::remove_if(known_.begin(), known_.end(), [](const face_track& t) { return t.unseen > longest_unseen; });
    known_.resize(static_cast<std::size_t>(left - known_.begin()));
    return known_;
  }

 private:
  static constexpr int longest_unseen = 3;

  static face smoothed(const face& before, face now) {
    const auto mix = [](const point& a, const point& b) { return point{(a.x + b.x) / 2, (a.y + b.y) / 2}; };
    now.low = mix(before.low, now.low), now.high = mix(before.high, now.high);
    return now;
  }

  face_tracks known_;
  int last_id_ = 0;
};

}  // namespace example
