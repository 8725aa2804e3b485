// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/node_work.hpp: the session of an app behind a driver's stream.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <levada/remote/detail/filtering_session.hpp>
#include <levada/remote/detail/node_stream.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

template <class App>
class node_work final : public node_stream {
 public:
  node_work(stream_keeper& keeper, std::string_view identity, std::unique_ptr<connection> by, const App& app)
      : node_stream(keeper, identity, std::move(by)), session_(app, *this) {}
  ~node_work() override {
    session_.join();
    end_connection();
  }

 private:
  using session_type = session_of_driver<App, node_stream>;

  std::size_t begin() override { return session_.open(); }
  void take(std::uint64_t number, time_point captured, wire_reader& from) override {
    session_.take(
        number, [&] { return item_from_wire<typename session_type::item>(from); }, captured);
  }
  void end() noexcept override { session_.end(); }

  session_type session_;
};

}  // namespace levada::detail
