// SPDX-License-Identifier: Apache-2.0
#pragma once
// image.hpp: the ops of pictures.

#include <levada/image/blur.hpp>
#include <levada/image/crop.hpp>
#include <levada/image/letterbox.hpp>
#include <levada/image/normalize.hpp>
#include <levada/image/resize.hpp>
#include <levada/image/to_chw.hpp>
#include <levada/image/to_rgb.hpp>
#include <levada/image/view.hpp>
