// SPDX-License-Identifier: Apache-2.0
// Two clocks and a filter: a gyroscope of 200 Hz, whose bias wanders, and a camera of 30 frames a second, which sees
// the true angle but coarsely, late, and for two seconds not at all. Their recordings are replayed as they came;
// sync_by_time hands each turn the last frame before it, and a Kalman filter behind it keeps its state by feedback.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include <levada/graph/sync.hpp>
#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;
using namespace std::chrono_literals;

namespace {

using time_point = std::chrono::steady_clock::time_point;

/// What the sensors say, at their time in seconds.
struct turn {
  double at, rate;
};
struct sighting {
  double at, angle;
};
struct estimate {
  double at, angle, bias;
};

double true_angle(double t) { return std::sin(0.7 * t) + 0.3 * std::sin(2.9 * t); }
double true_rate(double t) { return 0.7 * std::cos(0.7 * t) + 0.87 * std::cos(2.9 * t); }

time_point moment(double seconds) {
  return time_point() + 1h + std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

constexpr double length = 20, outage_from = 9, outage_to = 11, camera_delay = 0.025;

struct recordings {
  std::vector<turn> turns;
  std::vector<sighting> sightings;
};

recordings record() {
  std::mt19937 random(7);
  std::normal_distribution<double> noise;
  recordings r;
  double bias = 0.08, last = 0;
  for (double t = 0; t < length; t += 1.0 / 200) {
    bias += 0.0005 * noise(random);
    last = std::max(last, t + 0.0005 * noise(random));  // as the clock of the gyroscope jitters
    r.turns.push_back({last, true_rate(last) + bias + 0.02 * noise(random)});
  }
  for (double t = 0.01; t < length; t += 1.001 / 30) {  // this clock is slow
    if (t >= outage_from && t < outage_to) continue;
    r.sightings.push_back({t, true_angle(t) + 0.04 * noise(random)});
  }
  return r;
}

/// A Kalman filter of the angle and the bias of the gyroscope. An item is a turn and the last sighting before it.
struct kalman {
  double angle = 0, bias = 0, at = 0, seen = -1;
  double of_angle = 1, of_both = 0, of_bias = 0.05;  ///< covariance

  void predict(const turn& t) {
    const double dt = at == 0 ? 0 : t.at - at;
    at = t.at;
    angle += (t.rate - bias) * dt;
    of_angle += dt * (dt * of_bias - 2 * of_both + 4e-4 * dt);
    of_both -= dt * of_bias;
    of_bias += 5e-5 * dt;
  }
  void correct(const turn& t, const sighting& s) {
    if (s.at == seen) return;
    seen = s.at;
    const double then = angle - (t.rate - bias) * (t.at - s.at);
    const double gain = of_angle / (of_angle + 1.6e-3), gain_of_bias = of_both / (of_angle + 1.6e-3);
    angle += gain * (s.angle - then);
    bias += gain_of_bias * (s.angle - then);
    of_bias -= gain_of_bias * of_both;
    of_both -= gain * of_both;
    of_angle -= gain * of_angle;
  }
};

/// Both recordings in the order in which they came, in their own time.
template <class Session>
void replay(Session& session, lv::virtual_clock& clock, const recordings& r) {
  auto sighting = r.sightings.begin();
  const auto push_sightings_until = [&](double t) {
    for (; sighting != r.sightings.end() && sighting->at + camera_delay <= t; ++sighting) {
      clock.advance_to(moment(sighting->at + camera_delay));
      session.template push<"camera">(*sighting, moment(sighting->at));
    }
  };
  for (const turn& t : r.turns) {
    push_sightings_until(t.at);
    clock.advance_to(moment(t.at));
    session.template push<"gyroscope">(t, moment(t.at));
  }
  push_sightings_until(length + 1);
  session.close();
}

/// The root of a mean of squares.
class deviation {
 public:
  void add(double difference) {
    sum_ += difference * difference;
    ++count_;
  }
  double value() const { return std::sqrt(sum_ / count_); }

 private:
  double sum_ = 0, count_ = 0;
};

}  // namespace

int main() {
  const recordings recorded = record();

  using both = lv::named_items<lv::named_item<"gyroscope", turn>, lv::named_item<"camera", sighting>>;
  const auto step = [](const both& in, kalman& filter) {
    filter.predict(in.get<"gyroscope">());
    filter.correct(in.get<"gyroscope">(), in.get<"camera">());
    return estimate{filter.at, filter.angle, filter.bias};
  };
  // A turn waits for a frame that is not older, so as to know which was the last before it; in the outage not for long.
  auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::sync_by_time<lv::tolerance<3_s>, lv::stall<100_ms>>(
                                             lv::port<"gyroscope", turn>, lv::held(lv::port<"camera", sighting>)) |
                                         lv::feedback<"filter">(step, kalman{}));

  lv::virtual_clock clock(moment(0));
  auto session = app.open(clock);
  std::jthread feeder([&] { replay(session, clock, recorded); });
  deviation of_filter, in_outage;
  estimate last{};
  std::size_t estimates = 0;
  while (auto r = session.pop()) {
    last = r->value();
    if (estimates++ % 400 == 0)
      std::printf("%6.2f s: angle %6.3f, estimated %6.3f, bias %.3f\n", last.at, true_angle(last.at), last.angle,
                  last.bias);
    if (last.at > 2) of_filter.add(last.angle - true_angle(last.at));
    if (last.at >= outage_from && last.at < outage_to) in_outage.add(last.angle - true_angle(last.at));
  }

  deviation of_camera, of_gyroscope;
  for (const sighting& s : recorded.sightings) of_camera.add(s.angle - true_angle(s.at));
  double integrated = true_angle(recorded.turns[0].at);
  for (std::size_t i = 1; i < recorded.turns.size(); ++i) {
    integrated += recorded.turns[i].rate * (recorded.turns[i].at - recorded.turns[i - 1].at);
    of_gyroscope.add(integrated - true_angle(recorded.turns[i].at));
  }
  const lv::item_counts counts = session.counts();
  std::printf("%zu estimates of %zu turns, %zu before the first frame\n", estimates, recorded.turns.size(),
              static_cast<std::size_t>(counts.dropped));
  std::printf("deviation: camera %.4f, gyroscope alone %.4f, filter %.4f, in the outage %.4f\n", of_camera.value(),
              of_gyroscope.value(), of_filter.value(), in_outage.value());
  const bool good = of_filter.value() < of_camera.value() / 2 && of_filter.value() < of_gyroscope.value() / 10 &&
                    estimates + counts.dropped == recorded.turns.size() && estimates > recorded.turns.size() - 20;
  return good ? 0 : 1;
}
