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
  if (model.entry_count < 1 || model.size_count < 1 ||
      model.size_count > MILLE_MAX_SIZES ||
      model.state_count > MILLE_MAX_STATES)
    return message.set(MILLE_INTERNAL,
                       "model %s has %u entries, %u sizes and %u states, which "
                       "is out of bounds",
                       model.name, model.entry_count, model.size_count,
                       model.state_count);
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
  *tensor = {info.name,
             (mille_type)info.type,
             (int)info.rank,
             {0},
             {nullptr},
             info.fallback != MILLE_REQUIRED,
             info.below > 0 ? info.below : 0};
  for (uint32_t d = 0; d < info.rank; ++d)
    if (info.shape[d] < 0)
      tensor->sizes[d] = package->model->sizes[~info.shape[d]].name;
    else
      tensor->shape[d] = info.shape[d];
  return MILLE_OK;
}

// The entry of that number; null, and a message, where there is none.
const mille_entry *entryOf(mille_package *package, size_t entry) {
  const mille_model &model = *package->model;
  if (entry < model.entry_count)
    return &model.entries[entry];
  package->message().set(MILLE_INVALID_ARGUMENT,
                         "entry %zu is asked for but model %s has %u", entry,
                         model.name, model.entry_count);
  return nullptr;
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
  uint64_t most = 0;
  for (uint32_t i = 0; i < model->isa_count; ++i) {
    const mille_isa &candidate = model->isas[i];
    if (options.isa && strcmp(options.isa, candidate.name) != 0)
      continue;
    // A device is used where it is asked for, or nothing else was compiled.
    if (!options.isa && candidate.backend && i > 0)
      continue;
    known = true;
    uint64_t worth = mille_cpu_worth(candidate.features, have);
    if (worth > most) {
      most = worth;
      isa = i;
    }
    // The last one named is the least demanding.
    if (!worth)
      mille::nameFeatures(candidate.features & ~have, missing, sizeof missing);
  }
  if (most)
    return MILLE_OK;
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

mille_status mille_package_entry_count(mille_package *package, size_t *count) {
  if (!package || !count)
    return MILLE_INVALID_ARGUMENT;
  *count = package->model->entry_count;
  return MILLE_OK;
}

mille_status mille_package_entry(mille_package *package, size_t entry,
                                 mille_entry_info *info) {
  if (!package || !info)
    return MILLE_INVALID_ARGUMENT;
  const mille_entry *found = entryOf(package, entry);
  if (!found)
    return MILLE_INVALID_ARGUMENT;
  *info = {found->name, found->input_count, found->output_count,
           (size_t)__builtin_popcountll(found->states)};
  return MILLE_OK;
}

mille_status mille_package_find_entry(mille_package *package, const char *name,
                                      size_t *entry) {
  if (!package || !name || !entry)
    return MILLE_INVALID_ARGUMENT;
  const mille_model &model = *package->model;
  for (uint32_t e = 0; e < model.entry_count; ++e)
    if (strcmp(model.entries[e].name, name) == 0) {
      *entry = e;
      return MILLE_OK;
    }
  return package->message().set(
      MILLE_INVALID_ARGUMENT, "model %s has no entry '%s'%s%s", model.name,
      name, model.entry_count > 1 ? "; its second one is " : "",
      model.entry_count > 1 ? model.entries[1].name : "");
}

mille_status mille_package_entry_input(mille_package *package, size_t entry,
                                       size_t index, mille_tensor *tensor) {
  if (!package)
    return MILLE_INVALID_ARGUMENT;
  const mille_entry *found = entryOf(package, entry);
  return found ? describe(package, found->inputs, found->input_count, "input",
                          index, tensor)
               : MILLE_INVALID_ARGUMENT;
}

mille_status mille_package_entry_output(mille_package *package, size_t entry,
                                        size_t index, mille_tensor *tensor) {
  if (!package)
    return MILLE_INVALID_ARGUMENT;
  const mille_entry *found = entryOf(package, entry);
  return found ? describe(package, found->outputs, found->output_count,
                          "output", index, tensor)
               : MILLE_INVALID_ARGUMENT;
}

mille_status mille_package_input_count(mille_package *package, size_t *count) {
  if (!package || !count)
    return MILLE_INVALID_ARGUMENT;
  *count = package->model->entries[0].input_count;
  return MILLE_OK;
}

mille_status mille_package_output_count(mille_package *package, size_t *count) {
  if (!package || !count)
    return MILLE_INVALID_ARGUMENT;
  *count = package->model->entries[0].output_count;
  return MILLE_OK;
}

mille_status mille_package_input(mille_package *package, size_t index,
                                 mille_tensor *tensor) {
  return mille_package_entry_input(package, 0, index, tensor);
}

mille_status mille_package_output(mille_package *package, size_t index,
                                  mille_tensor *tensor) {
  return mille_package_entry_output(package, 0, index, tensor);
}

mille_status mille_package_state_count(mille_package *package, size_t *count) {
  if (!package || !count)
    return MILLE_INVALID_ARGUMENT;
  *count = package->model->state_count;
  return MILLE_OK;
}

mille_status mille_package_state(mille_package *package, size_t index,
                                 mille_tensor *tensor) {
  if (!package)
    return MILLE_INVALID_ARGUMENT;
  return describe(package, package->model->states, package->model->state_count,
                  "state", index, tensor);
}

static size_t givenSizes(const mille_model &model) {
  size_t count = 0;
  for (uint32_t size = 0; size < model.size_count; ++size)
    count += mille::isGivenSize(model, size);
  return count;
}

mille_status mille_package_size_count(mille_package *package, size_t *count) {
  if (!package || !count)
    return MILLE_INVALID_ARGUMENT;
  *count = givenSizes(*package->model);
  return MILLE_OK;
}

mille_status mille_package_size(mille_package *package, size_t index,
                                const char **name, int64_t *most) {
  if (!package || !name || !most)
    return MILLE_INVALID_ARGUMENT;
  const mille_model &model = *package->model;
  size_t before = 0;
  for (uint32_t size = 0; size < model.size_count; ++size) {
    if (!mille::isGivenSize(model, size) || before++ != index)
      continue;
    *name = model.sizes[size].name;
    *most = model.sizes[size].most;
    return MILLE_OK;
  }
  return package->message().set(MILLE_INVALID_ARGUMENT,
                                "size %zu is asked for but model %s has %zu",
                                index, model.name, givenSizes(model));
}

mille_status mille_package_size_value(mille_package *package,
                                      const mille_size *sizes, size_t count,
                                      const char *name, int64_t *value) {
  if (!package || !name || !value)
    return MILLE_INVALID_ARGUMENT;
  const mille_model &model = *package->model;
  mille::Sizes of;
  mille_status status =
      mille::takeSizes(model, sizes, count, "", of, package->message());
  if (status != MILLE_OK)
    return status;
  for (uint32_t size = 0; size < model.size_count; ++size)
    if (strcmp(model.sizes[size].name, name) == 0) {
      *value = of.of[size];
      return MILLE_OK;
    }
  return package->message().set(MILLE_INVALID_ARGUMENT,
                                "model %s has no size '%s'; its sizes are %s",
                                model.name, name, mille::SizeNames(model).text);
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

mille_status mille_package_hash(mille_package *package, uint64_t *hash) {
  if (!package || !hash)
    return MILLE_INVALID_ARGUMENT;
  const mille_model &model = *package->model;
  const uint64_t hashes[2] = {model.weights_hash, model.table_hash};
  *hash = mille_weights_hash(MILLE_HASH_START, hashes, sizeof hashes);
  *hash = mille_weights_hash(*hash, model.name, strlen(model.name));
  // Equal weights may have states of other elements.
  for (uint32_t s = 0; s < model.state_count; ++s)
    if (model.states[s].type == MILLE_I8)
      *hash = mille_weights_hash(*hash, &model.states[s].shape[3],
                                 sizeof model.states[s].shape[3]);
    else if (model.states[s].type == MILLE_F16)
      *hash = mille_weights_hash(*hash, &model.states[s].type,
                                 sizeof model.states[s].type);
  return MILLE_OK;
}
}
