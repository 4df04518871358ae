// A run: arrays in, arrays out, without a copy where the layout allows. Must
// not hold the interpreter's lock while the model computes.
#include "Arrays.h"
#include "Interrupt.h"

using namespace mille_python;

namespace {

using Output = nb::ndarray<float, nb::c_contig, nb::device::cpu>;

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
  if (!out.is_none() && !PyMapping_Check(out.ptr()))
    refuse("out must map names of outputs to arrays");
  if (!out.is_none())
    checkNames(out, entry.outputs, "output");
  const Inputs taken(entry.inputs, arrays);
  std::vector<Piece> read, written;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    if (const Taken &one = taken.held[i]; one.data() && one.narrowed.empty())
      read.push_back(pieceOf(entry.inputs[i], one.array, one.data()));
  Sizes sizes = taken.sizes;
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
  const std::vector<mille_size> values = taken.values();
  mille_status status;
  std::string message;
  {
    const Turn turn(running);
    nb::gil_scoped_release released;
    Interruptible<mille_session, mille_session_cancel> stops(session);
    status =
        mille_session_run_entry(session, number, values.data(), values.size(),
                                taken.pointers.data(), outputs.data());
    if (status != MILLE_OK)
      message = mille_session_message(session);
  }
  if (PyErr_CheckSignals() != 0)
    throw nb::python_error();
  check(status, message.c_str());
  return results;
}
