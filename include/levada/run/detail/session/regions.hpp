// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/regions.hpp: the regions of a pipeline behind its first, where the rate changes. Seen from a
// session through what is virtual here; the classes behind it are templates, so that a program whose pipelines keep
// their rate does not compile them.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/session/lambda_ref.hpp>
#include <levada/run/detail/session/rate_converter.hpp>

namespace levada::detail {

/// Calls something with each engine.
using engine_visit = lambda_ref<void(engine&)>;

/// The later regions of one session. `no_more`: nothing more comes to the first.
class later_regions {
 public:
  virtual ~later_regions() = default;
  virtual std::size_t count() const = 0;
  virtual engine& items(std::size_t r) = 0;
  virtual void for_each(engine_visit visit) = 0;

  /// Carries what it can, and runs a grain a segment.
  virtual bool visit_all(bool no_more) noexcept = 0;
  /// One of that: the rate converter to a region, then its segments, numbered on from region to region.
  virtual bool take_step(std::size_t step, bool no_more) noexcept = 0;
  virtual bool has_work(bool no_more) = 0;
  /// `in_time`: what will be given at some time is not finished before.
  virtual bool all_finished(bool no_more, bool in_time) = 0;
  /// The finished items of a region find no room in the next.
  virtual bool is_backed_up() const = 0;
  /// When the first of what was begun will be given, whatever comes: rate_converter::due.
  virtual std::int64_t due() const = 0;
  /// Nothing more comes to the last.
  virtual bool has_ended() const = 0;
  virtual void reset_relays() = 0;
};

/// The arguments that the regions of a session are made with.
struct region_surroundings {
  engine& first;
  permits& concurrency_limit;
  event_count& event;
  engine_host& host;
  session_settings settings;
};

/// The later regions of a deployment.
class later_code {
 public:
  virtual ~later_code() = default;
  virtual std::size_t count() const = 0;
  virtual const program& code(std::size_t r) const = 0;
  virtual void be_divided_by(unit_team& team) = 0;
  /// What leads to it.
  virtual const program_rate& rate(std::size_t r) const = 0;
  /// `links(of, code)`: those of the engine of a program.
  virtual owner<later_regions> open(const region_surroundings& in,
                                    engine_links (*links)(const void* of, const program& code),
                                    const void* of) const = 0;
};

/// A region of a pipeline behind its first, and how items come there.
struct later_region {
  program_rate rate;
  program code;
};

template <class = void>
class open_regions final : public later_regions {
 public:
  open_regions(const fixed_array<later_region>& of, const region_surroundings& in,
               engine_links (*links)(const void*, const program&), const void* links_of)
      : regions_(of.size(), [&](std::size_t r) {
          return owner<region>(new region(of[r], r == 0 ? in.first : regions_[r - 1]->items, in,
                                          links(links_of, of[r].code), r + 1 == of.size()));
        }) {}

  std::size_t count() const override { return regions_.size(); }
  engine& items(std::size_t r) override { return regions_[r]->items; }
  void for_each(engine_visit visit) override {
    for (auto& r : regions_) visit(r->items);
  }
  bool visit_all(bool no_more) noexcept override {
    bool any = false;
    for (auto& r : regions_) {
      any |= r->from_before.carry(no_more);
      any |= r->items.visit();
      no_more = r->from_before.has_ended();
    }
    return any;
  }
  bool take_step(std::size_t step, bool no_more) noexcept override {
    for (auto& r : regions_) {
      if (step-- == 0) return r->from_before.carry(no_more);
      if (step < r->segments) return r->items.step(step);
      step -= r->segments;
      no_more = r->from_before.has_ended();
    }
    return false;
  }
  bool has_work(bool no_more) override {
    for (auto& r : regions_) {
      if (r->items.has_work() || r->from_before.can_carry(no_more)) return true;
      no_more = r->from_before.has_ended();
    }
    return false;
  }
  bool all_finished(bool no_more, bool in_time) override {
    for (auto& r : regions_) {
      if (!r->from_before.is_settled(no_more)) return false;
      if (in_time && r->from_before.due() != session_settings::never && !r->items.is_cancelled()) return false;
      no_more = r->from_before.has_ended();
    }
    return true;
  }
  bool is_backed_up() const override {
    for (const auto& r : regions_)
      if (r->from_before.is_backed_up()) return true;
    return false;
  }
  std::int64_t due() const override {
    std::int64_t first = session_settings::never;
    for (const auto& r : regions_) first = std::min(first, r->from_before.due());
    return first;
  }
  bool has_ended() const override { return regions_.back()->from_before.has_ended(); }
  void reset_relays() override {
    for (auto& r : regions_) r->from_before.reset();
  }

 private:
  struct region {
    region(const later_region& of, engine& from, const region_surroundings& in, const engine_links& links, bool is_last)
        : segments(of.code.segments.size()),
          items(of.code, links, in.concurrency_limit, in.event, in.host, false,
                is_last ? in.settings : in.settings.inside()),
          from_before(of.rate, from, items) {}

    const std::size_t segments;
    engine items;
    rate_converter from_before;
  };
  fixed_array<owner<region>> regions_;
};

template <class = void>
class coded_regions final : public later_code {
 public:
  explicit coded_regions(fixed_array<later_region> regions) : regions_(std::move(regions)) {}

  std::size_t count() const override { return regions_.size(); }
  const program& code(std::size_t r) const override { return regions_[r].code; }
  void be_divided_by(unit_team& team) override {
    for (later_region& region : regions_) region.code.team = &team;
  }
  const program_rate& rate(std::size_t r) const override { return regions_[r].rate; }
  owner<later_regions> open(const region_surroundings& in, engine_links (*links)(const void*, const program&),
                            const void* of) const override {
    return owner<later_regions>(new open_regions<>(regions_, in, links, of));
  }

 private:
  fixed_array<later_region> regions_;
};

}  // namespace levada::detail
