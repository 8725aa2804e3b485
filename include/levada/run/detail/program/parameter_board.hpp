// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/parameter_board.hpp: the objects of units whose parameters can be replaced, in versions. An item
// is of the version that was current when it was pushed, at all its units; what replaces parameters makes new objects
// beside those in use.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// A unit whose object is made again from the parameters that it keeps.
class replaceable_unit {
 public:
  virtual ~replaceable_unit() = default;
  virtual erased_object make() const = 0;
  /// The parameters in a device's memory, instead of the object, where a device computes the unit by itself.
  virtual owner<device_parameters> bring_to(device_queue&) const { return {}; }
  /// Where a parameter is kept: of the `stage`-th stage of the unit, its `index`-th.
  virtual void* parameter(std::size_t stage, std::size_t index) = 0;
  /// Another with a copy of its parameters.
  virtual owner<replaceable_unit> copy() const = 0;
};

/// The objects of all units, of one version. Of a unit that a device computes, what the device keeps, null at first; of
/// one that holds pipelines a list of where the objects of each of these are, which stand behind, null where nothing of
/// a pipeline is replaced.
template <class T>
struct object_set {
  struct link {
    std::size_t at, to;
  };
  std::vector<T*> objects;
  std::vector<std::shared_ptr<T>> made;  ///< those that are not the program's own, by unit
  std::vector<link> links;               ///< objects that are the places of others

  object_set() = default;
  object_set(const object_set& other) : objects(other.objects), made(other.made), links(other.links) { relink(); }
  object_set& operator=(const object_set&) = delete;

  /// Room behind the others; where it begins.
  std::size_t append(const std::vector<T*>& more) {
    const std::size_t at = objects.size();
    objects.insert(objects.end(), more.begin(), more.end());
    made.resize(objects.size());
    relink();
    return at;
  }
  void add_link(std::size_t at, std::size_t to) {
    links.push_back({at, to});
    relink();
  }

 private:
  void relink() {
    for (const link& l : links) objects[l.at] = objects.data() + l.to;
  }
};

/// Which version the next item of a session is of, and those that its items in flight are of.
template <class Board>
class kept_versions final : public object_versions {
  using set = typename Board::set;

 public:
  /// Each that is kept has an item in flight, and at most `items` are: no more is allocated.
  kept_versions(const Board& of, std::size_t items) : board_(of) { kept_.reserve(items); }

  void* const* current(std::uint64_t pushed, std::uint64_t popped) noexcept override {
    if (const std::uint64_t now = board_.version(); kept_.empty() || now != version_) {
      if (!kept_.empty()) kept_.back().behind = pushed;
      std::erase_if(kept_, [&](const kept& k) { return k.behind <= popped; });
      version_ = now;
      kept_.push_back({board_.current(), ~std::uint64_t{0}});
    }
    return kept_.back().objects->objects.data();
  }

 private:
  struct kept {
    std::shared_ptr<const set> objects;
    std::uint64_t behind;  ///< the first item of the next version
  };
  const Board& board_;
  std::uint64_t version_ = 0;
  std::vector<kept> kept_;
};

/// The parameters of a deployment that can be replaced. A template, so that programs that replace none do not compile
/// it; the types of its members depend on `T`, which is void.
template <class T = void>
class parameter_board final : public object_board {
 public:
  using set = object_set<T>;

  /// Where a stage of the pipeline is computed.
  struct place {
    std::size_t unit = 0, stage = 0;  ///< the `stage`-th of the unit
  };

  /// It begins with the objects of the program, null where a session or a device has its own.
  explicit parameter_board(const program& code) : units_(code.units.size()) {
    std::vector<T*> objects;
    for (const program_unit& unit : code.units)
      objects.push_back(unit.kernel == nullptr && !unit.holds_pipelines ? unit.shared : nullptr);
    auto first = std::make_shared<set>();
    first->append(objects);
    current_ = std::move(first);
  }

  owner<object_versions> open(std::size_t items) const override {
    return owner<object_versions>(new kept_versions<parameter_board>(*this, items));
  }
  void compute_on(std::size_t unit, device_queue& device) override { units_[unit].device = &device; }

  /// The next stage of the pipeline is there.
  void add_stage(place at) { stages_.push_back(at); }
  /// That unit's object can be made again.
  void add(std::size_t unit, owner<replaceable_unit> of) { units_[unit].of = std::move(of); }
  /// That unit holds pipelines, whose boards this one takes over; null where nothing of one is replaced.
  template <std::size_t Count>
  void add_inside(std::size_t unit, const std::array<parameter_board*, Count>& boards) {
    auto all = std::make_shared<set>(*current_);
    const std::size_t list = all->append(std::vector<T*>(Count));
    all->add_link(unit, list);
    for (std::size_t p = 0; p < Count; ++p) {
      if (boards[p] == nullptr) continue;
      const set& inside = *boards[p]->current_;
      const std::size_t first = all->append(inside.objects);
      all->add_link(list + p, first);
      for (const typename set::link& l : inside.links) all->add_link(first + l.at, first + l.to);
      for (const place& s : boards[p]->stages_) stages_.push_back({first + s.unit, s.stage});
      units_.resize(first);
      for (replaceable& u : boards[p]->units_) units_.push_back({std::move(u.of)});
    }
    units_.resize(all->objects.size());
    current_ = std::move(all);
  }

  /// A parameter of a stage, with what becomes of it: `write(where)`.
  template <class Write>
  struct change {
    std::size_t stage, index;
    Write write;
  };

  /// Makes the changes all at once, for all items pushed from now on.
  template <class... Write>
  void replace(const change<Write>&... changes) {
    const std::lock_guard lock(changing_);
    auto next = std::make_shared<set>(*current_);
    fixed_array<owner<replaceable_unit>> changed(units_.size());
    (
        [&] {
          const place at = stages_[changes.stage];
          if (!changed[at.unit]) changed[at.unit] = units_[at.unit].of->copy();
          changes.write(changed[at.unit]->parameter(at.stage, changes.index));
        }(),
        ...);
    for (std::size_t u = 0; u < units_.size(); ++u)
      if (changed[u]) make(*next, u, *changed[u]);
    for (std::size_t u = 0; u < units_.size(); ++u)
      if (changed[u]) units_[u].of = std::move(changed[u]);
    {
      const std::lock_guard reading(reading_);
      current_ = std::move(next);
    }
    version_.fetch_add(1);
  }

  /// Calls `read(where)` for a parameter of a stage while nobody replaces it.
  template <class Read>
  void read(std::size_t stage, std::size_t index, Read read) {
    const std::lock_guard lock(changing_);
    const place at = stages_[stage];
    read(units_[at.unit].of->parameter(at.stage, index));
  }

  /// Grows with each replacement.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<const set> current() const {
    const std::lock_guard reading(reading_);
    return current_;
  }

 private:
  struct replaceable {
    owner<replaceable_unit> of;
    device_queue* device = nullptr;  ///< where one computes the unit by itself
  };
  /// An object of a version: one of the two.
  struct made_object {
    erased_object here;
    owner<device_parameters> at_device;
  };

  void make(set& into, std::size_t u, const replaceable_unit& of) const {
    const auto made = std::make_shared<made_object>();
    if (device_queue* const device = units_[u].device; device != nullptr) {
      made->at_device = of.bring_to(*device);
      into.objects[u] = made->at_device.get();
    } else {
      made->here = of.make();
      into.objects[u] = made->here.get();
    }
    into.made[u] = made;
  }

  std::vector<replaceable> units_;
  std::vector<place> stages_;
  std::mutex changing_;
  mutable std::mutex reading_;
  std::shared_ptr<const set> current_;
  atomic<std::uint64_t> version_{0};
};

}  // namespace levada::detail
