// SPDX-License-Identifier: Apache-2.0
#include "folding.hpp"

namespace levada::onnx {

extents broadcast_of(const op_call& call, const extents& a, const extents& b) {
  extents result = a.size() >= b.size() ? a : b;
  for (std::size_t back = 1; back <= result.size(); ++back) {
    const std::int64_t x = back <= a.size() ? a[a.size() - back] : 1, y = back <= b.size() ? b[b.size() - back] : 1;
    if (x != y && x != 1 && y != 1) call.fail("its inputs do not broadcast");
    result[result.size() - back] = x == 1 ? y : x;
  }
  return result;
}

std::vector<std::int64_t> strides_of(const extents& dims) {
  std::vector<std::int64_t> strides(dims.size());
  std::int64_t step = 1;
  for (std::size_t axis = dims.size(); axis-- > 0; step *= dims[axis]) strides[axis] = step;
  return strides;
}

std::vector<std::int64_t> strided_offsets(const extents& dims, const std::vector<std::int64_t>& steps,
                                          std::int64_t at) {
  std::vector<std::int64_t> index(dims.size()), offsets;
  const std::int64_t count = elements_of(dims);
  offsets.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    offsets.push_back(at);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      at += steps[axis];
      if (++index[axis] < dims[axis]) break;
      at -= steps[axis] * dims[axis];
      index[axis] = 0;
    }
  }
  return offsets;
}

std::vector<std::int64_t> broadcast_offsets(const extents& in, const extents& out) {
  const std::vector<std::int64_t> strides = strides_of(in);
  std::vector<std::int64_t> steps(out.size());
  for (std::size_t axis = 0; axis < in.size(); ++axis)
    steps[out.size() - in.size() + axis] = in[axis] == 1 ? 0 : strides[axis];
  return strided_offsets(out, steps);
}

constant picked(const constant& in, const extents& dims, const std::vector<std::int64_t>& offsets) {
  const std::size_t size = size_of(in.type());
  std::vector<std::byte> bytes;
  bytes.reserve(offsets.size() * size);
  for (const std::int64_t offset : offsets) {
    const auto from = in.bytes().subspan(static_cast<std::size_t>(offset) * size, size);
    bytes.insert(bytes.end(), from.begin(), from.end());
  }
  return {in.type(), dims, std::move(bytes)};
}

}  // namespace levada::onnx
