// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/certificates.hpp: how the ends of a connection between machines know each other, or that they need not.

#include <string>

namespace levada {

/// What a machine shows of itself and believes of others, each as PEM text: nobody else connects.
struct certificates {
  std::string authority;  ///< that signed those of the other end
  std::string certificate, key;
  std::string node_name;  ///< that a node's certificate has where it is not its address
};

/// Without certificates and without encryption: to this machine alone.
struct plain_text {};

}  // namespace levada
