// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/certificates.hpp: how the ends of a connection between machines know each other, or that they need not.

#include <chrono>
#include <string>

namespace levada {

/// What a machine shows of itself and believes of others, each as PEM text: nobody else connects.
struct certificates {
  std::string authority;  ///< that signed those of the other end
  std::string certificate, key;
  std::string node_name;  ///< that a node's certificate has where it is not its address
};

/// The same by the paths of PEM files, which are read again while the program runs. A connection that begins behind a
/// change shows and believes the new ones; those that are there stay. A certificate and its key are replaced as one, by
/// a link to their folder that is turned to another: where they are no pair, nobody connects.
struct certificate_files {
  std::string authority, certificate, key;
  std::string node_name;                ///< as in `certificates`
  std::chrono::seconds read_every{60};  ///< 1 s at least; a fleet reads whenever it connects
};

/// Without certificates and without encryption: to this machine alone.
struct plain_text {};

}  // namespace levada
