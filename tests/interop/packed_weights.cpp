// SPDX-License-Identifier: Apache-2.0
// Kernels from a file: the same results to the bit, and another kernel wherever anything that they are made of is
// another.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <levada/graph/parameter_map.hpp>
#include <levada/interop/packed_weights.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

#include "files.hpp"
#include "numbers.hpp"

namespace interop_packed_weights {

namespace lv = levada;
using lv::detail::bytes_hash;
using lv::test::numbers;

using picture = lv::tensor<float, 8, 12, 10>;
using box = lv::target<lv::cpu<1>>;

lv::parameter_map parameters(int step) {
  lv::parameter_map weights;
  weights.set("conv.weight", numbers<lv::tensor<float, 32, 8, 3, 3>>(step));
  weights.set("conv.bias", numbers<lv::tensor<float, 32>>(3));
  weights.set("grouped.weight", numbers<lv::tensor<float, 64, 16, 3, 3>>(5));
  weights.set("grouped.bias", numbers<lv::tensor<float, 64>>(2));
  weights.set("head.weight", numbers<lv::tensor<float, 16, 64 * 120>>(9));
  weights.set("head.bias", numbers<lv::tensor<float, 16>>(4));
  return weights;
}

template <class Weights>
auto network(const Weights& weights, float alpha = 0.25f) {
  return lv::input<picture> | lv::nn::conv2d<"conv", 32, lv::size<3>, lv::padding<1>>(weights) |
         lv::nn::leaky_relu(alpha) |
         lv::nn::conv2d<"grouped", 64, lv::size<3>, lv::padding<1>, lv::groups<2>>(weights) | lv::nn::relu |
         lv::nn::flatten | lv::params<"head">(lv::nn::dense<"head", 16>(weights));
}
/// Kernels of a page and more.
constexpr std::size_t kernels = 3;

using scores = lv::tensor<float, 16>;

template <class App>
scores result_of(App& app) {
  static const auto item = std::make_unique<picture>(numbers<picture>(11));
  return app(*item);
}
template <class Weights>
scores result_with(const Weights& weights, float alpha = 0.25f) {
  auto app = lv::deploy<box>(network(weights, alpha));
  return result_of(app);
}
bool same_bits(const scores& a, const scores& b) { return std::memcmp(a.data(), b.data(), sizeof(float) * 16) == 0; }

/// The lines of the log while it is there.
class logged_lines final : public lv::log_sink {
 public:
  logged_lines() : before_(lv::log_to(this)) {}
  ~logged_lines() { lv::log_to(before_); }
  void write(lv::log_level level, std::string_view line) noexcept override {
    if (level == lv::log_level::warning) warnings.emplace_back(line);
  }
  std::vector<std::string> warnings;

 private:
  lv::log_sink* before_;
};

/// A file of the kernels for these weights.
void pack(const lv::parameter_map& weights, const std::string& file) {
  const lv::packed_weights packed(weights, file);
  (void)lv::deploy<box>(network(packed));
  packed.save();
}

TEST_CASE("kernels of a file give the same bits") {
  const lv::test::temporary_file file("net.packed");
  const lv::parameter_map weights = parameters(7);
  const scores expected = result_with(weights);
  {
    const logged_lines log;
    const lv::packed_weights packed(weights, file.path);
    CHECK(same_bits(result_with(packed), expected));
    CHECK(packed.packed_again() == kernels);
    CHECK(same_bits(result_with(packed), expected));
    CHECK_MESSAGE(packed.packed_again() == kernels, "a second deployment has the kernels of the first");
    CHECK(log.warnings == std::vector<std::string>{"packed weights \"" + file.path +
                                                   "\": No such file or directory: " + "weights are packed again"});
    CHECK_FALSE(std::filesystem::exists(file.path));
    packed.save();
  }
  const logged_lines log;
  auto packed = std::make_optional<lv::packed_weights<lv::parameter_map>>(weights, file.path);
  auto app = lv::deploy<box>(network(*packed));
  CHECK(packed->packed_again() == 0);
  CHECK(log.warnings.empty());
  const std::string before = lv::test::contents_of(file.path);
  packed->save();
  CHECK(lv::test::contents_of(file.path) == before);
  packed.reset();
  std::filesystem::remove(file.path);
  CHECK_MESSAGE(same_bits(result_of(app), expected), "a deployment keeps what it has mapped");
}

TEST_CASE("other weights and other ops are packed again") {
  const lv::test::temporary_file file("net.packed");
  const lv::parameter_map weights = parameters(7), others = parameters(8);
  pack(weights, file.path);
  const logged_lines log;
  {
    const lv::packed_weights packed(others, file.path);
    CHECK(same_bits(result_with(packed), result_with(others)));
    CHECK_MESSAGE(packed.packed_again() == 1, "two of three have the same weights");
    CHECK(log.warnings ==
          std::vector<std::string>{"packed weights \"" + file.path +
                                   "\": the kernel of stage \"conv\" is not in it, for its weights and this "
                                   "instruction set: weights are packed again"});
    packed.save();
  }
  {
    const lv::packed_weights packed(others, file.path);
    CHECK(same_bits(result_with(packed, 0.125f), result_with(others, 0.125f)));
    CHECK(packed.packed_again() == 1);
  }
  const lv::packed_weights packed(weights, file.path);
  CHECK(same_bits(result_with(packed), result_with(weights)));
  CHECK_MESSAGE(packed.packed_again() == 1, "what nobody asked for was not saved");
}

TEST_CASE("a file of no use is one without kernels, and says why") {
  const lv::test::temporary_file file("net.packed");
  const lv::parameter_map weights = parameters(7);
  const scores expected = result_with(weights);
  pack(weights, file.path);
  const std::string good = lv::test::contents_of(file.path);
  const auto says = [&](std::string bytes, const std::string& why) {
    std::ofstream(file.path, std::ios::binary) << bytes;
    const logged_lines log;
    const lv::packed_weights packed(weights, file.path);
    CHECK(same_bits(result_with(packed), expected));
    CHECK(packed.packed_again() == kernels);
    CHECK(log.warnings ==
          std::vector<std::string>{"packed weights \"" + file.path + "\": " + why + ": weights are packed again"});
  };
  const auto changed = [&](std::size_t at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    return bytes;
  };
  says("", "it is too short");
  says(good.substr(0, sizeof(lv::detail::packed_head) - 1), "it is too short");
  says(std::string(4096, 'x'), "it is no file of packed weights");
  says(changed(16), "another version of levada made it");
  says(changed(24), "another version of levada made it");
  says(changed(32), "it is damaged");
  says(changed(38), "it is cut off");
  for (std::size_t at = sizeof(lv::detail::packed_head); at < lv::detail::end_of_table(kernels); ++at)
    says(changed(at), "it is damaged");
  says(good.substr(0, good.size() - 1), "it is cut off");
  says(good.substr(0, lv::detail::end_of_table(kernels) - 1), "it is cut off");

  const lv::packed_weights of_folder(weights, file.folder.path);
  CHECK(same_bits(result_with(of_folder), expected));
  CHECK_THROWS_AS(of_folder.save(), lv::error);
}

TEST_CASE("parameters of mapped kernels are replaced") {
  const lv::test::temporary_file file("net.packed");
  const lv::parameter_map weights = parameters(7);
  pack(weights, file.path);
  const lv::packed_weights packed(weights, file.path);
  auto app = lv::deploy<box>(network(packed));
  auto plain = lv::deploy<box>(network(weights));
  CHECK(packed.packed_again() == 0);
  const auto other = numbers<lv::tensor<float, 16, 64 * 120>>(13);
  app.params<"head">().set<"weight">(other);
  plain.params<"head">().set<"weight">(other);
  CHECK(same_bits(result_of(app), result_of(plain)));
  auto again = lv::deploy<box>(network(packed));
  CHECK(same_bits(result_of(again), result_with(weights)));
}

/// What a source of parameters may have beside `find` is there, too.
struct labelled_source {
  std::string label;
  std::optional<lv::stored_tensor> find(std::string_view) const { return std::nullopt; }
  const std::string& metadata() const { return label; }
  std::string stored_name(std::string_view name) const { return "model." + std::string(name); }
};
static_assert(lv::parameter_source<lv::packed_weights<lv::parameter_map>>);

TEST_CASE("a source is seen through") {
  const labelled_source source{"label"};
  const lv::packed_weights packed(source, "");
  CHECK(packed.metadata() == "label");
  CHECK(packed.stored_name("a") == "model.a");
  CHECK(lv::parameter_source_ref(source).kernels() == nullptr);
  const auto other_names = lv::renamed(packed, {{"", "model"}});
  CHECK(lv::parameter_source_ref(other_names).kernels() == packed.kernels());
}

TEST_CASE("the way of computing is a part of what a kernel is found by") {
  using pixels = lv::tensor<float, 64, 41, 41>;
  using conv = lv::conv2d_op<32, lv::size<1>>;
  using kernel = lv::simd::kernel<pixels, conv>;
  static_assert(lv::detail::method_of<kernel> == "product of packed panels");
  constexpr std::uint64_t by_name = lv::detail::fnv1a(lv::apart::spelled_type<kernel>());
  constexpr std::uint64_t by_method = lv::detail::mixed_bits(lv::detail::fnv1a(lv::detail::method_of<kernel>));
  CHECK(lv::detail::packed_kernel_of<kernel, conv>.type == (by_name ^ by_method));
}

TEST_CASE("the hash of bytes sees each bit, their order and their lengths") {
  std::vector<std::byte> bytes(100);
  const auto hash_of = [](auto... runs) {
    bytes_hash hash;
    (hash.add(runs), ...);
    return hash.value();
  };
  const std::span<const std::byte> all(bytes);
  std::vector<std::uint64_t> seen{hash_of(all),
                                  hash_of(all.first(99)),
                                  hash_of(all, all.first(0)),
                                  hash_of(),
                                  hash_of(all.first(50), all.first(50)),
                                  hash_of(all.first(40), all.first(60))};
  for (std::size_t i = 0; i < 8 * bytes.size(); ++i) {
    bytes[i / 8] ^= std::byte(1 << i % 8);
    seen.push_back(hash_of(all));
    bytes[i / 8] ^= std::byte(1 << i % 8);
  }
  std::ranges::sort(seen);
  CHECK(std::ranges::adjacent_find(seen) == seen.end());
}

}  // namespace interop_packed_weights
