// Trainers: thin calls of mille_train.h. Must not hold the interpreter's lock
// while a model learns.
#include "Trainer.h"
#include "Interrupt.h"
#include <cmath>

using namespace mille_python;

namespace {

constexpr const char *stepEntry = "train_step";

// Inputs that the trainer itself gives to each part of a batch.
bool isGiven(const std::string &input) {
  return input == "loss_weight" || input == "step" || input == "first_sequence";
}

} // namespace

Trainer::Trainer(const Package &opened, const Sizes &sizes, int threads)
    : package(opened.handle()), packageName(opened.name()) {
  for (const Entry &entry : opened.entries())
    if (entry.name == stepEntry)
      all = entry.inputs;
  if (all.empty())
    refuse("package " + packageName +
           " infers and cannot be trained: compile it with train=True");
  for (Tensor &tensor : all)
    if (isGiven(tensor.name))
      tensor.optional = true;
    else
      asked.push_back(tensor);
  const std::vector<mille_size> most = valuesOf(sizes);
  mille_status status;
  {
    nb::gil_scoped_release released;
    status = mille_trainer_create(package.get(), most.data(), most.size(),
                                  threads, &handle);
  }
  check(status, mille_package_message(package.get()));
}

template <typename Body> void Trainer::call(Body body) {
  mille_status status = MILLE_OK;
  std::string message;
  {
    const Turn turn(running);
    if (!handle)
      refuse("the trainer of " + packageName + " is closed");
    nb::gil_scoped_release released;
    status = body();
    if (status != MILLE_OK)
      message = mille_trainer_message(handle);
  }
  check(status, message.c_str());
}

template <typename Body> void Trainer::callStep(Body body) {
  callInterruptibly<mille_trainer_cancel, mille_trainer_message>(
      handle, [&](auto inTurn) { call(inTurn); }, body);
}

template <typename Body>
void Trainer::run(const nb::kwargs &arrays, Body body) {
  checkNames(arrays, asked, "input");
  const Inputs inputs(all, arrays);
  const std::vector<mille_size> sizes = inputs.values();
  callStep(
      [&] { return body(sizes.data(), sizes.size(), inputs.pointers.data()); });
}

mille_step_report Trainer::step(const nb::kwargs &arrays) {
  mille_step_report report = {};
  run(arrays, [&](auto... given) {
    return mille_trainer_step(handle, given..., &report);
  });
  return report;
}

mille_step_report Trainer::gradients(const nb::kwargs &arrays) {
  mille_step_report report = {};
  run(arrays, [&](auto... given) {
    return mille_trainer_gradients(handle, given..., &report);
  });
  return report;
}

std::pair<double, int64_t> Trainer::evaluate(const nb::kwargs &arrays) {
  std::pair<double, int64_t> found;
  run(arrays, [&](auto... given) {
    return mille_trainer_evaluate(handle, given..., &found.first,
                                  &found.second);
  });
  return found;
}

// With the interpreter's lock, which `close` holds too while it forgets the
// trainer: so this finds a whole one, or none.
void Trainer::cancel() {
  if (handle)
    mille_trainer_cancel(handle);
}

void Trainer::close() {
  const Turn turn(running);
  mille_trainer *const ended = handle;
  handle = nullptr;
  nb::gil_scoped_release released;
  mille_trainer_close(ended);
}

void Trainer::setOne(const nb::handle &key, const nb::handle &value) {
  std::string name;
  if (!nb::try_cast(key, name))
    refuse("a number's name is " + nb::cast<std::string>(nb::repr(key)) +
           " but must be text");
  double number = NAN;
  if (!value.is_none() && !nb::try_cast(value, number))
    refuse(name + " is " + nb::cast<std::string>(nb::repr(value)) +
           " but must be a number, or None for the package's");
  if (!value.is_none() && std::isnan(number)) // which stands for None in C
    refuse(name + " is nan but must be a number, or None for the package's");
  call([&] { return mille_trainer_set(handle, name.c_str(), number); });
}

void Trainer::set(const nb::object &numbers, const nb::kwargs &named) {
  if (!numbers.is_none() && !nb::hasattr(numbers, "keys"))
    refuse("set must be given a mapping of names to numbers, or numbers by "
           "their names");
  if (!numbers.is_none())
    for (nb::handle key : numbers)
      setOne(key, nb::object(numbers[key]));
  for (auto [key, value] : named)
    setOne(key, value);
}

std::string Trainer::note(const std::string &name) {
  std::string text;
  call([&] {
    text = mille_trainer_note(handle, name.c_str());
    return MILLE_OK;
  });
  return text;
}

void Trainer::setNote(const std::string &name, const std::string &text) {
  call([&] {
    return mille_trainer_set_note(handle, name.c_str(), text.c_str());
  });
}

void Trainer::save(const nb::object &path) {
  const std::string name = takePath(path);
  call([&] { return mille_trainer_save(handle, name.c_str()); });
}

void Trainer::load(const nb::object &path) {
  const std::string name = takePath(path);
  call([&] { return mille_trainer_load(handle, name.c_str()); });
}

int64_t Trainer::steps() {
  int64_t steps = 0;
  call([&] { return mille_trainer_steps(handle, &steps); });
  return steps;
}

size_t Trainer::memory() {
  size_t bytes = 0;
  call([&] { return mille_trainer_memory(handle, &bytes); });
  return bytes;
}

mille_training_report Trainer::report() {
  mille_training_report report = {};
  mille_status status = MILLE_OK;
  call([&] {
    status = mille_trainer_report(handle, &report);
    return MILLE_OK;
  });
  if (status != MILLE_OK) // it has no other reason
    refuse("package " + packageName +
           " is of a build that reports nothing: compile it again");
  return report;
}

std::vector<std::string> Trainer::names() {
  std::vector<std::string> names;
  size_t count = 0;
  mille_trained_parameter one;
  call([&] {
    mille_trainer_parameter_count(handle, &count);
    for (size_t i = 0; i < count; ++i)
      if (mille_trainer_parameter(handle, i, &one) == MILLE_OK)
        names.push_back(one.name);
    return MILLE_OK;
  });
  if (names.empty())
    refuse("package " + packageName +
           " is of a build that names no parameter: compile it again");
  return names;
}

mille_trained_parameter Trainer::find(const std::string &name) {
  mille_trained_parameter one = {};
  bool found = false;
  call([&] {
    for (size_t i = 0;
         !found && mille_trainer_parameter(handle, i, &one) == MILLE_OK; ++i)
      found = one.name == name;
    return MILLE_OK;
  });
  if (!found)
    refuse("package " + packageName + " has no parameter " + name);
  return one;
}

static nb::tuple shapeOf(const mille_trained_parameter &parameter) {
  nb::list shape;
  for (size_t d = 0; d < parameter.rank; ++d)
    shape.append(parameter.shape[d]);
  return nb::tuple(shape);
}

TrainedParameter Trainer::parameter(const std::string &name) {
  const mille_trained_parameter found = find(name);
  return {found.name, shapeOf(found),     found.gradient_norm,
          found.rate, found.weight_decay, found.trust};
}

template <typename Copy>
nb::object Trainer::copied(const std::string &name, Copy copy) {
  const mille_trained_parameter found = find(name);
  nb::object array =
      nb::module_::import_("numpy").attr("empty")(shapeOf(found), "float32");
  using Numbers = nb::ndarray<float, nb::c_contig, nb::device::cpu>;
  const Numbers numbers = nb::cast<Numbers>(array);
  call([&] {
    return copy(handle, name.c_str(), numbers.data(), numbers.size());
  });
  return array;
}

nb::object Trainer::gradient(const std::string &name) {
  return copied(name, mille_trainer_gradient);
}

nb::object Trainer::weight(const std::string &name) {
  return copied(name, mille_trainer_weight);
}
