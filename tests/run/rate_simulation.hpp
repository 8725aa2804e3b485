// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/rate_simulation.hpp: what a pipeline that changes its rate gives, simulated one item after the other, by values:
// no type says anything here, and nothing is planned. For the rate graphs of tools/generate_rate_graphs.py, and others
// as simple.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <run/generated_items.hpp>

namespace levada::test {

/// `mixed` of all.
constexpr word mixed_all(word salt, const auto& some) {
  for (const word w : some) salt = mixed(salt, w);
  return salt;
}
inline bool is_bad(word w) { return w % 37 == 7; }
struct bad_word : std::runtime_error {
  bad_word() : runtime_error("generated") {}
};

namespace simulation {

/// A word, or those of a batch, a window, several ports; of a batch that was filled up, how many were there before.
struct item {
  words values;
  std::size_t some = values.size();
};
using items = std::vector<item>;

/// Takes items and gives others. `end`: what was begun, short. `forget`: as at the beginning, apart from the states of
/// stages.
class part {
 public:
  virtual ~part() = default;
  virtual items take(const item& in) = 0;
  virtual items end() { return {}; }
  virtual void forget() {}
};
using part_ptr = std::shared_ptr<part>;

class stage : public part {
 public:
  enum kind { plain, serial, failing, each };
  stage(kind of, word salt) : kind_(of), salt_(salt) {}
  items take(const item& in) override {
    if (kind_ == each) {
      item out = in;
      for (word& w : out.values) w = mixed(salt_, w);
      return {out};
    }
    word salt = salt_;
    if (kind_ == serial) salt = mixed(salt, state_);
    const word out = mixed_all(salt, in.values);
    if (kind_ == serial) state_ = out;
    if (kind_ == failing && is_bad(out)) throw bad_word();
    return {item{{out}}};
  }

 private:
  kind kind_;
  word salt_, state_ = 0;
};

class batch : public part {
 public:
  batch(std::size_t size, bool pads) : size_(size), pads_(pads) {}
  items take(const item& in) override {
    begun_.push_back(in.values.at(0));
    return begun_.size() == size_ ? items{item{std::exchange(begun_, {})}} : items{};
  }
  items end() override {
    item last{std::exchange(begun_, {})};
    if (last.values.empty() || !pads_) return {};
    last.values.resize(size_);
    return {last};
  }
  void forget() override { begun_.clear(); }

 private:
  std::size_t size_;
  bool pads_;
  words begun_;
};

class unbatch : public part {
 public:
  items take(const item& in) override {
    items out;
    for (std::size_t i = 0; i < in.some; ++i) out.push_back({{in.values[i]}});
    return out;
  }
};

class window : public part {
 public:
  window(std::size_t size, std::size_t step, bool pads) : size_(size), step_(step), pads_(pads) {}
  items take(const item& in) override {
    seen_.push_back(in.values.at(0));
    if (seen_.size() < size_ || (seen_.size() - size_) % step_ != 0) return {};
    given_ = seen_.size();
    return {item{words(seen_.end() - static_cast<std::ptrdiff_t>(size_), seen_.end())}};
  }
  items end() override {
    const words seen = std::exchange(seen_, {});
    const std::size_t given = std::exchange(given_, 0);
    if (!pads_) return {};
    const std::size_t first = given == 0 ? 0 : given - size_ + step_;  // of the next window
    if (first >= seen.size() || seen.size() <= given) return {};
    words last(seen.begin() + static_cast<std::ptrdiff_t>(first), seen.end());
    last.resize(size_);
    return {item{last}};
  }
  void forget() override {
    seen_.clear();
    given_ = 0;
  }

 private:
  std::size_t size_, step_;
  bool pads_;
  words seen_;
  std::size_t given_ = 0;  ///< how many there were with the last that was given
};

class downsample : public part {
 public:
  explicit downsample(std::size_t takes) : takes_(takes) {}
  items take(const item& in) override { return count_++ % takes_ == 0 ? items{in} : items{}; }
  items end() override {
    forget();
    return {};
  }
  void forget() override { count_ = 0; }

 private:
  std::size_t takes_, count_ = 0;
};

class repeat : public part {
 public:
  explicit repeat(std::size_t gives) : gives_(gives) {}
  items take(const item& in) override { return items(gives_, in); }

 private:
  std::size_t gives_;
};

class rate : public part {
 public:
  rate(std::size_t takes, std::size_t gives, word salt) : takes_(takes), gives_(gives), salt_(salt) {}
  items take(const item& in) override {
    begun_.push_back(in.values.at(0));
    if (begun_.size() < takes_) return {};
    items out;
    for (std::size_t i = 0; i < gives_; ++i) out.push_back({{mixed_all(salt_ + i, begun_)}});
    begun_.clear();
    return out;
  }
  items end() override {
    forget();
    return {};
  }
  void forget() override { begun_.clear(); }

 private:
  std::size_t takes_, gives_;
  word salt_;
  words begun_;
};

/// Parts one behind the other. What one throws is thrown.
class line : public part {
 public:
  line(std::initializer_list<part_ptr> parts) : parts_(parts) {}
  items take(const item& in) override { return pass({in}, 0); }
  items end() override {
    items out;
    for (std::size_t p = 0; p < parts_.size(); ++p) append(out, pass(parts_[p]->end(), p + 1));
    return out;
  }
  void forget() override {
    for (const part_ptr& p : parts_) p->forget();
  }

  /// The same for a whole pipeline, where what fails is an item by itself, behind what was begun before it.
  using results = std::vector<std::optional<item>>;
  void take_into(results& out, const item& in, std::size_t from = 0) {
    if (from == parts_.size()) {
      out.push_back(in);
      return;
    }
    items given;
    try {
      given = parts_[from]->take(in);
    } catch (const bad_word&) {
      end_into(out, from);
      out.push_back(std::nullopt);
      return;
    }
    for (const item& g : given) take_into(out, g, from + 1);
  }
  void end_into(results& out, std::size_t from = 0) {
    for (; from < parts_.size(); ++from)
      for (const item& g : parts_[from]->end()) take_into(out, g, from + 1);
  }

 private:
  static void append(items& to, const items& more) { to.insert(to.end(), more.begin(), more.end()); }
  items pass(items given, std::size_t from) {
    for (; from < parts_.size(); ++from) {
      items next;
      for (const item& g : given) append(next, parts_[from]->take(g));
      given = std::move(next);
    }
    return given;
  }

  std::vector<part_ptr> parts_;
};

/// Nodes that take what ports and nodes before them give, by numbers, ports first; the first of each with the first of
/// the others. A fork is one, too. Where a node throws all of them begin anew.
class graph : public part {
 public:
  struct node {
    std::vector<std::size_t> takes;
    part_ptr does;
  };
  graph(std::size_t ports, std::vector<node> nodes, std::vector<std::size_t> outputs)
      : ports_(ports), nodes_(std::move(nodes)), outputs_{std::move(outputs), nullptr} {
    for (const node& n : nodes_) waiting_.emplace_back(n.takes.size());
    waiting_.emplace_back(outputs_.takes.size());
  }
  items take(const item& in) override {
    try {
      for (std::size_t p = 0; p < ports_; ++p) deliver(p, ports_ == 1 ? items{in} : items{{{in.values[p]}}});
      return run(false);
    } catch (...) {
      forget();
      throw;
    }
  }
  items end() override {
    items out;
    try {
      out = run(true);
    } catch (const bad_word&) {
    }
    forget();
    return out;
  }
  void forget() override {
    for (const node& n : nodes_) n.does->forget();
    for (auto& of : waiting_)
      for (auto& queue : of) queue.clear();
  }

 private:
  void deliver(std::size_t from, const items& given) {
    for (std::size_t n = 0; n <= nodes_.size(); ++n) {
      const std::vector<std::size_t>& takes = n < nodes_.size() ? nodes_[n].takes : outputs_.takes;
      for (std::size_t k = 0; k < takes.size(); ++k)
        if (takes[k] == from) waiting_[n][k].insert(waiting_[n][k].end(), given.begin(), given.end());
    }
  }
  /// One of each that wait at a node.
  std::optional<item> met(std::size_t n) {
    auto& queues = waiting_[n];
    if (std::any_of(queues.begin(), queues.end(), [](const auto& q) { return q.empty(); })) return std::nullopt;
    item all = queues[0].front();
    for (std::size_t k = 1; k < queues.size(); ++k)
      all.values.insert(all.values.end(), queues[k].front().values.begin(), queues[k].front().values.end());
    if (queues.size() > 1) all.some = all.values.size();
    for (auto& q : queues) q.pop_front();
    return all;
  }
  items run(bool ends) {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      while (const auto in = met(n)) deliver(ports_ + n, nodes_[n].does->take(*in));
      if (ends) deliver(ports_ + n, nodes_[n].does->end());
    }
    items out;
    while (auto all = met(nodes_.size())) out.push_back(std::move(*all));
    return out;
  }

  std::size_t ports_;
  std::vector<node> nodes_;
  node outputs_;
  std::vector<std::vector<std::deque<item>>> waiting_;  ///< at each node, and at the outputs
};

inline part_ptr fork(std::vector<part_ptr> branches) {
  std::vector<graph::node> nodes;
  std::vector<std::size_t> outputs;
  for (part_ptr& b : branches) {
    nodes.push_back({{0}, std::move(b)});
    outputs.push_back(nodes.size());
  }
  return std::make_shared<graph>(1, std::move(nodes), std::move(outputs));
}
template <class Part, class... Arguments>
part_ptr of(Arguments... arguments) {
  return std::make_shared<Part>(arguments...);
}
inline part_ptr in_line(std::initializer_list<part_ptr> parts) { return std::make_shared<line>(parts); }

}  // namespace simulation
}  // namespace levada::test
