// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/transport.hpp: what carries messages between a driver and its nodes, as seen by both: connections,
// whose messages come in order and whole. remote/grpc.hpp is the one for machines, remote/in_process.hpp that for
// tests.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <levada/remote/detail/wire.hpp>

namespace levada {

/// The owner of a connection. It is told on threads of the transport, before `closed` of one message after the other.
class connection_events {
 public:
  virtual void received(wire_reader::pieces message) noexcept = 0;
  /// The payload of `send(.., tag)` is looked at no more. Once for each, from any thread, out of `send` too.
  virtual void released(std::uint64_t tag) noexcept = 0;
  /// Nothing more is received or goes out.
  virtual void closed(const std::string& why) noexcept = 0;

 protected:
  ~connection_events() = default;
};

/// A way to one other process, both ways.
class connection {
 public:
  /// Returns when its owner is not being told anything, has all payloads back, and is told nothing more. Not by a
  /// thread that tells it something.
  virtual ~connection() = default;

  /// A message of `head`, which is at most 48 bytes and is copied, and behind it `payload`, which stays as it is until
  /// it is released. Any thread, one at a time; does not wait for the other end. Where the connection is closed the
  /// message is lost.
  virtual void send(std::span<const std::byte> head, std::span<const std::byte> payload, std::uint64_t tag) = 0;

  /// What was sent may be lost.
  virtual void close() noexcept = 0;

  /// The other end, for messages.
  virtual std::string peer() const = 0;
};

/// Takes the connections that come to a node.
class connection_acceptor {
 public:
  /// Who is told of what comes by it, from now on; the owner of `by` keeps both until `by` has ended. Null: refused.
  virtual connection_events* accepted(std::unique_ptr<connection> by) noexcept = 0;

 protected:
  ~connection_acceptor() = default;
};

/// Lets connections in while it lives. Those that came have to have ended before.
class listener {
 public:
  virtual ~listener() = default;
  /// Where it listens, with the port that the system chose.
  virtual std::string address() const = 0;
  /// Lets nobody in any more.
  virtual void stop() noexcept = 0;
};

class transport {
 public:
  virtual ~transport() = default;

  /// A connection to an address, which need not be there: then it is closed soon. Messages are at most so long.
  virtual std::unique_ptr<connection> connect(const std::string& address, std::size_t most_bytes,
                                              connection_events& events) = 0;
  /// Throws remote_error where it cannot listen there.
  virtual std::unique_ptr<listener> listen(const std::string& address, std::size_t most_bytes,
                                           connection_acceptor& acceptor) = 0;
};

}  // namespace levada
