// Ids and sampling options of Python as C has them. Must not draw anything.
#include "Generation.h"

using namespace mille_python;

std::string mille_python::written(const nb::handle &value) {
  return nb::cast<std::string>(nb::repr(value));
}

namespace {

// A whole number: of Python, NumPy or torch. Not 1.5, and not "1".
template <typename Number>
bool takeWhole(const nb::handle &value, Number &number) {
  nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
  if (!whole.is_valid()) {
    PyErr_Clear();
    return false;
  }
  return nb::try_cast(whole, number);
}

const struct {
  const char *name;
  double mille_sampling::*real;
  int64_t mille_sampling::*whole;
} numbers[] = {
    {"temperature", &mille_sampling::temperature, nullptr},
    {"top_k", nullptr, &mille_sampling::top_k},
    {"typical", &mille_sampling::typical, nullptr},
    {"top_p", &mille_sampling::top_p, nullptr},
    {"min_p", &mille_sampling::min_p, nullptr},
    {"repetition_penalty", &mille_sampling::repetition_penalty, nullptr},
    {"presence_penalty", &mille_sampling::presence_penalty, nullptr},
    {"frequency_penalty", &mille_sampling::frequency_penalty, nullptr},
    {"repeat_last", nullptr, &mille_sampling::repeat_last},
};

bool takeNumber(const std::string &name, const nb::handle &value,
                mille_sampling &sampling) {
  for (const auto &number : numbers) {
    if (name != number.name)
      continue;
    if (number.real && !nb::try_cast(value, sampling.*number.real))
      refuse(name + " is " + written(value) + " but must be a number");
    if (number.whole && !takeWhole(value, sampling.*number.whole))
      refuse(name + " is " + written(value) + " but must be a whole number");
    return true;
  }
  return false;
}

} // namespace

std::vector<int32_t> mille_python::takeIds(const nb::object &given) {
  nb::object list = nb::steal(PySequence_List(given.ptr()));
  if (!list.is_valid()) {
    PyErr_Clear();
    refuse("ids are " + written(given) + " but must be whole numbers");
  }
  std::vector<int32_t> ids;
  for (nb::handle value : nb::cast<nb::list>(list)) {
    int32_t id;
    if (!takeWhole(value, id))
      refuse("id " + written(value) + " of place " +
             std::to_string(ids.size()) + " is no int32");
    ids.push_back(id);
  }
  return ids;
}

Sampling::Sampling(const nb::kwargs &options, int64_t vocabulary) {
  for (auto [key, value] : options) {
    const std::string name = nb::cast<std::string>(key);
    if (takeNumber(name, value, sampling))
      continue;
    if (name == "seed") {
      if (!takeWhole(value, sampling.seed))
        refuse("seed is " + written(value) +
               " but must be a whole number of 64 bits, 0 or more");
    } else if (name == "bias") {
      takeBias(nb::borrow(value));
    } else if (name == "allowed") {
      if (!value.is_none())
        takeAllowed(nb::borrow(value), vocabulary);
    } else {
      refuse("there is no sampling option " + name);
    }
  }
}

void Sampling::takeBias(const nb::object &given) {
  if (!PyDict_Check(given.ptr()))
    refuse("bias is " + written(given) + " but must map ids to numbers");
  for (auto [id, value] : nb::cast<nb::dict>(given)) {
    biasIds.emplace_back();
    biases.emplace_back();
    if (!takeWhole(id, biasIds.back()) || !nb::try_cast(value, biases.back()))
      refuse("bias maps " + written(id) + " to " + written(value) +
             " but must map ids to numbers");
  }
  sampling.bias_ids = biasIds.data();
  sampling.biases = biases.data();
  sampling.bias_count = biasIds.size();
}

void Sampling::takeAllowed(const nb::object &given, int64_t vocabulary) {
  allowed.assign(size_t(vocabulary + 63) / 64, 0);
  for (int32_t id : takeIds(given)) {
    if (id < 0 || id >= vocabulary)
      refuse("allowed holds the id " + std::to_string(id) +
             " but the model has " + std::to_string(vocabulary) + " ids");
    allowed[size_t(id) / 64] |= uint64_t(1) << (id % 64);
  }
  sampling.allowed = allowed.data();
}
