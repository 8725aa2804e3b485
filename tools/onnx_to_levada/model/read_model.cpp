// SPDX-License-Identifier: Apache-2.0
#include "read_model.hpp"

#include <protozero/exception.hpp>

// A field of another wire type than its number has is the file's fault, not the program's.
#define protozero_assert(holds) \
  if (!(holds)) throw levada::onnx::wrong_field()
namespace levada::onnx {
struct wrong_field : protozero::exception {
  const char* what() const noexcept override { return "a field has another type than ONNX gives it"; }
};
}  // namespace levada::onnx
#include <protozero/pbf_reader.hpp>

#include "mapped_file.hpp"

namespace levada::onnx {
namespace {

/// How deep sub-graphs may stand in each other.
constexpr int deepest_graph = 64;

class reader {
 public:
  reader(std::string_view bytes, std::filesystem::path folder, std::shared_ptr<const std::byte> owner)
      : bytes_(bytes), folder_(std::move(folder)), owner_(std::move(owner)) {}

  template <class F>
  auto guarded(F read) {
    try {
      return read();
    } catch (const protozero::exception& failure) {
      fail(std::string("this is no ONNX model: ") + failure.what());
    } catch (const std::bad_alloc&) {
      fail("memory is too small for what the file says");
    }
  }

  model_def model() {
    model_def result;
    result.bytes = owner_;
    for_each_field(bytes_, [&](protozero::pbf_reader& f) {
      switch (f.tag()) {
        case 1:
          result.ir_version = f.get_int64();
          break;
        case 2:
          result.producer = f.get_string();
          break;
        case 7:
          result.graph = graph(view(f), 0);
          break;
        case 8:
          opset(view(f), result.opsets);
          break;
        case 25: {
          function_def read = function(view(f));
          std::pair key(std::string(domain_of(read.domain)), read.name);
          if (!result.functions.emplace(std::move(key), std::move(read)).second) fail("a function occurs twice");
          break;
        }
        default:
          f.skip();
      }
    });
    if (result.graph.nodes.empty() && result.graph.outputs.empty()) fail("the file has no graph");
    if (result.opsets.empty()) result.opsets.emplace("", 1);
    return result;
  }

  constant tensor(std::string_view bytes, std::string* name = nullptr) {
    element type = element::undefined;
    extents dims;
    std::string_view raw;
    bool has_raw = false, is_external = false;
    std::vector<double> numbers;
    std::vector<std::int64_t> integers;
    std::map<std::string, std::string> external;
    for_each_field(bytes, [&](protozero::pbf_reader& f) {
      switch (f.tag()) {
        case 1:
          repeated_integers(f, dims);
          break;
        case 2:
          type = static_cast<element>(f.get_int32());
          break;
        case 4:
          repeated_floats(f, numbers);
          break;
        case 5:
        case 7:
        case 11:
          repeated_integers(f, integers);
          break;
        case 6:
          type = element::string;
          f.skip();
          break;
        case 8:
          name != nullptr ? void(*name = f.get_string()) : f.skip();
          break;
        case 9:
          raw = view(f);
          has_raw = true;
          break;
        case 10:
          repeated_doubles(f, numbers);
          break;
        case 13:
          external.insert(text_pair(view(f)));
          break;
        case 14:
          is_external = f.get_int32() == 1;
          break;
        default:
          f.skip();
      }
    });
    std::int64_t count = 1;
    for (const std::int64_t d : dims)
      if (d < 0 || (d != 0 && count > most_elements / d))
        fail("a tensor has the extent " + std::to_string(d));
      else
        count *= d;
    if (type == element::string) return {type, std::move(dims), {}};
    if (names_of(type) == nullptr)
      fail("a tensor has elements of type " + std::to_string(static_cast<int>(type)) + ", which levada lacks");
    const std::size_t size = static_cast<std::size_t>(count) * size_of(type);
    if (is_external) return external_tensor(type, std::move(dims), size, external);
    if (has_raw || count == 0) {
      if (raw.size() != size) fail("a tensor of " + std::to_string(size) + " bytes has " + std::to_string(raw.size()));
      return {type, std::move(dims), shared(raw.data()), size};
    }
    if (is_floating(type) && type != element::f16 && type != element::bf16) {
      if (numbers.size() != static_cast<std::size_t>(count)) fail("a tensor has too few or too many elements");
      return constant::of(type, std::move(dims), numbers);
    }
    if (integers.size() != static_cast<std::size_t>(count)) fail("a tensor has too few or too many elements");
    if (type == element::f16 || type == element::bf16) {  // int32_data has their bits
      const constant bits = constant::of(element::u16, dims, integers);
      return {type, std::move(dims), std::vector(bits.bytes().begin(), bits.bytes().end())};
    }
    return constant::of(type, std::move(dims), integers);
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw conversion_error("byte " + std::to_string(at_) + ": " + text);
  }

  std::size_t offset_of(const char* at) const { return static_cast<std::size_t>(at - bytes_.data()); }

  template <class F>
  void for_each_field(std::string_view message, F f) {
    at_ = offset_of(message.data());
    protozero::pbf_reader fields(protozero::data_view(message.data(), message.size()));
    while (fields.next()) {
      f(fields);
      at_ = offset_of(message.data()) + message.size() - fields.length();
    }
  }

  std::string_view view(protozero::pbf_reader& f) {
    const protozero::data_view found = f.get_view();
    at_ = offset_of(found.data());
    return {found.data(), found.size()};
  }

  /// Bytes of the file: kept by whoever mapped it, else copied.
  std::shared_ptr<const std::byte> shared(const char* data) const {
    return {owner_, reinterpret_cast<const std::byte*>(data)};
  }

  // A repeated number is packed, or one field each.
  void repeated_integers(protozero::pbf_reader& f, std::vector<std::int64_t>& into) {
    if (f.wire_type() == protozero::pbf_wire_type::length_delimited)
      for (const std::int64_t value : f.get_packed_int64()) into.push_back(value);
    else
      into.push_back(f.get_int64());
  }
  void repeated_floats(protozero::pbf_reader& f, std::vector<double>& into) {
    if (f.wire_type() == protozero::pbf_wire_type::length_delimited)
      for (const float value : f.get_packed_float()) into.push_back(value);
    else
      into.push_back(f.get_float());
  }
  void repeated_doubles(protozero::pbf_reader& f, std::vector<double>& into) {
    if (f.wire_type() == protozero::pbf_wire_type::length_delimited)
      for (const double value : f.get_packed_double()) into.push_back(value);
    else
      into.push_back(f.get_double());
  }

  std::pair<std::string, std::string> text_pair(std::string_view message) {
    std::pair<std::string, std::string> result;
    for_each_field(message, [&](protozero::pbf_reader& f) {
      if (f.tag() == 1)
        result.first = f.get_string();
      else if (f.tag() == 2)
        result.second = f.get_string();
      else
        f.skip();
    });
    return result;
  }

  void opset(std::string_view message, opset_versions& into) {
    std::string domain;
    std::int64_t version = 0;
    for_each_field(message, [&](protozero::pbf_reader& f) {
      if (f.tag() == 1)
        domain = f.get_string();
      else if (f.tag() == 2)
        version = f.get_int64();
      else
        f.skip();
    });
    into[std::string(domain_of(domain))] = version;
  }

  constant external_tensor(element type, extents dims, std::size_t size,
                           const std::map<std::string, std::string>& where) {
    const auto number = [&](const char* key, std::size_t otherwise) -> std::size_t {
      const auto found = where.find(key);
      if (found == where.end()) return otherwise;
      std::size_t value = 0;
      for (const char c : found->second) {
        if (c < '0' || c > '9' || value > (std::size_t{1} << 59))
          fail("external data have the " + std::string(key) + " \"" + found->second + "\"");
        value = value * 10 + static_cast<std::size_t>(c - '0');
      }
      return value;
    };
    const auto location = where.find("location");
    if (location == where.end()) fail("external data have no location");
    const std::size_t offset = number("offset", 0), length = number("length", size);
    if (length != size) fail("external data of " + std::to_string(size) + " bytes have " + std::to_string(length));
    const mapped_file& file = external_file(location->second);
    if (offset > file.size() || size > file.size() - offset)
      fail("external data end behind the end of " + location->second);
    return {type, std::move(dims), file.at(offset), size};
  }

  /// Only a file in the model's folder or below it: a model from elsewhere reads nothing else.
  const mapped_file& external_file(const std::string& location) {
    if (const auto found = files_.find(location); found != files_.end()) return found->second;
    namespace fs = std::filesystem;
    const fs::path given(location);
    bool inside = !folder_.empty() && !given.empty() && given.is_relative();
    for (const fs::path& part : given) inside = inside && part != "..";
    std::error_code failed;
    const fs::path whole = inside ? fs::canonical(folder_ / given, failed) : fs::path();
    if (inside && !failed) {
      const fs::path root = fs::canonical(folder_, failed);
      inside = !failed && std::mismatch(root.begin(), root.end(), whole.begin(), whole.end()).first == root.end();
    }
    if (!inside) fail("external data lie in \"" + location + "\", which is not below the model's folder");
    if (failed) fail("external data lie in \"" + location + "\": " + failed.message());
    return files_.emplace(location, mapped_file(whole)).first->second;
  }

  attribute attribute_value(std::string_view message, std::string& name, int depth) {
    attribute result;
    for_each_field(message, [&](protozero::pbf_reader& f) {
      switch (f.tag()) {
        case 1:
          name = f.get_string();
          break;
        case 2:
          result.number = static_cast<double>(f.get_float());
          break;
        case 3:
          result.integer = f.get_int64();
          break;
        case 4:
          result.text = f.get_string();
          break;
        case 5:
          result.tensor = tensor(view(f));
          break;
        case 6:
          result.graph = std::make_shared<const graph_def>(graph(view(f), depth + 1));
          break;
        case 7:
          repeated_floats(f, result.numbers);
          break;
        case 8:
          repeated_integers(f, result.integers);
          break;
        case 9:
          result.texts.push_back(f.get_string());
          break;
        case 21:
          result.refers_to = f.get_string();
          break;
        default:
          f.skip();
      }
    });
    return result;
  }

  node_def node(std::string_view message, int depth) {
    node_def result;
    result.offset = offset_of(message.data());
    result.message = message;
    for_each_field(message, [&](protozero::pbf_reader& f) {
      switch (f.tag()) {
        case 1:
          result.inputs.push_back(f.get_string());
          break;
        case 2:
          result.outputs.push_back(f.get_string());
          break;
        case 3:
          result.name = f.get_string();
          break;
        case 4:
          result.op = f.get_string();
          break;
        case 5: {
          std::string name;
          attribute value = attribute_value(view(f), name, depth);
          result.attributes.insert_or_assign(std::move(name), std::move(value));
          break;
        }
        case 7:
          result.domain = domain_of(f.get_string());
          break;
        default:
          f.skip();
      }
    });
    return result;
  }

  declared value_info(std::string_view message) {
    declared result;
    for_each_field(message, [&](protozero::pbf_reader& f) {
      if (f.tag() == 1)
        result.name = f.get_string();
      else if (f.tag() == 2)
        type_of(view(f), result);
      else
        f.skip();
    });
    return result;
  }
  void type_of(std::string_view message, declared& into) {
    for_each_field(message, [&](protozero::pbf_reader& f) {
      if (f.tag() != 1) return f.skip();
      for_each_field(view(f), [&](protozero::pbf_reader& tensor) {
        if (tensor.tag() == 1)
          into.type = static_cast<element>(tensor.get_int32());
        else if (tensor.tag() == 2)
          shape_of(view(tensor), into);
        else
          tensor.skip();
      });
    });
  }
  void shape_of(std::string_view message, declared& into) {
    into.has_shape = true;
    for_each_field(message, [&](protozero::pbf_reader& f) {
      if (f.tag() != 1) return f.skip();
      declared_extent extent;
      for_each_field(view(f), [&](protozero::pbf_reader& dim) {
        if (dim.tag() == 1)
          extent.value = dim.get_int64();
        else if (dim.tag() == 2)
          extent.name = dim.get_string();
        else
          dim.skip();
      });
      if (extent.value && *extent.value <= 0) extent.value.reset();  // some exporters write -1 or 0 for a free one
      into.dims.push_back(std::move(extent));
    });
  }

  graph_def graph(std::string_view message, int depth) {
    if (depth > deepest_graph) fail("graphs stand in each other too deep");
    graph_def result;
    for_each_field(message, [&](protozero::pbf_reader& f) {
      switch (f.tag()) {
        case 1:
          result.nodes.push_back(node(view(f), depth));
          break;
        case 2:
          result.name = f.get_string();
          break;
        case 5: {
          std::string name;
          constant value = tensor(view(f), &name);
          result.initializers.emplace_back(std::move(name), std::move(value));
          break;
        }
        case 11:
          result.inputs.push_back(value_info(view(f)));
          break;
        case 12:
          result.outputs.push_back(value_info(view(f)));
          break;
        case 13:
          result.values.push_back(value_info(view(f)));
          break;
        case 15:
          fail("the graph has a sparse initializer");
        default:
          f.skip();
      }
    });
    return result;
  }

  function_def function(std::string_view message) {
    function_def result;
    for_each_field(message, [&](protozero::pbf_reader& f) {
      switch (f.tag()) {
        case 1:
          result.name = f.get_string();
          break;
        case 4:
          result.inputs.push_back(f.get_string());
          break;
        case 5:
          result.outputs.push_back(f.get_string());
          break;
        case 6:
          result.attribute_names.push_back(f.get_string());
          break;
        case 7:
          result.nodes.push_back(node(view(f), 0));
          break;
        case 9:
          opset(view(f), result.opsets);
          break;
        case 10:
          result.domain = f.get_string();
          break;
        case 11: {
          std::string name;
          attribute value = attribute_value(view(f), name, 0);
          result.defaults.insert_or_assign(std::move(name), std::move(value));
          break;
        }
        default:
          f.skip();
      }
    });
    return result;
  }

  std::string_view bytes_;
  std::filesystem::path folder_;
  std::shared_ptr<const std::byte> owner_;
  std::map<std::string, mapped_file> files_;
  std::size_t at_ = 0;
};

}  // namespace

model_def read_model(const std::filesystem::path& file) {
  const mapped_file mapped(file);
  try {
    reader source({reinterpret_cast<const char*>(mapped.at(0).get()), mapped.size()},
                  std::filesystem::absolute(file).parent_path(), mapped.at(0));
    return source.guarded([&] { return source.model(); });
  } catch (const conversion_error& failure) {
    throw conversion_error(file.string() + ": " + failure.what());
  }
}

model_def read_model(std::string_view bytes, const std::filesystem::path& folder) {
  auto owner = std::make_shared<std::string>(bytes);
  reader source(*owner, folder, {owner, reinterpret_cast<const std::byte*>(owner->data())});
  return source.guarded([&] { return source.model(); });
}

constant read_tensor(std::string_view bytes) {
  auto owner = std::make_shared<std::string>(bytes);
  reader source(*owner, {}, {owner, reinterpret_cast<const std::byte*>(owner->data())});
  return source.guarded([&] { return source.tensor(*owner); });
}

}  // namespace levada::onnx
