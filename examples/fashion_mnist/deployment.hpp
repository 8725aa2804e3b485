// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion_mnist/deployment.hpp: the processors and the backends of the demo.

#include <levada/backend/reference/ops.hpp>
#include <levada/levada.hpp>

namespace example::fashion_mnist {

using box = levada::target<levada::cpu<1, 16>>;
using kernels = levada::backends<levada::simd, levada::reference>;

}  // namespace example::fashion_mnist
