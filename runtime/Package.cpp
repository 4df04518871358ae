// Opens packages: options, instruction set, weights; and answers about them.
// Must not start a thread; sessions do.
#include "runtime/Backend.h"
#include "runtime/Cpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

using mille::Message;

namespace {
mille_status checkModel(const mille_model &model, Message &message) {
  if (model.abi_version != MILLE_ABI_VERSION)
    return message.set(MILLE_INVALID_ARGUMENT,
                       "the model has ABI version %u but this runtime has %u: "
                       "compile it with this Mille",
                       model.abi_version, MILLE_ABI_VERSION);
  for (uint32_t k = 0; k < model.kernel_count; ++k) {
    const mille_kernel &kernel = *model.kernels[k];
    if (kernel.buffer_count < 1 || kernel.buffer_count > MILLE_MAX_BUFFERS ||
        kernel.scalar_count > MILLE_MAX_SCALARS || kernel.column_unit < 1 ||
        kernel.row_unit < 1)
      return message.set(MILLE_INTERNAL,
                         "kernel %s has %u buffers, %u scalars, units %u and "
                         "%u, which is out of bounds",
                         kernel.name, kernel.buffer_count, kernel.scalar_count,
                         kernel.row_unit, kernel.column_unit);
  }
  return MILLE_OK;
}

mille_status takeOptions(mille_options &mine, const mille_options *given,
                         Message &message) {
  if (!given)
    return MILLE_OK;
  // Newer applications may know more options than this runtime, older less.
  size_t known = given->size < sizeof mine ? given->size : sizeof mine;
  memcpy(&mine, given, known);
  if (given->size < sizeof(size_t))
    return message.set(MILLE_INVALID_ARGUMENT,
                       "options.size is %zu but must be sizeof(mille_options): "
                       "start from MILLE_OPTIONS_INIT",
                       given->size);
  if (!mine.allocate != !mine.release)
    return message.set(MILLE_INVALID_ARGUMENT,
                       "options have %s but no %s: both or neither",
                       mine.allocate ? "allocate" : "release",
                       mine.allocate ? "release" : "allocate");
  return MILLE_OK;
}

void tell(const Message &message, char *text, size_t size) {
  if (text && size)
    snprintf(text, size, "%s", message.text);
}

mille_status describe(mille_package *package, const mille_tensor_info *infos,
                      uint32_t count, const char *kind, size_t index,
                      mille_tensor *tensor) {
  if (!tensor || index >= count)
    return package->message().set(MILLE_INVALID_ARGUMENT,
                                  "%s %zu is asked for but model %s has %u",
                                  kind, index, package->model->name, count);
  const mille_tensor_info &info = infos[index];
  *tensor = {info.name, (mille_type)info.type,           (int)info.rank,
             {0},       info.fallback != MILLE_REQUIRED, info.below};
  memcpy(tensor->shape, info.shape, sizeof tensor->shape);
  return MILLE_OK;
}
} // namespace

namespace {
// The sentence of this thread's last call that failed, and on which package.
thread_local struct {
  uint64_t package;
  Message message;
} lastFailure;
mille::Atomic<uint64_t> packages; // made so far
} // namespace

Message &mille_package::message() const {
  if (lastFailure.package != number)
    lastFailure.message.text[0] = 0;
  lastFailure.package = number;
  return lastFailure.message;
}

mille_status mille_package::chooseIsa() {
  uint64_t have = mille_cpu_features() & ~options.hidden_features;
  char missing[256] = "";
  bool known = false;
  for (isa = 0; isa < model->isa_count; ++isa) {
    const mille_isa &candidate = model->isas[isa];
    if (options.isa && strcmp(options.isa, candidate.name) != 0)
      continue;
    // A device is used where it is asked for, or nothing else was compiled.
    if (!options.isa && candidate.backend && isa > 0)
      continue;
    known = true;
    uint64_t lacks = candidate.features & ~have;
    if (!lacks)
      return MILLE_OK;
    // The last one named is the least demanding.
    mille::nameFeatures(lacks, missing, sizeof missing);
  }
  if (options.isa && !known)
    return message().set(MILLE_INVALID_ARGUMENT,
                         "isa is %s but model %s was compiled for %s%s",
                         options.isa, model->name, model->isas[0].name,
                         model->isa_count > 1 ? " and others" : "");
  uint32_t last = model->isa_count - 1;
  while (last > 0 && model->isas[last].backend)
    --last;
  const char *least = options.isa ? options.isa : model->isas[last].name;
  return message().set(
      MILLE_UNSUPPORTED_CPU,
      "model %s compiled for %s needs %s but this CPU lacks it", model->name,
      least, missing);
}

mille_status mille_package::open(const mille_model &of,
                                 const char *weightsPath) {
  model = &of;
  mille_status status = chooseIsa();
  if (status == MILLE_OK)
    status = weights.open(of, weightsPath, options, memory, message());
  return status;
}

void mille_package::log(const char *format, ...) {
  if (!options.log)
    return;
  Message line;
  va_list values;
  va_start(values, format);
  vsnprintf(line.text, sizeof line.text, format, values);
  va_end(values);
  options.log(options.log_user, line.text);
}

void mille_package::leave() {
  if (owners.add(-1u) != 1)
    return;
  while (mille::Device *device = devices) {
    devices = device->next;
    device->backend->close(*this, *device);
  }
  weights.close(memory);
  mille::Memory from = memory;
  from.release(from.user, this);
}

extern "C" {

mille_status mille_package_open(const mille_model *model,
                                const char *weights_path,
                                const mille_options *options,
                                mille_package **package, char *message,
                                size_t message_size) {
  Message failure;
  mille_options mine = MILLE_OPTIONS_INIT;
  mille_status status;
  if (package)
    *package = nullptr;
  if (!model || !package)
    status = failure.set(MILLE_INVALID_ARGUMENT, "%s is null",
                         model ? "package" : "model");
  else if ((status = checkModel(*model, failure)) == MILLE_OK)
    status = takeOptions(mine, options, failure);
  if (status != MILLE_OK) {
    tell(failure, message, message_size);
    return status;
  }
  mille::Memory memory = mille::Memory::from(mine);
  mille_package *made = memory.make<mille_package>();
  if (!made) {
    status = failure.set(MILLE_OUT_OF_MEMORY,
                         "a package needs %zu bytes but memory was refused",
                         sizeof(mille_package));
    tell(failure, message, message_size);
    return status;
  }
  made->options = mine;
  made->memory = memory;
  made->owners.store(1);
  made->number = packages.add(1) + 1;
  status = made->open(*model, weights_path);
  if (status != MILLE_OK) {
    tell(made->message(), message, message_size);
    made->leave();
    return status;
  }
  made->options.isa = nullptr; // the application's string may go
  made->log("opened %s for %s with %llu bytes of weights", model->name,
            model->isas[made->isa].name,
            (unsigned long long)made->weights.bytes);
  *package = made;
  return MILLE_OK;
}

mille_status mille_package_close(mille_package *package) {
  if (package)
    package->leave();
  return MILLE_OK;
}

const char *mille_package_message(const mille_package *package) {
  return package ? package->message().text : "package is null";
}

mille_status mille_package_input_count(mille_package *package, size_t *count) {
  if (!package || !count)
    return MILLE_INVALID_ARGUMENT;
  *count = package->model->input_count;
  return MILLE_OK;
}

mille_status mille_package_output_count(mille_package *package, size_t *count) {
  if (!package || !count)
    return MILLE_INVALID_ARGUMENT;
  *count = package->model->output_count;
  return MILLE_OK;
}

mille_status mille_package_input(mille_package *package, size_t index,
                                 mille_tensor *tensor) {
  if (!package)
    return MILLE_INVALID_ARGUMENT;
  return describe(package, package->model->inputs, package->model->input_count,
                  "input", index, tensor);
}

mille_status mille_package_output(mille_package *package, size_t index,
                                  mille_tensor *tensor) {
  if (!package)
    return MILLE_INVALID_ARGUMENT;
  return describe(package, package->model->outputs,
                  package->model->output_count, "output", index, tensor);
}

mille_status mille_package_scale_count(mille_package *package, size_t *count) {
  if (!package || !count)
    return MILLE_INVALID_ARGUMENT;
  *count = package->model->schedule_count;
  return MILLE_OK;
}

mille_status mille_package_scale(mille_package *package, size_t index,
                                 mille_scale *scale) {
  if (!package)
    return MILLE_INVALID_ARGUMENT;
  const mille_model &model = *package->model;
  if (!scale || index >= model.schedule_count)
    return package->message().set(MILLE_INVALID_ARGUMENT,
                                  scale ? "scale %zu of %u" : "scale is null",
                                  index, model.schedule_count);
  const mille_schedule_info &info = model.schedules[index];
  *scale = {info.name, info.from, info.to, info.steps};
  return MILLE_OK;
}

mille_status mille_package_name(mille_package *package, const char **name) {
  if (!package || !name)
    return MILLE_INVALID_ARGUMENT;
  *name = package->model->name;
  return MILLE_OK;
}

mille_status mille_package_isa(mille_package *package, const char **isa) {
  if (!package || !isa)
    return MILLE_INVALID_ARGUMENT;
  *isa = package->model->isas[package->isa].name;
  return MILLE_OK;
}

mille_status mille_package_weights_bytes(mille_package *package,
                                         uint64_t *bytes) {
  if (!package || !bytes)
    return MILLE_INVALID_ARGUMENT;
  *bytes = package->weights.bytes;
  return MILLE_OK;
}

const char *mille_status_name(mille_status status) {
  switch (status) {
  case MILLE_OK:
    return "ok";
  case MILLE_INVALID_ARGUMENT:
    return "invalid argument";
  case MILLE_INVALID_INPUT:
    return "invalid input";
  case MILLE_TOO_LARGE:
    return "too large";
  case MILLE_OUT_OF_MEMORY:
    return "out of memory";
  case MILLE_FILE_ERROR:
    return "file error";
  case MILLE_BAD_WEIGHTS:
    return "bad weights";
  case MILLE_UNSUPPORTED_CPU:
    return "unsupported CPU";
  case MILLE_CANCELLED:
    return "cancelled";
  case MILLE_INTERNAL:
    return "internal error";
  case MILLE_NO_DEVICE:
    return "no device";
  }
  return "unknown status";
}

#define TEXT(x) #x
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)
const char *mille_version(void) {
  return VERSION(MILLE_VERSION_MAJOR, MILLE_VERSION_MINOR, MILLE_VERSION_PATCH);
}
}
