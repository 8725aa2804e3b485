// SPDX-License-Identifier: Apache-2.0
// ops/element_wise.cpp: ops of one element, and of elements of several tensors that broadcast.

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "../output/lowering.hpp"
#include "folding.hpp"
#include "op_definition.hpp"

namespace levada::onnx {
namespace {

// --- one element ----------------------------------------------------------------------------------------------------

std::vector<tensor_type> same_type(const op_call& call) { return {{call.type(), call.dims()}}; }
std::vector<tensor_type> bool_of_same(const op_call& call) { return {{element::boolean, call.dims()}}; }

/// An op of levada of that name, with the numbers of attributes.
struct unary_form {
  std::string_view name, levada;
  double (*of)(double);
};

double reciprocal(double x) { return 1 / x; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::log1p(std::exp(-std::fabs(x))) + std::max(x, 0.0); }
double softsign(double x) { return x / (1 + std::fabs(x)); }
double sign(double x) { return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0)); }
double hard_swish(double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }
double mish(double x) { return x * std::tanh(softplus(x)); }
double relu(double x) { return x < 0 ? 0 : x; }
double silu(double x) { return x * sigmoid(x); }

constexpr unary_form unary_forms[] = {
    {"Relu", "nn::relu", relu},
    {"Sigmoid", "nn::sigmoid", sigmoid},
    {"Tanh", "nn::tanh", [](double x) { return std::tanh(x); }},
    {"Exp", "nn::exp", [](double x) { return std::exp(x); }},
    {"Log", "nn::log", [](double x) { return std::log(x); }},
    {"Sqrt", "nn::sqrt", [](double x) { return std::sqrt(x); }},
    {"Erf", "nn::erf", [](double x) { return std::erf(x); }},
    {"Abs", "nn::abs", [](double x) { return std::fabs(x); }},
    {"Neg", "nn::neg", [](double x) { return -x; }},
    {"Reciprocal", "nn::reciprocal", reciprocal},
    {"Floor", "nn::floor", [](double x) { return std::floor(x); }},
    {"Ceil", "nn::ceil", [](double x) { return std::ceil(x); }},
    {"Round", "nn::round", [](double x) { return std::nearbyint(x); }},
    {"Sign", "nn::sign", sign},
    {"Sin", "nn::sin", [](double x) { return std::sin(x); }},
    {"Cos", "nn::cos", [](double x) { return std::cos(x); }},
    {"Tan", "nn::tan", [](double x) { return std::tan(x); }},
    {"Sinh", "nn::sinh", [](double x) { return std::sinh(x); }},
    {"Cosh", "nn::cosh", [](double x) { return std::cosh(x); }},
    {"Asin", "nn::asin", [](double x) { return std::asin(x); }},
    {"Acos", "nn::acos", [](double x) { return std::acos(x); }},
    {"Atan", "nn::atan", [](double x) { return std::atan(x); }},
    {"Asinh", "nn::asinh", [](double x) { return std::asinh(x); }},
    {"Acosh", "nn::acosh", [](double x) { return std::acosh(x); }},
    {"Atanh", "nn::atanh", [](double x) { return std::atanh(x); }},
    {"Softplus", "nn::softplus", softplus},
    {"Softsign", "nn::softsign", softsign},
    {"HardSwish", "nn::hard_swish", hard_swish},
    {"Mish", "nn::mish", mish},
    {"Silu", "nn::silu", silu},
    {"Not", "nn::logical_not", [](double x) { return static_cast<double>(x == 0); }},
    {"BitwiseNot", "nn::bit_not", nullptr},
    {"IsNaN", "nn::is_nan", [](double x) { return static_cast<double>(std::isnan(x)); }},
};
const unary_form& unary_of(const op_call& call) {
  for (const unary_form& form : unary_forms)
    if (form.name == call.called().op) return form;
  call.fail("it is no op of one element");
}

std::vector<constant> fold_unary(const op_call& call) {
  const unary_form& form = unary_of(call);
  const element type = call.out().type;
  if (!is_floating(type) && type != element::u64 &&
      (form.name == "Neg" || form.name == "Abs")) {  // beyond what a double holds, too
    std::vector<std::int64_t> all = call.in(0).known->as<std::int64_t>();
    for (std::int64_t& x : all)
      if (form.name == "Neg" || x < 0) x = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));
    return {constant::of(type, call.dims(), all)};
  }
  return {mapped(*call.in(0).known, type, [&](auto x) { return rounded(type, form.of(static_cast<double>(x))); })};
}
void lower_unary(lowering& to, const op_call& call) {
  to.give_op(call, std::string(unary_of(call).levada), {to.in(call, 0)});
}

std::string numbers_of(const op_call& call, std::initializer_list<std::pair<const char*, double>> attributes) {
  std::string text;
  for (const auto& [name, otherwise] : attributes)
    text += (text.empty() ? "(" : ", ") + number_text(call.number(name, otherwise), call.type());
  return text + ")";
}

void lower_leaky_relu(lowering& to, const op_call& call) {
  to.give_op(call, "nn::leaky_relu" + numbers_of(call, {{"alpha", 0.01}}), {to.in(call, 0)});
}
void lower_elu(lowering& to, const op_call& call) {
  to.give_op(call, "nn::elu" + numbers_of(call, {{"alpha", 1}}), {to.in(call, 0)});
}
void lower_selu(lowering& to, const op_call& call) {
  to.give_op(call, "nn::selu" + numbers_of(call, {{"alpha", 1.6732632423543772}, {"gamma", 1.0507009873554805}}),
             {to.in(call, 0)});
}
void lower_celu(lowering& to, const op_call& call) {
  to.give_op(call, "nn::celu" + numbers_of(call, {{"alpha", 1}}), {to.in(call, 0)});
}
void lower_thresholded_relu(lowering& to, const op_call& call) {
  to.give_op(call, "nn::thresholded_relu" + numbers_of(call, {{"alpha", 1}}), {to.in(call, 0)});
}
void lower_shrink(lowering& to, const op_call& call) {
  to.give_op(call, "nn::shrink" + numbers_of(call, {{"lambd", 0.5}, {"bias", 0}}), {to.in(call, 0)});
}
void lower_hard_sigmoid(lowering& to, const op_call& call) {
  to.give_op(call, "nn::hard_sigmoid" + numbers_of(call, {{"alpha", 0.2}, {"beta", 0.5}}), {to.in(call, 0)});
}
std::vector<constant> fold_hard_sigmoid(const op_call& call) {
  const double alpha = call.number("alpha", 0.2), beta = call.number("beta", 0.5);
  return {mapped(*call.in(0).known, call.type(),
                 [&](auto x) { return std::clamp(alpha * static_cast<double>(x) + beta, 0.0, 1.0); })};
}
std::vector<constant> fold_leaky_relu(const op_call& call) {
  const double alpha = call.number("alpha", 0.01);
  return {mapped(*call.in(0).known, call.type(), [&](auto number) {
    const auto x = static_cast<double>(number);
    return rounded(call.type(), x < 0 ? alpha * x : x);
  })};
}
void lower_gelu(lowering& to, const op_call& call) {
  const bool by_tanh = call.text("approximate", "none") == "tanh";
  to.give_op(call, by_tanh ? "nn::gelu_tanh" : "nn::gelu", {to.in(call, 0)});
}
bool finds_infinity(const op_call& call, const char* sign) { return call.integer(sign, 1) != 0; }
std::vector<constant> fold_is_inf(const op_call& call) {
  const bool negative = finds_infinity(call, "detect_negative"), positive = finds_infinity(call, "detect_positive");
  return {mapped(*call.in(0).known, element::boolean, [&](auto number) {
    const auto x = static_cast<double>(number);
    return static_cast<std::int64_t>(std::isinf(x) && (x < 0 ? negative : positive));
  })};
}
void lower_is_inf(lowering& to, const op_call& call) {
  const auto found = [&](const char* sign) { return finds_infinity(call, sign) ? "true" : "false"; };
  to.give_op(call, std::string("nn::is_inf(") + found("detect_negative") + ", " + found("detect_positive") + ")",
             {to.in(call, 0)});
}

// --- Clip -----------------------------------------------------------------------------------------------------------

struct bounds {
  double low, high;
};
std::optional<bounds> clip_bounds(const op_call& call) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (call.opset() < 11) return bounds{call.number("min", -infinity), call.number("max", infinity)};
  if ((call.has(1) && !call.is_known(1)) || (call.has(2) && !call.is_known(2))) return std::nullopt;
  return bounds{call.has(1) ? call.in(1).known->scalar<double>() : -infinity,
                call.has(2) ? call.in(2).known->scalar<double>() : infinity};
}
/// Of integers, which a double does not hold beyond 2^53; none where it is an end of int64 or of uint64.
std::optional<std::int64_t> whole_bound(const op_call& call, std::size_t i) {
  if (!call.has(i)) return std::nullopt;
  const auto bound = call.in(i).known->scalar<std::int64_t>();
  const bool is_low = i == 1;
  if (call.type() == element::u64 && bound < 0) {
    if (is_low || bound != -1) call.fail("a bound beyond int64 is not supported");
    return std::nullopt;
  }
  using limits = std::numeric_limits<std::int64_t>;
  return bound == (is_low ? limits::min() : limits::max()) ? std::nullopt : std::optional(bound);
}
std::vector<constant> fold_clip(const op_call& call) {
  if (!is_floating(call.type())) {
    const auto low = whole_bound(call, 1), high = whole_bound(call, 2);
    std::vector<std::int64_t> all = call.in(0).known->as<std::int64_t>();
    for (std::int64_t& x : all) {
      const bool is_huge = call.type() == element::u64 && x < 0;  // above all of int64
      if (low && x < *low && !is_huge) x = *low;
      if (high && (x > *high || is_huge)) x = *high;
    }
    return {constant::of(call.type(), call.dims(), all)};
  }
  const bounds limits = *clip_bounds(call);
  return {mapped(*call.in(0).known, call.type(), [&](auto number) {
    const auto x = static_cast<double>(number);
    return x < limits.low ? limits.low : x > limits.high ? limits.high : x;
  })};
}
/// Of integers narrower than int levada gives int, of float16 and bfloat16 float.
bool is_widened(element type) {
  return is_floating(type) ? size_of(type) < 4 : size_of(type) < 4 && type != element::boolean;
}
void give_cast(lowering& to, const op_call& call, int made) {
  const element type = call.out().type;
  if (is_widened(type))
    made = to.add("nn::cast<" + std::string(names_of(type)->cpp) + ">", {made}, type, to[made].dims);
  to.give(call, 0, made);
}

void lower_clip(lowering& to, const op_call& call) {
  const std::optional<bounds> limits = clip_bounds(call);
  const element type = call.type();
  const extents dims = stored_dims(call.dims());
  int made = to.in(call, 0);
  if (!limits) {
    if (call.has(1)) made = to.add("nn::max", {made, to.in(call, 1)}, type, dims);
    if (call.has(2)) made = to.add("nn::min", {made, to.in(call, 2)}, type, dims);
    return give_cast(to, call, made);
  }
  if (!is_floating(type)) {
    const auto lower = whole_bound(call, 1), upper = whole_bound(call, 2);
    if (lower) made = to.add("nn::at_least(" + std::to_string(*lower) + ")", {made}, type, dims);
    if (upper) made = to.add("nn::at_most(" + std::to_string(*upper) + ")", {made}, type, dims);
    return give_cast(to, call, made);
  }
  const bool low = std::isfinite(limits->low), high = std::isfinite(limits->high);
  if (low && high && is_floating(type))
    made = to.add("nn::clip(" + number_text(limits->low, type) + ", " + number_text(limits->high, type) + ")", {made},
                  type, dims);
  else {
    if (low) made = to.add("nn::at_least(" + number_text(limits->low, type) + ")", {made}, type, dims);
    if (high) made = to.add("nn::at_most(" + number_text(limits->high, type) + ")", {made}, type, dims);
  }
  give_cast(to, call, made);
}

// --- Cast -----------------------------------------------------------------------------------------------------------

std::vector<tensor_type> infer_cast(const op_call& call) {
  const auto to = static_cast<element>(call.integer("to", 0));
  if (names_of(to) == nullptr) call.fail("it casts to a type that levada lacks");
  return {{to, call.dims()}};
}
std::vector<constant> fold_cast(const op_call& call) {
  const element type = call.out().type;
  if (type == element::boolean)
    return {mapped(*call.in(0).known, type, [](auto x) { return static_cast<std::int64_t>(x != 0); })};
  return {mapped(*call.in(0).known, type, [](auto x) { return x; })};
}
void lower_cast(lowering& to, const op_call& call) {
  const int made = to.in(call, 0);
  if (call.type() == call.out().type) return to.give(call, 0, made);
  to.give_op(call, "nn::cast<" + std::string(names_of(call.out().type)->cpp) + ">", {made});
}

// --- several tensors ------------------------------------------------------------------------------------------------

/// An op of two tensors: the op of levada for two, for a number behind and before, and for a parameter behind and
/// before; "" where there is none.
struct binary_form {
  std::string_view name, levada, number_behind, number_before, parameter_behind, parameter_before;
  bool gives_bool;
};
constexpr binary_form binary_forms[] = {
    {"Add", "nn::add", "nn::offset", "nn::offset", "nn::add_parameter", "nn::add_parameter", false},
    {"Sub", "nn::sub", "nn::offset-", "nn::number_minus", "nn::sub_parameter", "nn::parameter_sub", false},
    {"Mul", "nn::mul", "nn::scale", "nn::scale", "nn::mul_parameter", "nn::mul_parameter", false},
    {"Div", "nn::div", "nn::divide_by", "nn::number_over", "nn::div_parameter", "nn::parameter_div", false},
    {"Pow", "nn::pow", "nn::power", "nn::number_power", "nn::pow_parameter", "nn::parameter_pow", false},
    {"Max", "nn::max", "nn::at_least", "nn::at_least", "nn::max_parameter", "nn::max_parameter", false},
    {"Min", "nn::min", "nn::at_most", "nn::at_most", "nn::min_parameter", "nn::min_parameter", false},
    {"Sum", "nn::add", "nn::offset", "nn::offset", "nn::add_parameter", "nn::add_parameter", false},
    {"PRelu", "nn::prelu", "", "", "", "", false},
    {"Mod", "nn::mod", "", "", "", "", false},
    {"Equal", "nn::equal", "", "", "", "", true},
    {"Less", "nn::less", "", "", "", "", true},
    {"LessOrEqual", "nn::less_or_equal", "", "", "", "", true},
    {"Greater", "nn::greater", "", "", "", "", true},
    {"GreaterOrEqual", "nn::greater_or_equal", "", "", "", "", true},
    {"And", "nn::logical_and", "", "", "", "", true},
    {"Or", "nn::logical_or", "", "", "", "", true},
    {"Xor", "nn::logical_xor", "", "", "", "", true},
    {"BitwiseAnd", "nn::bit_and", "", "", "", "", false},
    {"BitwiseOr", "nn::bit_or", "", "", "", "", false},
    {"BitwiseXor", "nn::bit_xor", "", "", "", "", false},
    {"BitShift", "nn::shift_", "", "", "", "", false},
};
const binary_form& binary_of(const op_call& call) {
  for (const binary_form& form : binary_forms)
    if (form.name == call.called().op) return form;
  call.fail("it is no op of two tensors");
}

std::vector<tensor_type> infer_variadic(const op_call& call) {
  const std::string& op = call.called().op;
  call.require(call.inputs() == 2 || op == "Sum" || op == "Max" || op == "Min", "it takes two inputs");
  extents dims = call.dims(0);
  if (call.opset() < 7 && call.find("axis") != nullptr && call.inputs() == 2 &&
      call.axis(call.integer("axis", 0), call.rank()) + call.dims(1).size() != call.dims().size())
    call.fail("its axis of broadcasting is one of opsets below 7");
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    dims = broadcast_of(call, dims, call.dims(i));
    call.require(call.type(i) == call.type(0) || op == "Pow", "its inputs have elements of several types");
  }
  return {{binary_of(call).gives_bool ? element::boolean : call.type(), dims}};
}
std::vector<tensor_type> infer_mean(const op_call& call) {
  extents dims = call.dims(0);
  for (std::size_t i = 1; i < call.inputs(); ++i) dims = broadcast_of(call, dims, call.dims(i));
  return {{call.type(), dims}};
}

template <class T>
T remainder_of(T a, T b, bool as_c) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) throw conversion_error("a constant is divided by zero");
    const T r = b == -1 ? 0 : a % b;
    return !as_c && r != 0 && (r < 0) != (b < 0) ? r + b : r;
  } else {
    return std::fmod(a, b);
  }
}

template <class T>
T quotient(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) throw conversion_error("a constant is divided by zero");
    return b == -1 ? static_cast<T>(0 - static_cast<std::uint64_t>(a)) : a / b;
  } else {
    return a / b;
  }
}

/// Of integers exact, or wrapped around; a negative power is the quotient of 1 by the positive one.
template <class T>
T power(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    std::uint64_t result = 1, base = static_cast<std::uint64_t>(a);
    for (; b != 0; b /= 2, base *= base)
      if (b % 2 != 0) result *= base;
    return static_cast<T>(result);
  } else {
    return std::pow(a, b);
  }
}

template <class T>
T combined(std::string_view op, T a, T b, bool as_c) {
  // Integers wrap around.
  using wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  const wide x = static_cast<wide>(a), y = static_cast<wide>(b);
  if (op == "Add" || op == "Sum") return static_cast<T>(x + y);
  if (op == "Sub") return static_cast<T>(x - y);
  if (op == "Mul") return static_cast<T>(x * y);
  if (op == "Div") return quotient(a, b);
  if (op == "Pow") return power(a, b);
  if (op == "Max") return a != a ? a : a < b || b != b ? b : a;
  if (op == "Min") return a != a ? a : b < a || b != b ? b : a;
  if (op == "Mod") return remainder_of(a, b, as_c);
  if (op == "PRelu") return a < 0 ? a * b : a;
  if (op == "Equal") return a == b;
  if (op == "Less") return a < b;
  if (op == "LessOrEqual") return a <= b;
  if (op == "Greater") return a > b;
  if (op == "GreaterOrEqual") return a >= b;
  if (op == "And") return a != 0 && b != 0;
  if (op == "Or") return a != 0 || b != 0;
  if (op == "Xor") return (a != 0) != (b != 0);
  throw conversion_error("it is no op of two tensors");
}

std::vector<constant> fold_variadic(const op_call& call) {
  const bool as_c = call.integer("fmod", 0) != 0;
  constant result = *call.in(0).known;
  if (call.inputs() == 1) return {result};
  // Integers to the power of floating numbers are those first.
  const bool is_of_floating = !is_floating(call.type()) && is_floating(call.type(1));
  const element type = is_of_floating ? element::f64 : call.type();
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    const constant& next = *call.in(i).known;
    const extents dims = broadcast_of(call, result.dims(), next.dims());
    const std::vector<std::int64_t> left = broadcast_offsets(result.dims(), dims),
                                    right = broadcast_offsets(next.dims(), dims);
    result = by_number(type, [&]<class T>(T) {
      const std::vector<T> a = result.as<T>(), b = next.as<T>();
      std::vector<T> made;
      made.reserve(left.size());
      for (std::size_t k = 0; k < left.size(); ++k) {
        const T x = combined(call.called().op, a[static_cast<std::size_t>(left[k])],
                             b[static_cast<std::size_t>(right[k])], as_c);
        if constexpr (std::is_floating_point_v<T>)
          made.push_back(rounded(type, x));
        else
          made.push_back(x);
      }
      return constant::of(i + 1 == call.inputs() ? call.out().type : type, dims, made);
    });
  }
  return {result};
}

/// A constant of one element.
std::optional<double> number_in(const op_call& call, std::size_t i) {
  if (!call.is_known(i) || call.in(i).known->elements() != 1) return std::nullopt;
  return call.in(i).known->scalar<double>();
}

/// One step of an op of two or more tensors; `made` is what the inputs before `i` gave.
int lower_pair(lowering& to, const op_call& call, const binary_form& form, int made, std::size_t i) {
  const element type = call.type();
  const extents dims = stored_dims(call.out().dims);
  const auto result_dims = [&](int left, const extents& right) { return broadcast_of(call, to[left].dims, right); };
  const bool floating = is_floating(type);
  // The first input is the constant one.
  if (made < 0) {
    const int other = to.in(call, i);
    const constant& known = *call.in(0).known;
    if (const auto number = number_in(call, 0); number && floating && !form.number_before.empty())
      return to.add(std::string(form.number_before) + "(" + number_text(*number, type) + ")", {other}, type,
                    to[other].dims);
    if (floating && !form.parameter_before.empty()) {
      const std::string name = to.fresh_name();
      const extents right = without_leading_ones(known.dims());
      to.weight(name, "value", known.shaped(right));
      return to.add(name, std::string(form.parameter_before) + "<\"" + name + "\", " + list_of(right) + ">(w)", {other},
                    type, result_dims(other, right));
    }
    const int left = to.in(call, 0);
    return to.add(std::string(form.levada), {left, other}, call.out().type, result_dims(left, to[other].dims));
  }
  if (const auto number = number_in(call, i); number && floating && !form.number_behind.empty()) {
    const bool negated = form.number_behind.back() == '-';
    const std::string_view op =
        negated ? form.number_behind.substr(0, form.number_behind.size() - 1) : form.number_behind;
    return to.add(std::string(op) + "(" + number_text(negated ? -*number : *number, type) + ")", {made}, type,
                  to[made].dims);
  }
  if (call.is_known(i) && floating && !form.parameter_behind.empty()) {
    const std::string name = to.fresh_name();
    const constant& known = *call.in(i).known;
    const extents right = without_leading_ones(known.dims());
    to.weight(name, "value", known.shaped(right));
    return to.add(name, std::string(form.parameter_behind) + "<\"" + name + "\", " + list_of(right) + ">(w)", {made},
                  type, result_dims(made, right));
  }
  const int right = to.in(call, i);
  if (right == made && floating && form.name == "Mul")
    return to.add("nn::power(" + number_text(2, type) + ")", {made}, type, dims);
  if (right == made && floating && form.name == "Add")
    return to.add("nn::scale(" + number_text(2, type) + ")", {made}, type, dims);
  return to.add(std::string(form.levada), {made, right}, call.out().type, result_dims(made, to[right].dims));
}

void lower_variadic(lowering& to, const op_call& call) {
  const binary_form& form = binary_of(call);
  if (form.name == "Mod" && call.integer("fmod", 0) != 0) {
    const int a = to.in(call, 0), b = to.in(call, 1);
    return give_cast(to, call, to.add("nn::fmod", {a, b}, call.type(), broadcast_of(call, to[a].dims, to[b].dims)));
  }
  if (form.name == "BitShift") {
    const int a = to.in(call, 0), b = to.in(call, 1);
    const std::string op = call.text("direction", "") == "LEFT" ? "nn::shift_left" : "nn::shift_right";
    return give_cast(to, call, to.add(op, {a, b}, call.type(), broadcast_of(call, to[a].dims, to[b].dims)));
  }
  if (form.name == "Pow" && (!is_floating(call.type()) || call.type(1) != call.type())) {
    // levada raises numbers of one type: integers by integers as the wider ones, by floating numbers as double.
    const element type = call.type(), exponent = call.type(1);
    const bool whole = !is_floating(type) && !is_floating(exponent);
    const auto is_wide = [](element e) { return size_of(e) == 8 || e == element::u32; };
    element computed = !is_floating(type) || type == element::f64 ? element::f64 : element::f32;
    if (whole) computed = is_wide(type) || is_wide(exponent) ? element::i64 : element::i32;
    if (whole && type == exponent && size_of(type) >= 4) computed = type;
    const auto as = [&](int from, element wanted) {
      if (to[from].type == wanted) return from;
      const extents dims = to[from].dims;
      return to.add("nn::cast<" + std::string(names_of(wanted)->cpp) + ">", {from}, wanted, dims);
    };
    const int a = as(to.in(call, 0), computed), b = as(to.in(call, 1), computed);
    const extents dims = broadcast_of(call, to[a].dims, to[b].dims);
    return to.give(call, 0, as(to.add("nn::pow", {a, b}, computed, dims), type));
  }
  int made = call.is_known(0) && call.inputs() > 1 ? -1 : to.in(call, 0);
  for (std::size_t i = 1; i < call.inputs(); ++i) made = lower_pair(to, call, form, made, i);
  call.inputs() > 1 ? give_cast(to, call, made) : to.give(call, 0, made);
}
void lower_mean(lowering& to, const op_call& call) {
  const binary_form& sum = binary_forms[0];
  int made = to.in(call, 0);
  for (std::size_t i = 1; i < call.inputs(); ++i) made = lower_pair(to, call, sum, made, i);
  const auto count = static_cast<double>(call.inputs());
  to.give(call, 0,
          to.add("nn::divide_by(" + number_text(count, call.type()) + ")", {made}, call.type(), to[made].dims));
}

// --- Where ----------------------------------------------------------------------------------------------------------

std::vector<tensor_type> infer_where(const op_call& call) {
  return {{call.type(1), broadcast_of(call, broadcast_of(call, call.dims(0), call.dims(1)), call.dims(2))}};
}
std::vector<constant> fold_where(const op_call& call) {
  const extents& dims = call.out().dims;
  const auto chosen = call.in(0).known->as<std::int64_t>();
  const auto from = [&](std::size_t i) { return broadcast_offsets(call.dims(i), dims); };
  const std::vector<std::int64_t> condition = from(0), a = from(1), b = from(2);
  return {by_number(call.type(1), [&]<class T>(T) {
    const std::vector<T> x = call.in(1).known->as<T>(), y = call.in(2).known->as<T>();
    std::vector<T> made;
    for (std::size_t i = 0; i < condition.size(); ++i)
      made.push_back(chosen[static_cast<std::size_t>(condition[i])] != 0 ? x[static_cast<std::size_t>(a[i])]
                                                                         : y[static_cast<std::size_t>(b[i])]);
    return constant::of(call.type(1), dims, made);
  })};
}
void lower_where(lowering& to, const op_call& call) {
  const int condition = to.in(call, 0), a = to.in(call, 1), b = to.in(call, 2);
  give_cast(to, call,
            to.add("nn::where", {condition, a, b}, call.out().type,
                   broadcast_of(call, broadcast_of(call, to[condition].dims, to[a].dims), to[b].dims)));
}

std::vector<op_definition> element_wise_definitions() {
  std::vector<op_definition> ops;
  for (const unary_form& form : unary_forms) {
    const bool to_bool = form.name == "Not" || form.name == "IsNaN";
    ops.push_back(
        {form.name, to_bool ? bool_of_same : same_type, form.of == nullptr ? nullptr : fold_unary, lower_unary});
  }
  for (const binary_form& form : binary_forms)
    ops.push_back({form.name, infer_variadic,
                   form.levada.find("nn::bit") == 0 || form.name == "BitShift" ? nullptr : fold_variadic,
                   lower_variadic});
  ops.insert(ops.end(), {
                            {"Mean", infer_mean, nullptr, lower_mean},
                            {"LeakyRelu", same_type, fold_leaky_relu, lower_leaky_relu},
                            {"Elu", same_type, nullptr, lower_elu},
                            {"Selu", same_type, nullptr, lower_selu},
                            {"Celu", same_type, nullptr, lower_celu},
                            {"ThresholdedRelu", same_type, nullptr, lower_thresholded_relu},
                            {"Shrink", same_type, nullptr, lower_shrink},
                            {"HardSigmoid", same_type, fold_hard_sigmoid, lower_hard_sigmoid},
                            {"Gelu", same_type, nullptr, lower_gelu},
                            {"IsInf", bool_of_same, fold_is_inf, lower_is_inf},
                            {"Clip", same_type, fold_clip, lower_clip},
                            {"Cast", infer_cast, fold_cast, lower_cast},
                            {"Where", infer_where, fold_where, lower_where},
                        });
  return ops;
}

}  // namespace

std::span<const op_definition> element_wise_ops() {
  static const std::vector<op_definition> ops = element_wise_definitions();
  return ops;
}

}  // namespace levada::onnx
