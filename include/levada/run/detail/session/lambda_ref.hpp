// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/lambda_ref.hpp: a reference to a lambda, so that one function serves all.

namespace levada::detail {

template <class Signature>
class lambda_ref;

/// Of a lambda that is there as long as it is.
template <class Result, class... Arguments>
class lambda_ref<Result(Arguments...)> {
 public:
  template <class F>
  lambda_ref(const F& f)  // NOLINT: made where it is called
      : of_(&f), call_(&call<F>) {}
  Result operator()(Arguments... arguments) const { return call_(of_, static_cast<Arguments&&>(arguments)...); }

 private:
  // No lambda: without optimisation that is three functions.
  template <class F>
  static Result call(const void* of, Arguments... arguments) {
    return static_cast<Result>((*static_cast<const F*>(of))(static_cast<Arguments&&>(arguments)...));
  }

  const void* of_;
  Result (*call_)(const void*, Arguments...);
};

/// A question asked again and again while a thread waits.
using condition = lambda_ref<bool()>;

}  // namespace levada::detail
