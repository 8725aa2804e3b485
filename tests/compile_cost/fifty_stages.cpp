// SPDX-License-Identifier: Apache-2.0
// A pipeline of fifty stages as an application might have: lambdas with and without captures, functions, several item
// types, filters, one stage with state; called inline, streamed, and through a session. What tools/compile_cost.py
// compiles.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

namespace {

using signal = lv::tensor<float, 8>;

struct message {
  std::string sensor;
  std::vector<float> values;
  int checksum = 0;
};

struct features {
  float mean = 0, peak = 0, energy = 0;
};

struct decision {
  float score = 0;
  int label = 0;
  bool alarm = false;
};

signal clamp_all(const signal& in) {
  signal out = in;
  for (float& x : out) x = x < -1 ? -1 : x > 1 ? 1 : x;
  return out;
}

decision decide(const features& f) { return {f.mean + f.peak, f.energy > 1 ? 1 : 0}; }

struct smoothed {
  float before = 0;

  features operator()(const features& f) {
    before += 0.25f * (f.mean - before);
    return {before, f.peak, f.energy};
  }
};

/// `items` are lines such as "7 0.5"; `gain` and the rest are what an application reads from its settings.
auto fifty_stages(float gain, float offset, int least, const std::string& prefix) {
  // clang-format off
  return lv::input<std::string>
      | lv::stage<"keep what is not empty">(
          [](std::string&& s) { return s.empty() ? std::nullopt : std::optional(std::move(s)); })
      | lv::stage<"drop comments">(
          [](std::string&& s) { return s[0] == '#' ? std::nullopt : std::optional(std::move(s)); })
      | lv::stage<"trim">([](std::string& s) { while (!s.empty() && s.back() == ' ') s.pop_back(); })
      | lv::stage<"add prefix">(lv::parallel([prefix](const std::string& s) { return prefix + s; }))
      | lv::stage<"parse">(
          [](const std::string& s) { return message{s, std::vector<float>(8, 0.5f), static_cast<int>(s.size())}; })
      | lv::stage<"count values">([](message& m) { m.checksum += static_cast<int>(m.values.size()); })
      | lv::stage<"check length">(
          [](message&& m) { return m.values.size() == 8 ? std::optional(std::move(m)) : std::nullopt; })
      | lv::stage<"check sum">(
          [least](message&& m) { return m.checksum >= least ? std::optional(std::move(m)) : std::nullopt; })
      | lv::stage<"rename sensor">(lv::parallel([prefix](message& m) { m.sensor += prefix; }))
      | lv::stage<"to signal">(
          [](const message& m) { signal s; for (std::size_t i = 0; i < 8; ++i) s[i] = m.values[i]; return s; })
      | lv::stage<"apply gain">(lv::parallel([gain](signal& s) { for (float& x : s) x *= gain; }))
      | lv::stage<"apply offset">(lv::parallel([offset](signal& s) { for (float& x : s) x += offset; }))
      | lv::stage<"clamp">(clamp_all)
      | lv::stage<"remove mean">(
          [](signal& s) { float m = 0; for (float x : s) m += x; for (float& x : s) x -= m / 8; })
      | lv::stage<"square">([](const signal& s) { signal out = s; for (float& x : out) x *= x; return out; })
      | lv::stage<"difference", signal>(
          [](const signal& s, signal& d) { for (std::size_t i = 0; i < 8; ++i) d[i] = s[i] - s[(i + 1) % 8]; })
      | lv::stage<"rectify">([](signal& s) { for (float& x : s) x = x < 0 ? -x : x; })
      | lv::stage<"window">([](signal& s) { s[0] *= 0.5f; s[7] *= 0.5f; })
      | lv::stage<"low pass", signal>(
          [](const signal& s, signal& d) { for (std::size_t i = 0; i < 8; ++i) d[i] = 0.5f * (s[i] + s[(i + 7) % 8]); })
      | lv::stage<"high pass", signal>(
          [](const signal& s, signal& d) { for (std::size_t i = 0; i < 8; ++i) d[i] = s[i] - 0.5f * s[(i + 7) % 8]; })
      | lv::stage<"notch">([](signal& s) { s[4] = 0; })
      | lv::stage<"reverse">(
          [](const signal& s) { signal out; for (std::size_t i = 0; i < 8; ++i) out[i] = s[7 - i]; return out; })
      | lv::stage<"halve">([](signal& s) { for (float& x : s) x *= 0.5f; })
      | lv::stage<"mix">(lv::parallel([gain, offset](signal& s) { for (float& x : s) x = x * gain + offset; }))
      | lv::stage<"clamp again">(clamp_all)
      | lv::stage<"measure">(
          [](const signal& s) { features f; for (float x : s) { f.mean += x / 8; f.energy += x * x; } return f; })
      | lv::stage<"peak">([](features& f) { f.peak = f.energy > f.mean ? f.energy : f.mean; })
      | lv::stage<"smooth">(smoothed{})
      | lv::stage<"scale mean">(lv::parallel([gain](features& f) { f.mean *= gain; }))
      | lv::stage<"scale peak">(lv::parallel([gain](features& f) { f.peak *= gain; }))
      | lv::stage<"scale energy">(lv::parallel([gain](features& f) { f.energy *= gain * gain; }))
      | lv::stage<"shift mean">(lv::parallel([offset](features& f) { f.mean += offset; }))
      | lv::stage<"shift peak">(lv::parallel([offset](features& f) { f.peak += offset; }))
      | lv::stage<"refuse nothing">([](const features& f) { return f.energy >= 0 ? std::optional(f) : std::nullopt; })
      | lv::stage<"decide">(decide)
      | lv::stage<"bias score">(lv::parallel([offset](decision& d) { d.score += offset; }))
      | lv::stage<"damp score">([](decision& d) { d.score *= 0.9f; })
      | lv::stage<"alarm">(lv::parallel([gain](decision& d) { d.alarm = d.score > gain; }))
      | lv::stage<"second label">([](decision& d) { if (d.alarm) d.label += 2; })
      | lv::stage<"least label">(lv::parallel([least](decision& d) { if (d.label < least) d.label = least; }))
      | lv::stage<"score">([](const decision& d) { return d.score + static_cast<float>(d.label); })
      | lv::stage<"as double">([](const float& x) { return static_cast<double>(x); })
      | lv::stage<"round">([](const double& x) { return static_cast<std::int64_t>(x * 1000); })
      | lv::stage<"even">([](const std::int64_t& x) { return x & ~std::int64_t{1}; })
      | lv::stage<"positive">([](const std::int64_t& x) { return x < 0 ? -x : x; })
      | lv::stage<"not too large">(
          [](const std::int64_t& x) { return x < 1'000'000 ? std::optional(x) : std::nullopt; })
      | lv::stage<"low bits">([](const std::int64_t& x) { return static_cast<std::uint32_t>(x); })
      | lv::stage<"mask">([](const std::uint32_t& x) { return x & 0xffffu; })
      | lv::stage<"to text">([](const std::uint32_t& x) { return std::to_string(x); })
      | lv::stage<"sign">(lv::parallel([prefix](const std::string& s) { return prefix + s; }));
  // clang-format on
}

}  // namespace

std::size_t run(float gain, int least, const std::vector<std::string>& lines) {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(fifty_stages(gain, 0.1f, least, "sensor "));
  static_assert(decltype(app)::plan.segments == 1 && decltype(app)::plan.units == 50);
  std::size_t letters = app(lines[0]).value_or("").size();
  for (auto&& r : app.stream(lines)) letters += r.value().size();
  auto session = app.open();
  session.push(lines[0]);
  session.close();
  while (auto r = session.pop()) letters += r->value().size();
  return letters;
}
