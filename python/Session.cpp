// A run: arrays in, arrays out, without a copy where the layout allows. Must
// not hold the interpreter's lock while the model computes.
#include "Interrupt.h"
#include "Module.h"

using namespace mille_python;

namespace {

using Input = nb::ndarray<nb::ro, nb::device::cpu>;
using Dense = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<float, nb::c_contig, nb::device::cpu>;
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

Taken takeInput(const Tensor &tensor, nb::handle value, Sizes &sizes) {
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

// Every name that a caller gives must be one of the model's.
void checkNames(const nb::handle &given, const std::vector<Tensor> &tensors,
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

// Adds the sizes of outputs that follow from those of inputs.
void addSizes(mille_package *package, const std::vector<Tensor> &outputs,
              Sizes &sizes) {
  std::vector<mille_size> given;
  for (const auto &[size, value] : sizes)
    given.push_back({size.c_str(), value});
  for (const Tensor &tensor : outputs)
    for (const std::string &size : tensor.sizes) {
      if (size.empty() || sizes.count(size))
        continue;
      int64_t value = 0;
      check(mille_package_size_value(package, given.data(), given.size(),
                                     size.c_str(), &value),
            mille_package_message(package));
      sizes[size] = value;
    }
}

nb::object takeOutput(const Tensor &tensor, const nb::object &out,
                      Sizes &sizes) {
  nb::object key = nb::cast(tensor.name);
  if (!out.is_none() && nb::cast<bool>(out.attr("__contains__")(key)))
    return out[key];
  nb::list shape;
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    shape.append(tensor.sizes[i].empty() ? tensor.shape[i]
                                         : sizes[tensor.sizes[i]]);
  return nb::module_::import_("numpy").attr("empty")(nb::tuple(shape),
                                                     "float32");
}

// Memory that a run reads or writes.
struct Piece {
  const Tensor *tensor;
  const char *begin, *end;
};

template <typename Array>
Piece pieceOf(const Tensor &tensor, const Array &array, const void *data) {
  const auto *begin = static_cast<const char *>(data);
  return {&tensor, begin, begin + array.nbytes()};
}

bool overlap(const Piece &one, const Piece &other) {
  return one.begin < other.end && other.begin < one.end;
}

// A run writes its outputs in any order, and reads inputs until its end.
void checkApart(const std::vector<Piece> &inputs,
                const std::vector<Piece> &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const Piece &input : inputs)
      if (overlap(input, outputs[i]))
        refuse("the input " + input.tensor->name + " and out of " +
               outputs[i].tensor->name + " share memory");
    for (size_t k = 0; k < i; ++k)
      if (overlap(outputs[k], outputs[i]))
        refuse("out of " + outputs[k].tensor->name + " and out of " +
               outputs[i].tensor->name + " share memory");
  }
}

size_t findEntry(const std::vector<Entry> &entries, const std::string &name) {
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].name == name || name.empty())
      return i;
  std::string names;
  for (const Entry &entry : entries)
    names += (names.empty() ? "'" : ", '") + entry.name + "'";
  refuse("there is no entry '" + name + "' but " + names);
}

} // namespace

nb::dict Session::run(const std::string &name, const nb::object &out,
                      const nb::kwargs &arrays) {
  size_t number = findEntry(entries, name);
  const Entry &entry = entries[number];
  Sizes sizes;
  std::vector<Taken> held;
  std::vector<const void *> inputs;
  std::vector<Piece> read, written;
  checkNames(arrays, entry.inputs, "input");
  if (!out.is_none() && !PyMapping_Check(out.ptr()))
    refuse("out must map names of outputs to arrays");
  if (!out.is_none())
    checkNames(out, entry.outputs, "output");
  for (const Tensor &tensor : entry.inputs) {
    nb::object value = nb::none();
    if (arrays.contains(tensor.name.c_str()))
      value = arrays[tensor.name.c_str()];
    if (value.is_none() && !tensor.optional)
      refuse("the input " + tensor.name + " is missing");
    held.emplace_back();
    if (!value.is_none()) {
      Taken &taken = held.back() = takeInput(tensor, value, sizes);
      if (taken.narrowed.empty())
        read.push_back(pieceOf(tensor, taken.array, taken.data()));
    }
    inputs.push_back(held.back().data());
  }
  const Sizes given = sizes;
  addSizes(package.get(), entry.outputs, sizes);
  nb::dict results;
  std::vector<Output> kept;
  std::vector<float *> outputs;
  for (const Tensor &tensor : entry.outputs) {
    nb::object result = takeOutput(tensor, out, sizes);
    Output array;
    if (!nb::try_cast(result, array, false))
      refuse("out of " + tensor.name +
             " must be a writable, dense float32 array in the CPU's memory");
    takeShape(tensor, array, sizes);
    written.push_back(pieceOf(tensor, array, array.data()));
    kept.push_back(array);
    outputs.push_back(array.data());
    results[tensor.name.c_str()] = result;
  }
  checkApart(read, written);
  std::vector<mille_size> values;
  for (const auto &[size, value] : given)
    values.push_back({size.c_str(), value});
  mille_status status;
  std::string message;
  {
    const Turn turn(running);
    nb::gil_scoped_release released;
    Interruptible<mille_session, mille_session_cancel> stops(session);
    status =
        mille_session_run_entry(session, number, values.data(), values.size(),
                                inputs.data(), outputs.data());
    if (status != MILLE_OK)
      message = mille_session_message(session);
  }
  if (PyErr_CheckSignals() != 0)
    throw nb::python_error();
  check(status, message.c_str());
  return results;
}
