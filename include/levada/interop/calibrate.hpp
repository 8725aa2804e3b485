// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/calibrate.hpp: what the ops with weights of a pipeline take, observed with samples of its items, and written
// as the header of scales that `quantize` (nn/quantize.hpp) reads; and what integers cost in accuracy, measured with
// labelled items:
//
//   auto classify(const auto& w, auto scales) {
//     return lv::input<picture> | normalise | lv::quantize<std::int8_t>(conv | ... | fc, scales) |
//     lv::stage<"label">(argmax);
//   }
//   lv::calibrate(classify(w, lv::to_calibrate), pictures, lv::labelled{test_pictures, test_labels}, "box.scales.hpp");
//
//   #include "box.scales.hpp"
//   const auto app = lv::deploy<box, lv::budget<lv::accuracy_loss<0.5_points>>>(classify(w, lv::scales<box_scales>));

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/core/detail/whole_file.hpp>
#include <levada/graph/detail/params.hpp>
#include <levada/interop/header_file.hpp>
#include <levada/nn/quantize.hpp>
#include <levada/run/deploy.hpp>

namespace levada {

/// How scales are found.
struct calibration_options {
  /// The percentage of what is observed that the integers reach over, cut off on both sides alike; what lies outside is
  /// saturated.
  double percentile = 100;
};

/// Items and, at the same places, what a pipeline gives for them where it is right.
template <class Items, class Labels>
struct labelled {
  const Items& items;
  const Labels& labels;
};
template <class Items, class Labels>
labelled(const Items&, const Labels&) -> labelled<Items, Labels>;

/// What a calibration has found, as the header has it.
struct calibration_result {
  struct observed {
    std::string stage;
    float least = 0, most = 0;  ///< with the percentile
    quantization takes;
  };
  std::vector<observed> stages;
  std::size_t labelled = 0;
  double accuracy = 0, quantized_accuracy = 0;
};

namespace detail {

/// The numbers that a stage takes: first between which they lie, then how they lie there.
class observed_values {
 public:
  explicit observed_values(std::string_view stage) : stage_(stage) {}

  void see(const float* values, std::size_t count) {
    if (counts_.empty())
      for (std::size_t i = 0; i < count; ++i) {
        if (!std::isfinite(values[i])) continue;
        least_ = std::min(least_, values[i]);
        most_ = std::max(most_, values[i]);
      }
    else
      for (std::size_t i = 0; i < count; ++i)
        if (std::isfinite(values[i])) ++counts_[place_of(values[i])];
  }
  /// From here on they are counted.
  void count() { counts_.assign(bins, 0); }

  calibration_result::observed find(double percentile) const {
    calibration_result::observed found{std::string(stage_), least_, most_, {}};
    if (!(least_ <= most_)) throw error("levada: calibrate: \"" + found.stage + "\" was given no number");
    if (!counts_.empty()) {
      std::uint64_t all = 0;
      for (const std::uint64_t c : counts_) all += c;
      const auto cut = static_cast<std::uint64_t>(static_cast<double>(all) * (100 - percentile) / 200);
      std::size_t low = 0, high = bins - 1;
      for (std::uint64_t below = counts_[low]; below <= cut && low < high; below += counts_[low]) ++low;
      for (std::uint64_t above = counts_[high]; above <= cut && high > low; above += counts_[high]) --high;
      found.least = least_ + static_cast<float>(low) * width();
      found.most = least_ + static_cast<float>(high + 1) * width();
    }
    // Zero, which padding is made of, is one of the integers.
    found.least = std::min(found.least, 0.0f);
    found.most = std::max(found.most, 0.0f);
    const float scale = (found.most - found.least) / 255;
    found.takes.scale = scale > 0 ? scale : 1;
    found.takes.zero_point = static_cast<int>(std::nearbyint(-found.least / found.takes.scale));
    return found;
  }

 private:
  static constexpr std::size_t bins = 4096;

  float width() const { return (most_ - least_) / bins; }
  std::size_t place_of(float value) const {
    const float place = width() > 0 ? (value - least_) / width() : 0;
    return std::min(static_cast<std::size_t>(std::max(place, 0.0f)), bins - 1);
  }

  std::string_view stage_;
  float least_ = std::numeric_limits<float>::infinity(), most_ = -std::numeric_limits<float>::infinity();
  std::vector<std::uint64_t> counts_;
};

/// Hands on what it takes, and shows it to somebody.
struct observe_op : weightless_op {
  static constexpr std::string_view kind = "observe";
  static constexpr std::string_view expects = "a float tensor";

  observed_values* by;

  template <any_tensor In>
    requires std::same_as<typename In::value_type, float>
  using output = In;
  template <class In>
  static constexpr double flops = 0;
};

/// The kernel of that op alone.
template <class In, class... Ops>
struct observer_kernel;
template <class In>
  requires op_takes<observe_op, In>
struct observer_kernel<In, observe_op> {
  static constexpr std::size_t scratch_bytes = 0;

  observer_kernel(const observe_op& op, parameter_values) : by_(op.by) {}
  void operator()(const In& in, In& out, std::byte*) const {
    by_->see(in.data(), In::elements);
    out = in;
  }

 private:
  observed_values* by_;
};

struct observer {
  static constexpr std::string_view name = "observer";
  static constexpr device_kind device = device_kind::cpu;
  static constexpr std::size_t longest_run = 1;

  template <class In, class... Ops>
  using kernel = observer_kernel<In, Ops...>;
};

// ---- a pipeline with its parts that are to be quantized otherwise ----

template <class Part, class Otherwise>
constexpr auto with_regions(Part part, const Otherwise&) {
  return part;
}
template <class Part, class Otherwise>
constexpr auto with_regions(quantized_part<Part> quantized, const Otherwise& otherwise) {
  return otherwise(std::move(quantized.part));
}
template <class Left, class Right, class Otherwise>
constexpr auto with_regions(link<Left, Right> parts, const Otherwise& otherwise);
template <class Device, class Part, class Otherwise>
constexpr auto with_regions(pinned_part<Device, Part> pinned, const Otherwise& otherwise) {
  return on<Device>(with_regions(std::move(pinned.part), otherwise));
}
template <fixed_string Name, class Part, class Otherwise>
constexpr auto with_regions(params_part<Name, Part> group, const Otherwise& otherwise) {
  return params<Name>(with_regions(std::move(group.part), otherwise));
}
template <class Left, class Right, class Otherwise>
constexpr auto with_regions(link<Left, Right> parts, const Otherwise& otherwise) {
  auto left = with_regions(std::move(parts.left), otherwise);
  return std::move(left) | with_regions(std::move(parts.right), otherwise);
}
template <class... Stages, class Otherwise>
constexpr auto with_regions(pipeline<Stages...> line, const Otherwise& otherwise) {
  return with_regions(std::move(line.parts()), otherwise);
}

/// An observer for each stage with weights, before it.
using all_observed = std::deque<observed_values>;

template <class Part>
auto observed_part(Part part, all_observed& seen) {
  if constexpr (quantized_role_of<Part> == quantized_role::weighs) {
    seen.emplace_back(Part::name.view());
    return op_stage<"observe", observe_op>{{{}, &seen.back()}, {}} | std::move(part);
  } else {
    return part;
  }
}
template <class Left, class Right>
auto observed_part(link<Left, Right> parts, all_observed& seen) {
  auto left = observed_part(std::move(parts.left), seen);
  return std::move(left) | observed_part(std::move(parts.right), seen);
}
template <class... Stages>
auto observed_part(pipeline<Stages...> line, all_observed& seen) {
  return observed_part(std::move(line.parts()), seen);
}

template <class Backends>
struct with_observer;
template <class... B>
struct with_observer<backends<B...>> : type_tag<backends<B..., observer>> {};

template <class Option>
inline constexpr bool names_backends = false;
template <class... B>
inline constexpr bool names_backends<backends<B...>> = true;

using calibrating = target<cpu<1>>;

template <class App, class Items>
void call_with_all(App& app, const Items& items) {
  for (const auto& item : items) static_cast<void>(app(item));
}

/// The share of the items for which the app gives their label.
template <class App, class Items, class Labels>
double accuracy_of(App app, const labelled<Items, Labels>& set) {
  std::size_t right = 0, all = 0;
  auto label = std::begin(set.labels);
  for (const auto& item : set.items) {
    right += app(item) == *label++ ? 1u : 0u;
    ++all;
  }
  return all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all);
}

inline std::string float_literal(float x) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.9g", static_cast<double>(x));
  std::string text = digits;
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

inline std::string scale_header(const calibration_result& found, const std::string& name, const std::string& origin) {
  std::string t =
      "// Scales of what stages with weights take, found by levada::calibrate.\n#pragma once\n\n"
      "#include <levada/nn/quantize.hpp>\n\n// clang-format off\ninline constexpr levada::stage_scale " +
      name + "_stages[] = {\n";
  char numbers[128];
  for (const calibration_result::observed& o : found.stages) {
    std::snprintf(numbers, sizeof numbers, ", %d}},  // %.4g ... %.4g\n", o.takes.zero_point,
                  static_cast<double>(o.least), static_cast<double>(o.most));
    t += "    {\"" + literal_text(o.stage) + "\", {" + float_literal(o.takes.scale) + numbers;
  }
  t += "};\ninline constexpr levada::scale_table " + name + "{.origin = \"" + origin + "\", .stages = " + name +
       "_stages";
  if (found.labelled != 0) {
    std::snprintf(numbers, sizeof numbers, ", .labelled = %zu, .accuracy = %.6f, .quantized_accuracy = %.6f",
                  found.labelled, found.accuracy, found.quantized_accuracy);
    t += numbers;
  }
  return t + "};\n";
}

/// What the stages take, and from how many samples that is known.
template <class... Options, class Pipeline, class Samples>
calibration_result observe_all(const Pipeline& pipeline, const Samples& samples, const calibration_options& options) {
  using computing = typename with_observer<typename backends_of<calibrating, Options...>::type>::type;
  all_observed seen;
  auto observed = with_regions(pipeline, [&](auto part) { return observed_part(std::move(part), seen); });
  auto app = [&] {
    if constexpr ((names_backends<Options> || ...))
      return deploy<calibrating, std::conditional_t<names_backends<Options>, computing, Options>...>(
          std::move(observed));
    else
      return deploy<calibrating, computing, Options...>(std::move(observed));
  }();
  call_with_all(app, samples);
  if (options.percentile < 100) {
    for (observed_values& v : seen) v.count();
    call_with_all(app, samples);
  }
  calibration_result result;
  for (const observed_values& v : seen) result.stages.push_back(v.find(options.percentile));
  return result;
}

template <class Samples>
std::string origin_of(const Samples& samples, const calibration_options& options) {
  std::string text = std::to_string(std::distance(std::begin(samples), std::end(samples))) + " items";
  if (options.percentile >= 100) return text;
  char percentile[32];
  std::snprintf(percentile, sizeof percentile, ", %g %% of the numbers", options.percentile);
  return text + percentile;
}

}  // namespace detail

/// Observes what the ops with weights take in those parts of a pipeline that are `quantize<...>(part, to_calibrate)`,
/// computed in float, while it is called with the samples on this thread; and writes the header at `path`:
/// "box.scales.hpp" has the table box_scales.
///
/// From the smallest to the largest number, zero included, or the percentile of the options. `Options` are those of
/// `deploy`.
template <class... Options, class Pipeline, class Samples>
calibration_result calibrate(const Pipeline& pipeline, const Samples& samples, const std::string& path,
                             const calibration_options& options = {}) {
  calibration_result found = detail::observe_all<Options...>(pipeline, samples, options);
  detail::write_whole(
      path,
      detail::scale_header(found, detail::constant_of_header(path, "_scales"), detail::origin_of(samples, options)),
      "calibrate");
  return found;
}

/// The same; then measures for how many of the labelled items the pipeline gives the label, in float and with integers,
/// which `budget<accuracy_loss<0.5_points>>` is checked by.
template <class... Options, class Pipeline, class Samples, class Items, class Labels>
calibration_result calibrate(const Pipeline& pipeline, const Samples& samples, const labelled<Items, Labels>& set,
                             const std::string& path, const calibration_options& options = {}) {
  calibration_result found = detail::observe_all<Options...>(pipeline, samples, options);
  std::vector<stage_scale> stages;
  for (const calibration_result::observed& o : found.stages) stages.push_back({o.stage, o.takes});
  const scale_table table{.origin = "", .stages = stages};
  found.labelled = static_cast<std::size_t>(std::distance(std::begin(set.items), std::end(set.items)));
  found.accuracy = detail::accuracy_of(deploy<detail::calibrating, Options...>(pipeline), set);
  found.quantized_accuracy =
      detail::accuracy_of(deploy<detail::calibrating, Options...>(detail::with_regions(
                              pipeline, [&](auto part) { return detail::quantized_by<void>(std::move(part), table); })),
                          set);
  detail::write_whole(
      path,
      detail::scale_header(found, detail::constant_of_header(path, "_scales"), detail::origin_of(samples, options)),
      "calibrate");
  return found;
}

}  // namespace levada
