// SPDX-License-Identifier: Apache-2.0
// Messages of the Open Inference Protocol: what is read from them and how they are refused, without a network.

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <levada/service/detail/infer_answer.hpp>
#include <levada/service/detail/infer_request.hpp>
#include <levada/service/detail/inference_messages.hpp>

namespace {

namespace lv = levada;
using lv::detail::protobuf_reader;
using lv::detail::protobuf_type;
using lv::detail::protobuf_writer;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

template <class... T>
std::string raw(T... values) {
  std::string text;
  (text.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return text;
}

/// A model of two inputs, of two numbers and of one.
lv::detail::served_model model() {
  using item = lv::named_items<lv::named_item<"a", lv::tensor<float, 2>>, lv::named_item<"b", std::int16_t>>;
  const auto in = lv::detail::wire_tensors<item>("input");
  const auto out = lv::detail::wire_tensors<lv::tensor<double, 1>>("output");
  return {"both", "3", {in.begin(), in.end()}, {out.begin(), out.end()}, false, 4};
}

struct given {
  std::string_view name, datatype;
  std::vector<std::uint64_t> shape;
  std::string contents;  ///< a message; empty: none
};
const std::vector<given> good = {{"b", "INT16", {2}, {}}, {"a", "FP32", {2, 2}, {}}};
const std::vector<std::string> good_raw = {raw(std::int16_t{7}, std::int16_t{-8}), raw(1.f, 2.f, 3.f, 4.f)};

std::string request(const std::vector<given>& inputs, const std::vector<std::string>& contents,
                    std::string_view name = "both", std::string_view version = "", std::string_view output = "") {
  std::string message;
  protobuf_writer to(message);
  to.text(1, name);
  to.text(2, version);
  to.text(3, "an id");
  for (const given& g : inputs)
    to.message(5, [&](protobuf_writer& in) {
      in.text(1, g.name);
      in.text(2, g.datatype);
      in.message(3, [&](protobuf_writer& packed) {
        for (const std::uint64_t extent : g.shape) packed.varint(extent);
      });
      if (!g.contents.empty()) in.element(5, g.contents);
    });
  if (!output.empty()) to.message(6, [&](protobuf_writer& out) { out.text(1, output); });
  for (const std::string& c : contents) to.element(7, c);
  return message;
}
std::string numbers(std::uint32_t field, const std::vector<std::uint64_t>& values) {
  std::string message;
  protobuf_writer(message).message(field, [&](protobuf_writer& packed) {
    for (const std::uint64_t v : values) packed.varint(v);
  });
  return message;
}

/// Why it is refused; empty: it is not.
std::string refused(const std::string& message) {
  lv::detail::infer_request r;
  try {
    r.read(bytes_of(message), model());
    return {};
  } catch (const lv::detail::refusal& why) {
    return std::to_string(static_cast<int>(why.code)) + ' ' + why.why;
  }
}

}  // namespace

TEST_CASE("a request is read by the names of its inputs, raw or typed") {
  std::string floats;
  protobuf_writer to(floats);
  to.element(6, raw(1.f, 2.f, 3.f, 4.f));
  const std::vector<given> typed = {{"a", "FP32", {2, 2}, floats},
                                    {"b", "INT16", {2}, numbers(2, {7, static_cast<std::uint64_t>(-8)})}};
  lv::detail::infer_request r;
  for (const std::string& message :
       {request(good, good_raw), request(typed, {}), request(good, good_raw, "both", "3")}) {
    r.read(bytes_of(message), model());
    CHECK(r.id() == "an id");
    REQUIRE(r.items() == 2);
    lv::named_items<lv::named_item<"a", lv::tensor<float, 2>>, lv::named_item<"b", std::int16_t>> item;
    lv::detail::read_item(r.inputs(), 1, item);
    CHECK(item.get<"a">()[0] == 3);
    CHECK(item.get<"a">()[1] == 4);
    CHECK(item.get<"b">() == -8);
  }
}

TEST_CASE("what a model does not take is refused in a sentence that says what it takes") {
  const auto with = [](std::size_t i, given g) {
    std::vector<given> all = good;
    all[i] = std::move(g);
    return all;
  };
  CHECK(refused(request(good, good_raw)).empty());
  CHECK(refused(request(good, good_raw, "other")) == R"(5 no model "other" is here: this is "both")");
  CHECK(refused(request(good, good_raw, "both", "4")) == R"(5 model "both" has no version 4: this is version 3)");
  CHECK(refused(request(good, good_raw, "both", "", "x")) == R"(3 the model has no output "x": it has "output")");
  CHECK(refused(request({good[0]}, {good_raw[0]})) == "3 the model takes 2 inputs, and the request has 1");
  CHECK(refused(request(good, {good_raw[0]})) == "3 the request has raw contents of 1 inputs, and 2 inputs");
  CHECK(refused(request(with(0, {"c", "INT16", {2}, {}}), good_raw)) ==
        R"(3 the request has no input "b": it has "c")");
  CHECK(refused(request(with(1, {"a", "FP64", {2, 2}, {}}), good_raw)) ==
        R"(3 input "a" is FP64, and the model takes FP32)");
  for (const auto& [shape, text] : {std::pair{std::vector<std::uint64_t>{2}, "[2]"},
                                    {{2, 3}, "[2,3]"},
                                    {{0, 2}, "[0,2]"},
                                    {{~std::uint64_t{0}, 2}, "[-1,2]"},
                                    {{2, 2, 1}, "[2,2,1]"}})
    CHECK(refused(request(with(1, {"a", "FP32", shape, {}}), good_raw)) ==
          R"(3 input "a" has the shape )" + std::string(text) +
              ", and the model takes [-1,2], whose first axis counts items");
  CHECK(refused(request({{"b", "INT16", {5}, {}}, {"a", "FP32", {5, 2}, {}}}, good_raw)) ==
        R"(3 input "a" has 5 items, and a request may have 4)");
  CHECK(refused(request(with(0, {"b", "INT16", {1}, {}}), {raw(std::int16_t{7}), good_raw[1]})) ==
        R"(3 input "b" has 1 items, and others have 2)");
  CHECK(refused(request(good, {good_raw[0], raw(1.f)})) ==
        R"(3 input "a" has 4 bytes of contents, and 16 by its shape)");
  CHECK(refused(request(with(0, {"b", "INT16", {2}, numbers(2, {1, 2})}), good_raw)) ==
        R"(3 input "b" has raw contents, and others beside them)");
  CHECK(refused(request(
            {{"a", "FP32", {1, 2}, raw('\x32', '\x08', 1.f, 2.f)}, {"b", "INT16", {1}, numbers(2, {40000})}}, {})) ==
        R"(3 input "b" has a number that is no INT16)");
}

TEST_CASE("the answer has each result in its place") {
  const std::string message = request(good, good_raw);
  lv::detail::infer_request r;
  lv::detail::infer_answer answer;
  for (int again = 0; again < 2; ++again) {
    r.read(bytes_of(message), model());
    answer.begin(r, model());
    for (std::size_t i = 0; i < 2; ++i)
      lv::detail::write_item(lv::tensor<double, 1>{{0.5 + static_cast<double>(i)}}, answer.places(), i);
    std::string outputs, contents;
    protobuf_reader from(std::as_bytes(answer.message()));
    while (from.next()) {
      if (from.field() == 1) CHECK(from.text() == "both");
      if (from.field() == 3) CHECK(from.text() == "an id");
      if (from.field() == 5) outputs += from.text();
      if (from.field() == 6) contents += from.text();
    }
    CHECK(outputs ==
          "\x0a\x06output\x12\x04"
          "FP64\x1a\x02\x02\x01");
    CHECK(contents == raw(0.5, 1.5));
  }
}

TEST_CASE("of several outputs those that are asked for are answered, in that order") {
  using item = lv::named_items<lv::named_item<"x", std::int32_t>, lv::named_item<"y", lv::tensor<float, 2>>,
                               lv::named_item<"z", std::uint8_t>>;
  const auto outputs = lv::detail::wire_tensors<item>("output");
  lv::detail::served_model three = model();
  three.outputs = {outputs.begin(), outputs.end()};
  std::string message = request(good, good_raw, "both", "", "z");
  protobuf_writer(message).message(6, [](protobuf_writer& out) { out.text(1, "x"); });
  lv::detail::infer_request r;
  lv::detail::infer_answer answer;
  r.read(bytes_of(message), three);
  answer.begin(r, three);
  for (std::uint8_t i = 0; i < 2; ++i)
    lv::detail::write_item(item{100 + i, lv::tensor<float, 2>{{1, 2}}, static_cast<std::uint8_t>(7 + i)},
                           answer.places(), i);
  std::vector<std::string> contents;
  for (protobuf_reader from(std::as_bytes(answer.message())); from.next();)
    if (from.field() == 6) contents.emplace_back(from.text());
  CHECK(contents == std::vector<std::string>{"\x07\x08", raw(std::int32_t{100}, std::int32_t{101})});
}

TEST_CASE("bytes that are no message throw wire_error, and read nothing beyond them") {
  const std::string whole = request(good, good_raw, "both", "3", "output");
  std::size_t refusals = 0;
  for (std::size_t n = 0; n < whole.size(); ++n)
    for (const unsigned flip : {0u, 0x80u, 0x07u, 0xffu}) {
      std::vector<std::byte> some(bytes_of(whole).begin(), bytes_of(whole).begin() + static_cast<std::ptrdiff_t>(n));
      if (n != 0) some[n / 2] ^= static_cast<std::byte>(flip);
      lv::detail::infer_request r;
      try {
        r.read(some, model());
      } catch (const lv::detail::refusal&) {
        ++refusals;
      } catch (const lv::wire_error&) {
        ++refusals;
      }
    }
  CHECK(refusals > 3 * whole.size());
  const auto why = [](std::string_view text) -> std::string {
    try {
      protobuf_reader from(bytes_of(text));
      while (from.next()) static_cast<void>(from.text());
      return {};
    } catch (const lv::wire_error& e) {
      return e.what();
    }
  };
  CHECK(why("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff") == "levada: a message has a number that does not end");
  CHECK(why("\x0b") == "levada: a message has a field of no known kind");
  CHECK(why("\x08\x01") == "levada: a message has a field of another kind than defined");
}

TEST_CASE("metadata has the shapes of items behind an axis that counts them") {
  const std::string message = lv::detail::model_metadata(model());
  std::vector<std::string> shapes;
  protobuf_reader from(bytes_of(message));
  while (from.next())
    if (from.field() == 4 || from.field() == 5) {
      std::string text;
      protobuf_reader tensor(from.bytes());
      while (tensor.next()) {
        if (tensor.field() < 3) text += std::string(tensor.text()) + ' ';
        if (tensor.field() == 3)
          tensor.each_number(protobuf_type::varint, [&](std::uint64_t extent) {
            text += std::to_string(static_cast<std::int64_t>(extent)) + ',';
          });
      }
      shapes.push_back(text);
    }
  CHECK(shapes == std::vector<std::string>{"a FP32 -1,2,", "b INT16 -1,", "output FP64 -1,1,"});
}
