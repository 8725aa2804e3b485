// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/onednn/detail/program.hpp: oneDNN's primitives one after the other and the values between them, made when the
// program starts and called from any thread.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/backend/onednn/detail/library.hpp>

namespace levada::detail {

/// Values 0 to `inputs` come; one more leaves. Values are numbers here; each has its layout.
class onednn_program {
 public:
  using memory = dnnl::memory;
  using arguments = std::vector<std::pair<int, std::size_t>>;  ///< which value is which argument of a primitive

  // ---- at start-up ----

  const memory::desc& layout_of(std::size_t value) const { return values_[value]; }

  std::size_t add_input(const memory::desc& layout) {
    inputs_ = values_.size() + 1;
    return add_value(layout);
  }
  std::size_t add_value(const memory::desc& layout, memory constant = {}) {
    values_.push_back(layout);
    constants_.push_back(std::move(constant));
    return values_.size() - 1;
  }
  bool is_input(std::size_t value) const { return value < inputs_; }

  void add_step(const dnnl::primitive& primitive, const dnnl::primitive_desc_base& chosen, arguments list) {
    if (chosen.scratchpad_desc().get_size() != 0)
      list.emplace_back(DNNL_ARG_SCRATCHPAD, add_value(chosen.scratchpad_desc()));
    steps_.push_back({primitive, std::move(list)});
  }

  /// With scratch of its own, so that several threads may run what one has made.
  static dnnl::primitive_attr attributes(const dnnl::post_ops& behind = {}) {
    dnnl::primitive_attr a;
    a.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    a.set_post_ops(behind);
    return a;
  }

  /// A copy of the value in another layout; of a constant at once.
  std::size_t copy(std::size_t value, const memory::desc& layout) {
    if (constants_[value]) return constant_in(constants_[value], layout);
    const dnnl::reorder::primitive_desc chosen(onednn_engine(), values_[value], onednn_engine(), layout, attributes());
    const std::size_t to = add_value(layout);
    add_step(dnnl::reorder(chosen), chosen, {{DNNL_ARG_FROM, value}, {DNNL_ARG_TO, to}});
    return to;
  }
  /// The value is there in that layout.
  bool has(std::size_t value, const memory::desc& layout) const {
    const auto is_copy = [&](const auto& copy) { return copy.first == value && values_[copy.second] == layout; };
    return values_[value] == layout || std::any_of(copies_.begin(), copies_.end(), is_copy);
  }
  /// The value in another layout: itself where it has it, and one copy for all who want the same.
  std::size_t as(std::size_t value, const memory::desc& layout) {
    if (values_[value] == layout) return value;
    for (const auto& [of, made] : copies_)
      if (of == value && values_[made] == layout) return made;
    copies_.emplace_back(value, copy(value, layout));
    return copies_.back().second;
  }

  /// A constant that lies as `from` says, kept in another layout.
  std::size_t packed(const float* values, const memory::desc& from, const memory::desc& layout) {
    return constant_in(memory(from, onednn_engine(), const_cast<float*>(values)), layout);
  }

  /// The value that leaves, in a layout: no input, as its memory is the caller's.
  void give(std::size_t value, const memory::desc& layout) {
    output_ = values_[value] == layout && !is_input(value) ? value : copy(value, layout);
    release(take());  // the first call finds its memory
  }

  // ---- from any thread ----

  void operator()(const void* const* inputs, void* output) const {
    std::unique_ptr<context> mine = take();
    mine->run(*this, inputs, output);
    release(std::move(mine));
  }

 private:
  struct step {
    dnnl::primitive primitive;
    arguments list;
  };

  /// What one call at a time has for itself: a stream and the values on the way.
  struct context {
    explicit context(const onednn_program& of) : stream(onednn_engine()) {
      for (std::size_t v = 0; v < of.values_.size(); ++v)
        if (of.constants_[v])
          memories.push_back(of.constants_[v]);
        else if (of.is_input(v) || v == of.output_)
          memories.emplace_back(of.values_[v], onednn_engine(), nullptr);
        else
          memories.emplace_back(of.values_[v], onednn_engine());
      for (const step& s : of.steps_) {
        auto& list = lists.emplace_back();
        for (const auto& [name, value] : s.list) list.push_back({name, memories[value].get()});
      }
    }

    void run(const onednn_program& of, const void* const* inputs, void* output) {
      const onednn_on_this_thread alone;
      for (std::size_t v = 0; v < of.inputs_; ++v)
        require_onednn(dnnl_memory_set_data_handle(memories[v].get(), const_cast<void*>(inputs[v])), "take its input");
      require_onednn(dnnl_memory_set_data_handle(memories[of.output_].get(), output), "take its output");
      for (std::size_t s = 0; s < of.steps_.size(); ++s)
        require_onednn(dnnl_primitive_execute(of.steps_[s].primitive.get(), stream.get(),
                                              static_cast<int>(lists[s].size()), lists[s].data()),
                       "run a primitive");
      require_onednn(dnnl_stream_wait(stream.get()), "finish");
    }

    dnnl::stream stream;
    std::vector<memory> memories;
    std::vector<std::vector<dnnl_exec_arg_t>> lists;
  };

  std::size_t constant_in(memory source, const memory::desc& layout) {
    memory to(layout, onednn_engine());
    dnnl::stream stream(onednn_engine());
    dnnl::reorder(source, to).execute(stream, source, to);
    stream.wait();
    return add_value(layout, to);
  }

  /// One that nobody uses; a new one where more calls are under way than ever before.
  std::unique_ptr<context> take() const {
    {
      const std::lock_guard hold(lock_);
      if (!idle_.empty()) {
        std::unique_ptr<context> found = std::move(idle_.back());
        idle_.pop_back();
        return found;
      }
    }
    return std::make_unique<context>(*this);
  }
  void release(std::unique_ptr<context> done) const {
    const std::lock_guard hold(lock_);
    idle_.push_back(std::move(done));
  }

  std::vector<memory::desc> values_;
  std::vector<memory> constants_;  ///< by value; empty where it is none
  std::vector<std::pair<std::size_t, std::size_t>> copies_;
  std::vector<step> steps_;
  std::size_t inputs_ = 0, output_ = 0;
  mutable std::mutex lock_;  ///< of `idle_`
  mutable std::vector<std::unique_ptr<context>> idle_;
};

}  // namespace levada::detail
