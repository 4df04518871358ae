// The arrays that a call gives to an entry, and the sizes of a session. Must
// not look at a number, but where it is to fit in fewer bits.
#include "Arrays.h"

using namespace mille_python;

namespace {

using Input = nb::ndarray<nb::ro, nb::device::cpu>;

std::vector<int32_t> narrowed(const Tensor &tensor, const Dense &array) {
  const auto *numbers = static_cast<const int64_t *>(array.data());
  std::vector<int32_t> result(array.size());
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = int32_t(numbers[i]);
    if (result[i] != numbers[i])
      refuse(tensor.name + " holds " + std::to_string(numbers[i]) +
             ", which is no int32");
  }
  return result;
}

// "float64", as NumPy names it.
std::string nameOf(nb::dlpack::dtype type) {
  const auto code = nb::dlpack::dtype_code(type.code);
  const char *kind = code == nb::dlpack::dtype_code::Int      ? "int"
                     : code == nb::dlpack::dtype_code::UInt   ? "uint"
                     : code == nb::dlpack::dtype_code::Float  ? "float"
                     : code == nb::dlpack::dtype_code::Bfloat ? "bfloat"
                     : code == nb::dlpack::dtype_code::Bool   ? "bool"
                                                              : "complex";
  return code == nb::dlpack::dtype_code::Bool
             ? kind
             : kind + std::to_string(type.bits);
}

} // namespace

Taken mille_python::takeInput(const Tensor &tensor, nb::handle value,
                              Sizes &sizes) {
  Input array;
  if (!nb::try_cast(value, array))
    refuse(tensor.name + " is no array of this machine's numbers in the CPU's "
                         "memory");
  const bool integers = tensor.type == MILLE_TYPE_I32,
             wide = integers && array.dtype() == nb::dtype<int64_t>();
  if (!wide &&
      array.dtype() != (integers ? nb::dtype<int32_t>() : nb::dtype<float>()))
    refuse(tensor.name + " is " + nameOf(array.dtype()) +
           " but the model's is " + (integers ? "int32" : "float32"));
  takeShape(tensor, array, sizes);
  Taken taken{nb::cast<Dense>(value), {}}; // copies what is not dense
  if (wide)
    taken.narrowed = narrowed(tensor, taken.array);
  return taken;
}

void mille_python::checkNames(const nb::handle &given,
                              const std::vector<Tensor> &tensors,
                              const std::string &what) {
  for (nb::handle key : given) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    bool known = false;
    for (const Tensor &tensor : tensors)
      known |= tensor.name == name;
    if (!known)
      refuse("the model has no " + what + " " + name);
  }
}

Inputs::Inputs(const std::vector<Tensor> &tensors, const nb::kwargs &arrays) {
  checkNames(arrays, tensors, "input");
  for (const Tensor &tensor : tensors) {
    nb::object value = nb::none();
    if (arrays.contains(tensor.name.c_str()))
      value = arrays[tensor.name.c_str()];
    if (value.is_none() && !tensor.optional)
      refuse("the input " + tensor.name + " is missing");
    held.emplace_back();
    if (!value.is_none())
      held.back() = takeInput(tensor, value, sizes);
    pointers.push_back(held.back().data());
  }
}

std::vector<mille_size> Inputs::values() const { return valuesOf(sizes); }

Sizes mille_python::takeSizes(const nb::object &batch, const nb::object &tokens,
                              const nb::kwargs &others) {
  Sizes values;
  const auto take = [&](const std::string &name, nb::handle value) {
    if (!nb::try_cast(value, values[name]))
      refuse("the size " + name + " is " +
             nb::cast<std::string>(nb::repr(value)) +
             " but must be a whole number");
  };
  if (!batch.is_none())
    take("batch", batch);
  if (!tokens.is_none())
    take("tokens", tokens);
  for (auto [name, value] : others)
    take(nb::cast<std::string>(name), value);
  return values;
}

std::vector<mille_size> mille_python::valuesOf(const Sizes &sizes) {
  std::vector<mille_size> values;
  for (const auto &[name, value] : sizes)
    values.push_back({name.c_str(), value});
  return values;
}
