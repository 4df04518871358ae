// The arrays that a call gives to an entry. Must not copy one that is dense.
#pragma once
#include "Module.h"

namespace mille_python {

using Dense = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Sizes = std::map<std::string, int64_t>;

// Takes a shape's sizes, or compares them with those already known.
template <typename Array>
void takeShape(const Tensor &tensor, const Array &array, Sizes &sizes) {
  if (array.ndim() != tensor.shape.size())
    refuse(tensor.name + " has " + std::to_string(array.ndim()) +
           " dimensions but the model's has " +
           std::to_string(tensor.shape.size()));
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    int64_t length = int64_t(array.shape(i)), wanted = tensor.shape[i];
    if (!tensor.sizes[i].empty())
      wanted = sizes.emplace(tensor.sizes[i], length).first->second;
    if (length != wanted)
      refuse("dimension " + std::to_string(i) + " of " + tensor.name + " is " +
             std::to_string(length) + " but " +
             (tensor.sizes[i].empty() ? "the model's" : tensor.sizes[i]) +
             " is " + std::to_string(wanted));
  }
}

// Every name that a caller gives must be one of the model's.
void checkNames(const nb::handle &given, const std::vector<Tensor> &tensors,
                const std::string &what);

// An input as the runtime reads it: the caller's array, a dense copy of it, or
// its int64 numbers in 32 bits.
struct Taken {
  Dense array;
  std::vector<int32_t> narrowed;

  const void *data() const {
    if (!narrowed.empty())
      return narrowed.data();
    return array.is_valid() ? array.data() : nullptr;
  }
};

// Refuses a type or a shape that is not the model's.
Taken takeInput(const Tensor &tensor, nb::handle value, Sizes &sizes);

// Of each input of an entry what the caller gives, or nothing. Refuses a name,
// a type or a shape that is not the model's, and an input that is missing.
struct Inputs {
  Inputs(const std::vector<Tensor> &tensors, const nb::kwargs &arrays);
  std::vector<mille_size> values() const; // point into `sizes`

  Sizes sizes; // that the arrays' shapes say
  std::vector<Taken> held;
  std::vector<const void *> pointers;
};

// The numbers of `size`s by name; None stands for one that is not given.
// Refuses what is no whole number.
Sizes takeSizes(const nb::object &batch, const nb::object &tokens,
                const nb::kwargs &others);
std::vector<mille_size> valuesOf(const Sizes &sizes); // point into `sizes`

} // namespace mille_python
