// SPDX-License-Identifier: Apache-2.0
// ops/windows.cpp: convolutions, pools and resizes.

#include <algorithm>
#include <cmath>

#include "../output/lowering.hpp"
#include "folding.hpp"
#include "op_definition.hpp"
#include "per_item.hpp"
#include "quantization.hpp"

namespace levada::onnx {
namespace {

/// The attributes of an op with a window, padding written out.
struct window {
  std::vector<std::int64_t> kernel, strides, dilations, begin, end;

  std::size_t axes() const { return kernel.size(); }
  std::int64_t reach(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// Attributes whose lists may be absent; SAME padding needs the input's extents.
window window_of(const op_call& call, std::vector<std::int64_t> kernel) {
  window w;
  w.kernel = call.integers("kernel_shape", std::move(kernel));
  const std::size_t axes = w.kernel.size();
  call.require(call.dims().size() == axes + 2, "its kernel does not fit its input");
  w.strides = call.integers("strides", std::vector<std::int64_t>(axes, 1));
  w.dilations = call.integers("dilations", std::vector<std::int64_t>(axes, 1));
  std::vector<std::int64_t> pads = call.integers("pads", std::vector<std::int64_t>(2 * axes));
  call.require(w.strides.size() == axes && w.dilations.size() == axes && pads.size() == 2 * axes,
               "its attributes do not fit its kernel");
  w.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  w.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  for (std::size_t axis = 0; axis < axes; ++axis)
    call.require(w.kernel[axis] > 0 && w.strides[axis] > 0 && w.dilations[axis] > 0, "its window is not positive");
  return w;
}

/// auto_pad and ceil_mode of an op whose output is not larger than its input.
void apply_auto_pad(const op_call& call, window& w) {
  const std::string mode = call.choice("auto_pad", "NOTSET", {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"});
  const bool upper = mode == "SAME_UPPER";
  for (std::size_t axis = 0; axis < w.axes(); ++axis) {
    const std::int64_t extent = call.dims()[axis + 2], stride = w.strides[axis];
    if (upper || mode == "SAME_LOWER") {
      const std::int64_t whole =
          std::max<std::int64_t>(((extent + stride - 1) / stride - 1) * stride + w.reach(axis) - extent, 0);
      w.begin[axis] = upper ? whole / 2 : whole - whole / 2;
      w.end[axis] = whole - w.begin[axis];
    } else if (mode == "VALID") {
      w.begin[axis] = w.end[axis] = 0;
    }
  }
}

std::vector<std::int64_t> spatial_output(const op_call& call, const window& w, bool ceil) {
  std::vector<std::int64_t> dims;
  for (std::size_t axis = 0; axis < w.axes(); ++axis) {
    const std::int64_t extent = call.dims()[axis + 2], stride = w.strides[axis];
    const std::int64_t room = extent + w.begin[axis] + w.end[axis] - w.reach(axis);
    call.require(room >= 0, "its window does not fit its input");
    std::int64_t count = room / stride + 1;
    // The last window begins inside the input, or in the padding in front of it.
    if (ceil && room % stride != 0 && count * stride < extent + w.begin[axis]) ++count;
    dims.push_back(count);
  }
  return dims;
}

std::string options_of(const window& w, bool pool = false) {
  const auto pair = [](const std::vector<std::int64_t>& v) {
    return v.size() == 2 && v[0] == v[1] ? std::to_string(v[0]) : list_of(v);
  };
  const auto all = [](const std::vector<std::int64_t>& v, std::int64_t n) {
    return std::all_of(v.begin(), v.end(), [n](std::int64_t x) { return x == n; });
  };
  std::string text = "lv::size<" + pair(w.kernel) + ">";
  if (pool) text = w.kernel[0] == w.kernel[1] ? std::to_string(w.kernel[0]) : std::to_string(w.kernel[0]) + ", " + text;
  if (pool ? w.strides != w.kernel : !all(w.strides, 1)) text += ", lv::stride<" + pair(w.strides) + ">";
  if (!all(w.begin, 0) || !all(w.end, 0)) {
    extents sides = w.begin;
    sides.insert(sides.end(), w.end.begin(), w.end.end());
    text += ", lv::padding<" + (all(sides, sides[0]) ? std::to_string(sides[0]) : list_of(sides)) + ">";
  }
  if (!all(w.dilations, 1)) text += ", lv::dilation<" + pair(w.dilations) + ">";
  return text;
}

/// An op of two spatial axes does one of one axis as a picture of height 1.
window as_rows(window w) {
  if (w.axes() != 1) return w;
  for (auto* list : {&w.kernel, &w.strides, &w.dilations}) list->insert(list->begin(), 1);
  w.begin.insert(w.begin.begin(), 0);
  w.end.insert(w.end.begin(), 0);
  return w;
}

/// C, H, W of a shape N, C, ...; of one spatial axis with height 1.
extents picture_of(const extents& dims) {
  extents result(dims.begin() + 1, dims.end());
  if (result.size() == 2) result.insert(result.begin() + 1, 1);
  return result;
}

void two_axes_at_most(const op_call& call, const window& w) {
  if (w.axes() > 2) call.fail("three spatial axes are not supported");
}

// --- Conv -----------------------------------------------------------------------------------------------------------

window conv_window(const op_call& call, std::size_t weights = 1) {
  const extents& weight = call.dims(weights);
  call.require(weight.size() == call.dims().size() && weight.size() > 2, "its weight has another rank than its input");
  window w = window_of(call, {weight.begin() + 2, weight.end()});
  apply_auto_pad(call, w);
  return w;
}
void check_groups(const op_call& call, const extents& weight) {
  const std::int64_t groups = call.integer("group", 1);
  call.require(groups > 0 && call.dims()[1] == weight[1] * groups && weight[0] % groups == 0,
               "its groups do not fit its channels");
}
extents conv_dims(const op_call& call, std::size_t weights = 1) {
  const extents& weight = call.dims(weights);
  extents dims = spatial_output(call, conv_window(call, weights), false);
  check_groups(call, weight);
  dims.insert(dims.begin(), {call.dims()[0], weight[0]});
  return dims;
}
std::vector<tensor_type> infer_conv(const op_call& call) { return {{call.type(), conv_dims(call)}}; }
/// The options of the op in C++, from the window on.
std::string conv_options(const op_call& call, const window& w, bool has_bias) {
  const std::int64_t groups = call.integer("group", 1);
  return options_of(w) + (groups == 1 ? "" : ", lv::groups<" + std::to_string(groups) + ">") +
         (has_bias ? "" : ", lv::no_bias");
}
void lower_conv(lowering& to, const op_call& call) {
  const window w = conv_window(call);
  two_axes_at_most(call, w);
  const constant& weight = call.known(1, "its weight");
  const std::string name = to.fresh_name();
  to.weight(name, "weight", weight);
  const bool bias = call.has(2) && !is_zero(call.known(2, "its bias"));
  if (bias) to.weight(name, "bias", *call.in(2).known);
  const std::string op = std::string(w.axes() == 1 ? "nn::conv1d<\"" : "nn::conv2d<\"") + name + "\", " +
                         std::to_string(weight.dims()[0]) + ", " + conv_options(call, w, bias) + ">(w)";
  per_item(to, call, item_of(call.dims()), item_of(call.out().dims), name, op);
}

// --- QLinearConv ----------------------------------------------------------------------------------------------------

std::vector<tensor_type> infer_qlinear_conv(const op_call& call) {
  using namespace qlinear_input;
  return {{call.has(y_zero_point) ? call.type(y_zero_point) : element::f32, conv_dims(call, w)}};
}
void lower_qlinear_conv(lowering& to, const op_call& call) {
  using namespace qlinear_input;
  const constant& given = call.known(w, "its weight");
  const std::string name = to.fresh_name();
  const std::int64_t filters = given.dims()[0];
  to.weight(name, "weight", *as_int8(given, call.is_known(w_zero_point) ? &*call.in(w_zero_point).known : nullptr));
  to.weight(name, "weight_scale", scales_of_outputs(call.known(w_scale, "its weight's scale"), filters));
  if (call.has(bias)) to.weight(name, "bias", call.known(bias, "its bias"));
  const std::string op = "nn::qlinear_conv2d<\"" + name + "\", " + std::to_string(filters) + ", " +
                         std::string(names_of(call.out().type)->cpp) + ", " +
                         conv_options(call, conv_window(call, w), call.has(bias)) + ">(w, {" +
                         quantization_text(call, x_scale) + ", " +
                         (call.has(y_scale) ? quantization_text(call, y_scale) : "{}") +
                         (call.integer("relu", 0) != 0 ? ", true" : "") + "})";
  per_item(to, call, item_of(call.dims()), item_of(call.out().dims), name, op);
}

// --- ConvTranspose --------------------------------------------------------------------------------------------------

struct transposed_window {
  window at;
  std::vector<std::int64_t> added;  ///< output_padding
  extents spatial;
};
transposed_window transposed_of(const op_call& call) {
  const extents& weight = call.dims(1);
  call.require(weight.size() == call.dims().size() && weight.size() > 2, "its weight has another rank than its input");
  transposed_window t;
  t.at = window_of(call, {weight.begin() + 2, weight.end()});
  t.added = call.integers("output_padding", std::vector<std::int64_t>(t.at.axes()));
  const std::string mode = call.choice("auto_pad", "NOTSET", {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"});
  const std::vector<std::int64_t> wanted = call.integers("output_shape");
  call.require(t.added.size() == t.at.axes() && (wanted.empty() || wanted.size() >= t.at.axes()),
               "its output_padding or output_shape does not fit its kernel");
  for (std::size_t axis = 0; axis < t.at.axes(); ++axis) {
    const std::int64_t extent = call.dims()[axis + 2], stride = t.at.strides[axis];
    const std::int64_t full = stride * (extent - 1) + t.added[axis] + t.at.reach(axis);
    std::int64_t out = full - t.at.begin[axis] - t.at.end[axis];
    if (!wanted.empty() || mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      out = wanted.empty() ? extent * stride : wanted[wanted.size() - t.at.axes() + axis];
      std::int64_t whole = full - out;
      if (whole < 0) t.added[axis] -= whole, whole = 0;
      t.at.begin[axis] = mode == "SAME_UPPER" ? whole / 2 : whole - whole / 2;
      t.at.end[axis] = whole - t.at.begin[axis];
    } else if (mode == "VALID") {
      t.at.begin[axis] = t.at.end[axis] = 0;
      out = full;
    }
    t.spatial.push_back(out);
  }
  return t;
}
std::vector<tensor_type> infer_conv_transpose(const op_call& call) {
  extents dims{call.dims()[0], call.dims(1)[1] * call.integer("group", 1)};
  for (const std::int64_t d : transposed_of(call).spatial) dims.push_back(d);
  return {{call.type(), dims}};
}
void lower_conv_transpose(lowering& to, const op_call& call) {
  const transposed_window t = transposed_of(call);
  two_axes_at_most(call, t.at);
  const window w = as_rows(t.at);
  const constant& weight = call.known(1, "its weight");
  extents shape = weight.dims();
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  const std::string name = to.fresh_name();
  to.weight(name, "weight", weight.shaped(shape));
  const bool bias = call.has(2) && !is_zero(call.known(2, "its bias"));
  if (bias) to.weight(name, "bias", *call.in(2).known);
  std::string options = options_of(w);
  extents added = t.added;
  if (added.size() == 1) added.insert(added.begin(), 0);
  if (std::ranges::any_of(added, [](std::int64_t a) { return a != 0; }))
    options += ", lv::output_padding<" + list_of(added) + ">";
  const std::int64_t groups = call.integer("group", 1);
  const std::string op = "nn::conv_transpose2d<\"" + name + "\", " + std::to_string(call.out().dims[1]) + ", " +
                         options + (groups == 1 ? "" : ", lv::groups<" + std::to_string(groups) + ">") +
                         (bias ? "" : ", lv::no_bias") + ">(w)";
  per_item(to, call, picture_of(call.dims()), picture_of(call.out().dims), name, op);
}

// --- pools ----------------------------------------------------------------------------------------------------------

window pool_window(const op_call& call, extents& spatial) {
  window w = window_of(call, {});
  apply_auto_pad(call, w);
  spatial = spatial_output(call, w, call.integer("ceil_mode", 0) != 0);
  for (std::size_t axis = 0; axis < w.axes(); ++axis) {  // what ceil_mode adds behind
    const std::int64_t needed =
        (spatial[axis] - 1) * w.strides[axis] + w.reach(axis) - call.dims()[axis + 2] - w.begin[axis];
    w.end[axis] = std::max(w.end[axis], needed);
  }
  return w;
}
std::vector<tensor_type> infer_pool(const op_call& call) {
  extents spatial;
  pool_window(call, spatial);
  extents dims{call.dims()[0], call.dims()[1]};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return {{call.type(), dims}, {element::i64, dims}};
}
/// Channels do not see each other, so those of all items are channels of one.
extents channels_of_all(const extents& dims) {
  extents result = picture_of(dims);
  result[0] *= dims[0];
  return result;
}
void lower_pool(lowering& to, const op_call& call) {
  if (call.gives(1)) call.fail("the places of the largest elements are not given");
  if (call.integer("storage_order", 0) != 0) call.fail("storage_order 1 is not supported");
  extents spatial;
  const window w = pool_window(call, spatial);
  if (w.axes() > 3) call.fail("more than three spatial axes are not supported");
  const bool largest = call.called().op == "MaxPool";
  const bool counts = !largest && call.integer("count_include_pad", 0) != 0;
  if (counts && call.integer("ceil_mode", 0) != 0) {
    window plain = window_of(call, {});
    apply_auto_pad(call, plain);
    if (plain.end != w.end) call.fail("ceil_mode with count_include_pad is not supported where it adds a window");
  }
  const auto op_of = [&](const window& at) {
    return std::string(largest ? "nn::max_pool2d<" : "nn::avg_pool2d<") + options_of(at, true) +
           (counts ? ", lv::count_padding" : "") + ">";
  };
  if (w.axes() == 3) {  // of pictures first, then along the depth: windows are products of their axes
    const auto part = [&](std::size_t from, std::size_t until) {
      window at;
      for (const auto& [list, all] :
           {std::pair(&at.kernel, &w.kernel), std::pair(&at.strides, &w.strides),
            std::pair(&at.dilations, &w.dilations), std::pair(&at.begin, &w.begin), std::pair(&at.end, &w.end)})
        list->assign(all->begin() + static_cast<std::ptrdiff_t>(from),
                     all->begin() + static_cast<std::ptrdiff_t>(until));
      return at;
    };
    const extents &d = call.dims(), &out = call.out().dims;
    const std::int64_t planes = d[0] * d[1];
    window depth = as_rows(part(0, 1));
    for (auto* list : {&depth.kernel, &depth.strides, &depth.dilations, &depth.begin, &depth.end})
      std::swap((*list)[0], (*list)[1]);
    const extents pictures{planes * d[2], out[3], out[4]}, columns{planes, d[2], out[3] * out[4]};
    const int flat =
        to.add(op_of(part(1, 3)), {to.in_shape(call, 0, {planes * d[2], d[3], d[4]})}, call.type(), pictures);
    return to.give(call, 0,
                   to.add(op_of(depth), {to.shaped(flat, columns)}, call.type(), {planes, out[2], out[3] * out[4]}));
  }
  const std::string op = op_of(as_rows(w));
  to.give(
      call, 0,
      to.add(op, {to.in_shape(call, 0, channels_of_all(call.dims()))}, call.type(), channels_of_all(call.out().dims)));
}

std::vector<tensor_type> infer_global_pool(const op_call& call) {
  call.require(call.rank() >= 3, "its input has no spatial axis");
  extents dims(call.dims().size(), 1);
  dims[0] = call.dims()[0];
  dims[1] = call.dims()[1];
  return {{call.type(), dims}};
}
void lower_global_pool(lowering& to, const op_call& call) {
  const std::string& kind = call.called().op;
  const extents& d = call.dims();
  if (kind == "GlobalLpPool" && call.integer("p", 2) != 2) call.fail("p is 2 in levada");
  const std::string op = kind == "GlobalAveragePool" ? "nn::global_avg_pool2d"
                         : kind == "GlobalMaxPool"   ? "nn::global_max_pool2d"
                                                     : "nn::global_l2_pool2d";
  extents in{d[0] * d[1], d[2], d.size() == 3 ? 1 : elements_between(d, 3, d.size())};
  to.give(call, 0, to.add(op, {to.in_shape(call, 0, in)}, call.type(), {d[0] * d[1], 1, 1}));
}

// --- Resize ---------------------------------------------------------------------------------------------------------

struct resized {
  extents dims;
  std::vector<double> scales;  ///< of all axes; 0: what the extents say
  std::vector<double> region;  ///< tf_crop_and_resize: starts, then ends, of all axes
};
resized resize_of(const op_call& call) {
  const bool upsample = call.called().op == "Upsample", old = upsample || call.opset() < 11;
  const extents& d = call.dims();
  const std::size_t rank = d.size();
  resized r{d, std::vector<double>(rank), {}};
  std::vector<std::size_t> axes;
  if (call.find("axes") != nullptr)
    for (const std::int64_t a : call.integers("axes")) axes.push_back(call.axis(a, call.rank()));
  else
    for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  const std::size_t at = old ? 1 : 2;
  std::vector<double> scales, sizes;
  if (upsample && call.opset() < 9)
    scales = call.find("scales") != nullptr
                 ? call.find("scales")->numbers
                 : std::vector<double>{1, 1, call.number("height_scale", 1), call.number("width_scale", 1)};
  else if (call.has(at))
    scales = call.known(at, "its scales").as<double>();
  if (!old && call.has(3)) sizes = call.known(3, "its sizes").as<double>();
  call.require(scales.empty() != sizes.empty(), "it needs scales or sizes");
  call.require((scales.empty() ? sizes : scales).size() == axes.size(), "its scales or sizes do not fit its rank");
  if (!sizes.empty() && call.text("keep_aspect_ratio_policy", "stretch") != "stretch") {
    const bool larger = call.text("keep_aspect_ratio_policy", "") == "not_smaller";
    double scale = larger ? 0 : 1e30;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const double one = sizes[i] / static_cast<double>(d[axes[i]]);
      scale = larger ? std::max(scale, one) : std::min(scale, one);
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      sizes[i] = std::round(static_cast<double>(d[axes[i]]) * scale);
      r.scales[axes[i]] = scale;
    }
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto extent = static_cast<double>(d[axes[i]]);
    if (!sizes.empty()) {
      r.dims[axes[i]] = static_cast<std::int64_t>(sizes[i]);
      continue;
    }
    r.scales[axes[i]] = scales[i];
    r.dims[axes[i]] = static_cast<std::int64_t>(std::floor(extent * scales[i]));
  }
  if (call.text("coordinate_transformation_mode", "") == "tf_crop_and_resize") {
    const std::vector<double> given = call.known(1, "its region").as<double>();
    call.require(given.size() == 2 * axes.size(), "its region does not fit its rank");
    r.region.assign(2 * rank, 0);
    std::fill(r.region.begin() + static_cast<std::ptrdiff_t>(rank), r.region.end(), 1.0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      r.region[axes[i]] = given[i];
      r.region[rank + axes[i]] = given[axes.size() + i];
    }
    if (!scales.empty())  // the extent is that of the region
      for (std::size_t i = 0; i < axes.size(); ++i)
        r.dims[axes[i]] = static_cast<std::int64_t>(
            std::floor(static_cast<double>(d[axes[i]]) * (given[axes.size() + i] - given[i]) * scales[i]));
  }
  return r;
}
/// Of a single axis that is not the first: with which of its neighbours it is the height and width of a picture. The
/// middle one of three is the height of a picture, unless that is known to be the other one.
void takes_neighbour(lowering& to, const op_call& call, std::size_t& first, std::size_t& last) {
  const bool is_middle = last + 2 == call.dims().size();
  if (is_middle && to[to.in(call, 0)].axes != picture::hwc)
    ++last;
  else
    --first;
}
std::vector<tensor_type> infer_resize(const op_call& call) { return {{call.type(), resize_of(call).dims}}; }
void lower_resize(lowering& to, const op_call& call) {
  const resized r = resize_of(call);
  const extents& d = call.dims();
  const bool upsample = call.called().op == "Upsample", old = upsample || call.opset() < 11;
  if (call.integer("antialias", 0) != 0) call.fail("antialias is not supported");
  const std::string mode = call.choice("mode", "nearest", {"nearest", "linear", "bilinear", "cubic"});
  const std::string levada_mode = mode == "nearest" ? "nearest" : mode == "cubic" ? "bicubic" : "bilinear";
  // Two neighbouring axes at most change: those in front are channels, those behind pixels.
  std::size_t first = d.size(), last = 0;
  for (std::size_t axis = 0; axis < d.size(); ++axis)
    if (r.dims[axis] != d[axis] || (r.scales[axis] != 0 && r.scales[axis] != 1) || !r.region.empty()) {
      if (r.dims[axis] == d[axis] && (r.region.empty() || (r.region[axis] == 0 && r.region[d.size() + axis] == 1)) &&
          (r.scales[axis] == 0 || r.scales[axis] == 1))
        continue;
      first = std::min(first, axis);
      last = axis;
    }
  if (first > last) return to.give(call, 0, to.in(call, 0));
  if (last == first && first > 0) takes_neighbour(to, call, first, last);
  if (last > first + 1) call.fail("it changes axes that are not neighbours, or more than two");
  const bool single = last == first;  // the first axis of all
  const std::size_t y = first, x = last;
  const std::int64_t front = elements_between(d, 0, y), behind = elements_between(d, x + 1, d.size());
  if (front != 1 && behind != 1) call.fail("it changes axes in the middle");
  const bool chw = behind == 1;
  const auto shape = [&](const extents& dims) {
    const std::int64_t height = single ? 1 : dims[y], width = dims[x];
    return chw ? extents{front, height, width} : extents{height, width, behind};
  };
  std::string rule = ".coordinates = lv::coordinate_mode::" +
                     std::string(old ? "asymmetric"
                                     : call.choice("coordinate_transformation_mode", "half_pixel",
                                                   {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                                    "tf_half_pixel_for_nn", "tf_crop_and_resize"}));
  if (mode == "nearest")
    rule += ", .nearest = lv::nearest_mode::" +
            (old ? "floor"
                 : call.choice("nearest_mode", "round_prefer_floor",
                               {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  if (mode == "cubic") rule += ", .cubic_coeff_a = " + number_text(call.number("cubic_coeff_a", -0.75), element::f32);
  if (call.integer("exclude_outside", 0) != 0) rule += ", .exclude_outside = true";
  if (!single && r.scales[y] != 0) rule += ", .scale_y = " + number_text(r.scales[y], element::f64);
  if (r.scales[x] != 0) rule += ", .scale_x = " + number_text(r.scales[x], element::f64);
  if (!r.region.empty()) {
    const auto part = [&](const char* name, double number) {
      rule += std::string(", .") + name + " = " + number_text(number, element::f64);
    };
    if (!single) part("top", r.region[y]);
    part("left", r.region[x]);
    if (!single) part("bottom", r.region[d.size() + y]);
    part("right", r.region[d.size() + x]);
    rule += ", .extrapolation = " + number_text(call.number("extrapolation_value", 0), element::f32);
  }
  const extents out = shape(r.dims);
  const std::int64_t height = chw ? out[1] : out[0], width = chw ? out[2] : out[1];
  to.give(call, 0,
          to.add("lv::image::resize_by<" + std::to_string(height) + ", " + std::to_string(width) + ", lv::layout::" +
                     (chw ? "chw" : "hwc") + ", lv::resize_mode::" + levada_mode + ">({" + rule + "})",
                 {to.in_shape(call, 0, shape(d))}, call.type(), out));
}

std::vector<tensor_type> infer_grid_sample(const op_call& call) {
  call.require(call.rank() == 4 && call.rank(1) == 4, "only pictures are sampled");
  return {{call.type(), {call.dims()[0], call.dims()[1], call.dims(1)[1], call.dims(1)[2]}}};
}
void lower_grid_sample(lowering& to, const op_call& call) {
  if (call.dims()[0] != 1) call.fail("it works on a batch: convert with the batch axis 1");
  std::string mode = call.choice("mode", "bilinear", {"nearest", "linear", "bilinear", "cubic", "bicubic"});
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  to.give_op(call,
             "nn::grid_sample<lv::sample_mode::" + mode +
                 ", lv::sample_padding::" + call.choice("padding_mode", "zeros", {"zeros", "border", "reflection"}) +
                 (call.integer("align_corners", 0) != 0 ? ", true>" : ", false>"),
             {to.in(call, 0), to.in(call, 1)});
}

constexpr op_definition window_definitions[] = {
    {"Conv", infer_conv, nullptr, lower_conv},
    {"QLinearConv", infer_qlinear_conv, nullptr, lower_qlinear_conv},
    {"ConvTranspose", infer_conv_transpose, nullptr, lower_conv_transpose},
    {"MaxPool", infer_pool, nullptr, lower_pool},
    {"AveragePool", infer_pool, nullptr, lower_pool},
    {"GlobalAveragePool", infer_global_pool, nullptr, lower_global_pool},
    {"GlobalMaxPool", infer_global_pool, nullptr, lower_global_pool},
    {"GlobalLpPool", infer_global_pool, nullptr, lower_global_pool},
    {"Resize", infer_resize, nullptr, lower_resize},
    {"Upsample", infer_resize, nullptr, lower_resize},
    {"GridSample", infer_grid_sample, nullptr, lower_grid_sample},
};

}  // namespace

std::span<const op_definition> window_ops() { return window_definitions; }

}  // namespace levada::onnx
