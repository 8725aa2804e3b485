// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote.hpp: other machines as devices: `remote<"name", Device...>` in a target, `deploy` with endpoints for the
// program that drives a pipeline, `serve` for those that run parts of it. A transport is a header of its own:
// remote/grpc.hpp.

#include <levada/remote/detail/deploy.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/serve.hpp>
#include <levada/remote/detail/transport.hpp>
#include <levada/remote/detail/wire.hpp>
