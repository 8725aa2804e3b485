// SPDX-License-Identifier: Apache-2.0
// error: recording_would_keep_addresses_of_items_that_lie_elsewhere
// place: item
//
// A view of a picture is copied as bytes, but these are an address.

#include <levada/image/view.hpp>
#include <levada/interop/recording.hpp>

#ifndef LEVADA_CORRECT
using item = levada::image_view<levada::pixel::gray, 4, 6>;
#else
using item = levada::tensor<unsigned char, 4, 6>;
#endif

void keep(levada::recording<item>&) {}

using levada::points_elsewhere;
static_assert(points_elsewhere<int*> && points_elsewhere<std::span<int, 2>> && points_elsewhere<std::string_view>);
static_assert(points_elsewhere<std::array<const char*, 3>> && !points_elsewhere<std::array<char, 3>>);
