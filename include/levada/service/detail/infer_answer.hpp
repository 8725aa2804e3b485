// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/infer_answer.hpp: a ModelInferResponse of the Open Inference Protocol: written but for its numbers,
// whose places are known before the first result is there.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <levada/service/detail/infer_request.hpp>
#include <levada/service/detail/model.hpp>
#include <levada/service/detail/protobuf.hpp>

namespace levada::detail {

/// The name, type and shape of a tensor, with what its first axis has: -1 in metadata.
inline void write_tensor_fields(protobuf_writer& to, const item_tensor& tensor, std::int64_t items) {
  to.text(1, tensor.name);
  to.text(2, datatype_of(tensor.type));
  to.message(3, [&](protobuf_writer& packed) {
    packed.varint(static_cast<std::uint64_t>(items));
    for (std::size_t i = 0; i < tensor.extents.rank; ++i) packed.varint(tensor.extents.extents[i]);
  });
}

/// Its memory is used again by the next.
class infer_answer {
 public:
  void begin(const infer_request& request, const served_model& model) {
    message_.clear();
    protobuf_writer to(message_);
    to.text(1, model.name);
    to.text(2, model.version);
    to.text(3, request.id());
    for (const std::size_t i : request.outputs())
      to.message(5, [&](protobuf_writer& output) {
        write_tensor_fields(output, model.outputs[i], static_cast<std::int64_t>(request.items()));
      });
    offsets_.assign(model.outputs.size(), nowhere);
    std::size_t unasked = 0;
    for (const item_tensor& o : model.outputs) unasked += request.items() * o.bytes();
    for (const std::size_t i : request.outputs()) {
      const std::size_t bytes = request.items() * model.outputs[i].bytes();
      to.begin_bytes(6, bytes);
      offsets_[i] = message_.size();
      message_.resize(message_.size() + bytes);
      unasked -= bytes;
    }
    size_ = message_.size();
    message_.resize(size_ + unasked);  // results that nobody asked for have a place, too, behind the message
    std::size_t next = size_;
    places_.clear();
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      if (offsets_[i] == nowhere) {
        offsets_[i] = next;
        next += request.items() * model.outputs[i].bytes();
      }
      places_.push_back(reinterpret_cast<std::byte*>(message_.data()) + offsets_[i]);
    }
  }
  /// Where the numbers of each output of the model go.
  std::span<std::byte* const> places() const { return places_; }
  std::span<const char> message() const { return {message_.data(), size_}; }

 private:
  static constexpr std::size_t nowhere = ~std::size_t{0};

  std::string message_;
  std::size_t size_ = 0;
  std::vector<std::size_t> offsets_;
  std::vector<std::byte*> places_;
};

}  // namespace levada::detail
