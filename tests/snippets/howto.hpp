// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/howto.hpp: for the pages of docs/howto/.
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include <levada/fleet/detail/by_key.hpp>
#include <levada/graph/sync.hpp>

#include "../detached.hpp"
#include "common.hpp"

using task = levada::test::detached;

extern classifier_app app;
extern const lv::parameter_map retrained;

struct spot {
  float row, column;
};
std::optional<spot> locate(const lv::tensor<float, 1, 60, 80>& map);
struct tracker {
  spot operator()(const spot& s) { return s; }
  spot at{};
};
std::optional<lv::tensor<std::uint8_t, 240, 320, 3>> next_frame();
void follow(const spot& s, std::chrono::nanoseconds age);

struct camera_driver {};
void give_back(void* driver, const lv::image_view<lv::pixel::nv12, 480, 640>& view) noexcept;

std::optional<picture> next_picture();
int depth_of(const picture& left, const picture& right);
struct motion {
  float x, y, z;
};
int estimate(const picture& p, const motion& m);

std::array<int, 16> labels_of(const lv::tensor<std::uint8_t, 16, 1, 28, 28>& pictures);
constexpr auto model = lv::stage<"model">(labels_of);
