// SPDX-License-Identifier: Apache-2.0
// Parts of pipelines on other machines by gRPC: here on this one, through the loopback and unix sockets.

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/grpc.hpp>

#include "files.hpp"
#include "remote/certificates.hpp"
#include "run/progress.hpp"

namespace remote_grpc {

namespace lv = levada;

using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
using v1 = lv::version<"1">;
using frame = lv::tensor<std::uint8_t, 1024, 1024>;

auto inverted() {
  return lv::input<int> |
         lv::stage<"draw", frame>([](const int& n, frame& f) { f.fill(static_cast<std::uint8_t>(n)); }) |
         lv::on<lv::remote<"edge">>(lv::stage<"invert", frame>([](const frame& in, frame& out) {
           for (std::size_t i = 0; i < frame::elements; ++i) out[i] = static_cast<std::uint8_t>(255 - in[i]);
         })) |
         lv::stage<"look">([](const frame& f) {
           for (const std::uint8_t x : f)
             if (x != f[0]) return -1;
           return static_cast<int>(f[0]);
         });
}
auto doubled() {
  return lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"twice">([](int x) { return 2.0 * x; }));
}

/// Whether a driver that shows and believes this gets an answer from the node.
bool is_answered(const std::shared_ptr<lv::transport>& by, const std::string& address) {
  try {
    auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {address}});
    return app(21) == 42;
  } catch (const lv::remote_error& e) {
    CHECK(std::string_view(e.what()).starts_with("levada: remote device \"edge\" has no node: " + address + ": "));
    return false;
  }
}

std::shared_ptr<lv::grpc_transport> shows(lv::certificates those) {
  return std::make_shared<lv::grpc_transport>(std::move(those));
}
using namespace levada::test;

/// What comes from a socket that is no client of gRPC, until the other end closes it.
void say_to_port(const std::string& address, std::string_view what) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int s = ::socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(::connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  CHECK(::send(s, what.data(), what.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(what.size()));
  ::shutdown(s, SHUT_WR);
  char answer[256];
  while (::recv(s, answer, sizeof answer, 0) > 0) {
  }
  ::close(s);
}

/// A client of gRPC that is no driver: sends one message and waits for the end of the call.
class odd_client final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  odd_client(const std::string& address, const char* method, std::size_t bytes)
      : stub_(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())) {
    const grpc::Slice slice(bytes);
    message_ = grpc::ByteBuffer(&slice, 1);
    stub_.PrepareBidiStreamingCall(&context_, method, {}, this);
    StartWrite(&message_);
    StartRead(&answer_);
    StartCall();
  }
  grpc::StatusCode ends() {
    CHECK(eventually([&] { return is_done_.load(); }));
    return status_.error_code();
  }

 private:
  void OnDone(const grpc::Status& status) override {
    status_ = status;
    is_done_.store(true);
  }

  grpc::ClientContext context_;
  grpc::GenericStub stub_;
  grpc::ByteBuffer message_, answer_;
  grpc::Status status_;
  std::atomic<bool> is_done_{false};
};

/// A process of its own that is a node, started from this program: the variable says where it listens.
constexpr const char* node_variable = "LEVADA_TEST_NODE_AT";
class node_process {
 public:
  explicit node_process(std::string address) : address_(std::move(address)) { start(); }
  ~node_process() { kill(); }
  const std::string& address() const { return address_; }
  void kill() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  void start() {
    const std::string variable = std::string(node_variable) + "=" + address_;
    std::vector<char*> environment{const_cast<char*>(variable.c_str()), nullptr};
    char name[] = "node";
    char* arguments[] = {name, nullptr};
    REQUIRE(::posix_spawn(&process_, "/proc/self/exe", nullptr, nullptr, arguments, environment.data()) == 0);
  }

 private:
  std::string address_;
  pid_t process_ = 0;
};
/// In such a process, before its tests would begin.
const bool is_driver = [] {
  const char* const address = std::getenv(node_variable);
  if (address == nullptr) return true;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, address});
  for (;;) ::pause();
}();

TEST_CASE("nodes that are killed lose no item, and none comes twice") {
  REQUIRE(is_driver);
  const std::string prefix = "unix:/tmp/levada_node_" + std::to_string(::getpid());
  node_process nodes[] = {node_process(prefix + "_a"), node_process(prefix + "_b")};
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  const lv::endpoints<"edge"> to{by, {nodes[0].address(), nodes[1].address()}};
  for (const node_process& n : nodes) CHECK(eventually([&] { return is_answered(by, n.address()); }));
  auto app = lv::deploy<box, v1>(doubled(), to);
  constexpr int count = 12'000, kills = 6;
  std::vector<int> items(count);
  for (int i = 0; i < count; ++i) items[static_cast<std::size_t>(i)] = i;
  int next = 0;
  bool in_order = true;
  for (auto&& r : app.stream(items)) {
    in_order = in_order && r.has_value() && *r == 2.0 * next;
    ++next;
    if (next % (count / (kills + 1)) != 0) continue;
    node_process& one = nodes[next / (count / (kills + 1)) % 2];
    one.kill();
    one.start();
  }
  CHECK(in_order);
  CHECK(next == count);
  for (const node_process& n : nodes) ::unlink(n.address().c_str() + 5);
}

TEST_CASE("large items go there and back as they are, over the loopback and a unix socket") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  const std::string socket = "unix:/tmp/levada_remote_" + std::to_string(::getpid());
  for (const std::string& address : {std::string("127.0.0.1:0"), socket}) {
    const lv::remote_node node = lv::serve<box, "edge", v1, lv::slots<8>>(inverted(), {by, address});
    auto app = lv::deploy<box, v1, lv::slots<8>>(inverted(), lv::endpoints<"edge">{by, {node.address()}});
    std::vector<int> items(60);
    for (int i = 0; i < 60; ++i) items[static_cast<std::size_t>(i)] = i;
    int next = 0;
    for (auto&& r : app.stream(items)) CHECK(r.value() == 255 - next++);
    CHECK(next == 60);
    CHECK(levada::test::eventually([&] { return node.sessions() == 0; }));
  }
}

TEST_CASE("small items stream, several at once") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, "127.0.0.1:0"});
  auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {node.address()}});
  CHECK(app(21) == 42);
  std::vector<int> items(5000);
  for (int i = 0; i < 5000; ++i) items[static_cast<std::size_t>(i)] = i;
  int next = 0;
  for (auto&& r : app.stream(items)) CHECK(r.value() == 2.0 * next++);
  CHECK(next == 5000);
}

TEST_CASE("calls go on with other connections where their node ends, and is there again") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  const std::string socket = "unix:/tmp/levada_calls_" + std::to_string(::getpid());
  const auto start = [&] {
    return std::make_unique<lv::remote_node>(lv::serve<box, "edge", v1>(doubled(), {by, socket}));
  };
  auto node = start();
  const auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {socket}});
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 20; ++i) CHECK(app(i) == 2.0 * i);
    CHECK(node->sessions() == 1);
    node.reset();
    node = start();
  }
}

TEST_CASE("a node that ends in the middle is followed by another") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  auto first = std::make_unique<lv::remote_node>(lv::serve<box, "edge", v1>(doubled(), {by, "127.0.0.1:0"}));
  const lv::remote_node second = lv::serve<box, "edge", v1>(doubled(), {by, "127.0.0.1:0"});
  auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {first->address(), second.address()}});
  std::vector<int> items(3000);
  for (int i = 0; i < 3000; ++i) items[static_cast<std::size_t>(i)] = i;
  int next = 0;
  for (auto&& r : app.stream(items)) {
    CHECK(r.value() == 2.0 * next++);
    if (next == 1000) first.reset();
    if (next == 3000) CHECK(second.sessions() == 1);
  }
  CHECK(next == 3000);
}

TEST_CASE("both ends show certificates, and only those of the same authority talk to each other") {
  const lv::certificates edge{authority_certificate, edge_certificate, edge_key, ""};
  const lv::certificates driver{authority_certificate, driver_certificate, driver_key, "edge"};
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {shows(edge), "127.0.0.1:0"});
  auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{shows(driver), {node.address()}});
  auto session = app.open();
  const auto works = [&] {
    session.push(21);
    return session.pop()->value() == 42;
  };
  CHECK(works());
  // An authority that the node does not know, a certificate that is not of the key, none, none and no encryption.
  CHECK(!is_answered(shows({authority_certificate, stranger_certificate, stranger_key, "edge"}), node.address()));
  CHECK(!is_answered(shows({authority_certificate, expired_certificate, expired_key, "edge"}), node.address()));
  CHECK(!is_answered(shows({authority_certificate, "", "", "edge"}), node.address()));
  CHECK(!is_answered(std::make_shared<lv::grpc_transport>(lv::plain_text{}), node.address()));
  CHECK(works());
  // Nodes that the driver does not believe: of another authority, of another time, of another name.
  for (const lv::certificates& wrong :
       {lv::certificates{authority_certificate, stranger_certificate, stranger_key, ""},
        lv::certificates{authority_certificate, expired_certificate, expired_key, ""}}) {
    const lv::remote_node other = lv::serve<box, "edge", v1>(doubled(), {shows(wrong), "127.0.0.1:0"});
    CHECK(!is_answered(shows(driver), other.address()));
  }
  CHECK(!is_answered(shows({authority_certificate, driver_certificate, driver_key, "hall"}), node.address()));
  CHECK(!is_answered(shows({other_certificate, driver_certificate, driver_key, "edge"}), node.address()));
  CHECK(works());
  CHECK(node.sessions() == 1);
}

TEST_CASE("certificates are read again where their files change, for new connections") {
  const temporary_folder folder;
  const auto in_folder = [&](const char* name, const char* certificate, const char* key) {
    std::filesystem::create_directory(folder.path / name);
    const auto write = [&](const char* file, const char* text) { std::ofstream(folder.path / name / file) << text; };
    write("authority.pem", authority_certificate);
    write("certificate.pem", certificate);
    write("key.pem", key);
  };
  in_folder("edge", edge_certificate, edge_key);
  in_folder("stranger", stranger_certificate, stranger_key);
  in_folder("no_pair", edge_certificate, driver_key);
  in_folder("driver", driver_certificate, driver_key);
  const auto files_in = [&](const std::string& name, const char* node_name) {
    const auto file = [&](const char* last) { return (folder.path / name / last).string(); };
    return lv::certificate_files{file("authority.pem"), file("certificate.pem"), file("key.pem"), node_name,
                                 std::chrono::seconds(1)};
  };
  const auto link_to = [&](const char* name) {
    std::filesystem::create_symlink(name, folder.path / "next");
    std::filesystem::rename(folder.path / "next", folder.path / "now");
  };
  link_to("edge");
  const lv::remote_node node =
      lv::serve<box, "edge", v1>(doubled(), {std::make_shared<lv::grpc_transport>(files_in("now", "")), "127.0.0.1:0"});
  const auto by = std::make_shared<lv::grpc_transport>(files_in("driver", "edge"));
  auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {node.address()}});
  auto session = app.open();
  const auto works = [&] {
    session.push(21);
    return session.pop()->value() == 42;
  };
  CHECK(works());
  const auto is_greeted = [&] {  // and no item waits for a node while the files change
    try {
      static_cast<void>(lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {node.address()}}));
      return true;
    } catch (const lv::remote_error&) {
      return false;
    }
  };
  CHECK(is_greeted());
  link_to("stranger");
  CHECK(eventually([&] { return !is_greeted(); }));
  CHECK(works());
  link_to("edge");
  CHECK(eventually([&] { return is_greeted(); }));
  link_to("no_pair");
  CHECK(eventually([&] { return !is_greeted(); }));
  CHECK(works());
  CHECK_THROWS_WITH_AS(
      lv::grpc_transport(files_in("nowhere", "")),
      ("levada: certificate_files: \"" + folder.file("nowhere") + "/authority.pem\" cannot be read").c_str(),
      lv::remote_error);
}

TEST_CASE("garbage, long messages and other methods end alone") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, "127.0.0.1:0"});
  auto app = lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {node.address()}});
  auto session = app.open();
  session.push(1);
  CHECK(session.pop()->value() == 2);
  say_to_port(node.address(), "GET / HTTP/1.1\r\nHost: edge\r\n\r\n");
  say_to_port(node.address(), std::string(5000, '\xff'));
  CHECK(odd_client(node.address(), lv::detail::grpc_method, 1 << 20).ends() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(odd_client(node.address(), "/levada.Remote/Other", 100).ends() == grpc::StatusCode::UNIMPLEMENTED);
  session.push(2);
  CHECK(session.pop()->value() == 4);
}

TEST_CASE("plain text stays on this machine") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  for (const char* other : {"10.0.0.1:7000", "0.0.0.0:7000", "127.example.org:7000", "edge:7000", "[::]:7000"})
    CHECK_THROWS_WITH_AS(static_cast<void>(lv::serve<box, "edge", v1>(doubled(), {by, other})),
                         ("levada: \"" + std::string(other) +
                          "\" is not this machine, and plain text goes to no other: give grpc_transport certificates")
                             .c_str(),
                         lv::remote_error);
  CHECK(lv::detail::is_this_machine("localhost:1"));
  CHECK(lv::detail::is_this_machine("[::1]:1"));
  CHECK(lv::detail::is_this_machine("127.0.0.1:1"));
  CHECK(lv::detail::is_this_machine("unix:/tmp/a"));
}

TEST_CASE("a port is one node's") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  const lv::remote_node node = lv::serve<box, "edge", v1>(doubled(), {by, "127.0.0.1:0"});
  CHECK_THROWS_WITH_AS(static_cast<void>(lv::serve<box, "edge", v1>(doubled(), {by, node.address()})),
                       ("levada: a node cannot listen at \"" + node.address() + "\"").c_str(), lv::remote_error);
}

TEST_CASE("an address where nobody is says so") {
  const auto by = std::make_shared<lv::grpc_transport>(lv::plain_text{});
  std::string text;
  try {
    static_cast<void>(lv::deploy<box, v1>(doubled(), lv::endpoints<"edge">{by, {"127.0.0.1:9"}}));
  } catch (const lv::remote_error& e) {
    text = e.what();
  }
  CHECK(text.starts_with("levada: remote device \"edge\" has no node: 127.0.0.1:9: "));
  CHECK(text.find("onnect") != std::string::npos);
}

}  // namespace remote_grpc
