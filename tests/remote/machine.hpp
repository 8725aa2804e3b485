// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/machine.hpp: machines as far as the network goes: namespaces of Linux, each with an address that this one
// reaches by a pair of virtual devices.

#include <unistd.h>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "process.hpp"

namespace levada::test {

/// Where that program is; empty where it is not there.
inline std::string system_program(const std::string& name) {
  for (const char* const folder : {"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"})
    if (std::filesystem::exists(folder + name)) return folder + name;
  return {};
}
/// Whether it ends well.
inline bool runs(const std::string& name, std::vector<std::string> arguments) {
  const std::string program = system_program(name);
  if (program.empty()) return false;
  return process(program, std::move(arguments)).status() == 0;
}

class machine {
 public:
  /// The `i`-th, from 1 on.
  explicit machine(int i)
      : number_(std::to_string(i)),
        name_("levada_" + std::to_string(::getpid()) + "_" + number_),
        here_("lvd" + number_) {
    remove_device();  // that a killed test has left
    is_there_ = ip({"netns", "add", name_}) &&
                ip({"link", "add", here_, "type", "veth", "peer", "name", "eth0", "netns", name_}) &&
                ip({"addr", "add", network() + "1/30", "dev", here_}) && ip({"link", "set", here_, "up"}) &&
                ip({"-n", name_, "addr", "add", address() + "/30", "dev", "eth0"}) &&
                ip({"-n", name_, "link", "set", "eth0", "up"});
  }
  ~machine() {
    keeps_all();
    remove_device();
    if (is_there_) ip({"netns", "del", name_});
  }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  /// Only root may make one.
  bool is_there() const { return is_there_; }
  std::string address() const { return network() + "2"; }
  /// Runs this program there, with that variable.
  process start_here(const std::string& variable) const {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    return {system_program("ip"), {"netns", "exec", name_, self}, variable};
  }

  /// On its side: here the way to its network stays, and nobody else is asked for it.
  void cut() const { ip({"-n", name_, "link", "set", "eth0", "down"}); }
  void mend() const { ip({"-n", name_, "link", "set", "eth0", "up"}); }
  /// Of the packets that come from it so many of a hundred are lost, where nftables are there.
  bool loses(int percent) {
    is_lossy_ = true;
    return nft("add table inet " + here_) &&
           nft("add chain inet " + here_ + " in { type filter hook input priority 0; }") &&
           nft("add rule inet " + here_ + " in iifname " + here_ + " numgen random mod 100 < " +
               std::to_string(percent) + " drop");
  }
  void keeps_all() {
    if (is_lossy_) nft("delete table inet " + here_);
    is_lossy_ = false;
  }

 private:
  static bool ip(std::vector<std::string> arguments) { return runs("ip", std::move(arguments)); }
  void remove_device() const {
    if (std::filesystem::exists("/sys/class/net/" + here_)) ip({"link", "del", here_});
  }
  static bool nft(const std::string& what) { return runs("nft", {what}); }
  /// For tests and documents (RFC 2544).
  std::string network() const { return "198.18." + number_ + "."; }

  std::string number_, name_, here_;
  bool is_there_ = false, is_lossy_ = false;
};

}  // namespace levada::test
