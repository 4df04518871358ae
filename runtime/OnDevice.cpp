// A session that runs on a device: which, and what its program needs there.
// Must not name a kind of device; Backend.h is the door to all.
#include "runtime/Backend.h"

#include <string.h>

// The code that runs: the package's choice, or what `device` names: "cpu",
// a back end, or "BACKEND:1", "BACKEND:a part of its name".
mille_status mille_session::chooseCode(const char *device, const char *&wish) {
  const mille_model &model = *package->model;
  isa = package->isa;
  if (!device || !*device)
    return MILLE_OK;
  const char *colon = strchr(device, ':');
  size_t length = colon ? (size_t)(colon - device) : strlen(device);
  if (strcmp(device, "cpu") == 0 && !model.isas[isa].backend)
    return MILLE_OK;
  for (isa = 0; isa < model.isa_count; ++isa) {
    const mille_backend *backend = model.isas[isa].backend;
    if (backend && strlen(backend->name) == length &&
        strncmp(backend->name, device, length) == 0) {
      wish = colon ? colon + 1 : "";
      return MILLE_OK;
    }
  }
  isa = package->isa;
  return package->message().set(MILLE_INVALID_ARGUMENT,
                                "device is '%s' but model %s was compiled for "
                                "%s%s",
                                device, model.name, model.isas[0].name,
                                model.isa_count > 1 ? " and others" : "");
}

mille_status mille_session::enterDevice(const char *wish) {
  const mille_backend &backend = *package->model->isas[isa].backend;
  mille::Device *device = nullptr;
  pthread_mutex_lock(&package->deviceLock);
  mille_status status = backend.open(*package, wish, device);
  if (status == MILLE_OK)
    status = backend.enter(*this, *device);
  if (status == MILLE_OK)
    status = planOnDevice();
  if (status == MILLE_OK)
    status = backend.settle(*this);
  pthread_mutex_unlock(&package->deviceLock);
  return status;
}

// Runs the program of each entry once without computing, because kernels say
// what they need only when they are called. Nothing reads or writes the memory
// at its addresses.
mille_status mille_session::planOnDevice() {
  planning = true;
  const mille_model &model = *package->model;
  int32_t code = 0;
  for (uint32_t e = 0; e < model.entry_count && code == 0; ++e) {
    if (!entries[e].usable)
      continue;
    choose(e, most);
    for (uint32_t i = 0; i < entry->input_count || i < entry->output_count; ++i)
      inputs[i] = arena;
    run.outputs = reinterpret_cast<float *const *>(inputs);
    part->device->backend->plan(*this);
    code = entry->forward(&run);
    // The runtime's own steps report failures only by stopped().
    code = code ? code : stopped();
  }
  planning = false;
  failing.store(0);
  failed.store(0);
  if (code == 0)
    return MILLE_OK;
  mille_status status = code > 0 ? (mille_status)code : MILLE_INTERNAL;
  return package->message().set(status, "%s", failure.text);
}

extern "C" mille_status mille_session_measure_device(mille_session *session,
                                                     mille_device *device,
                                                     double *f32, double *i32) {
  if (!session || !device || !f32 || !i32)
    return MILLE_INVALID_ARGUMENT;
  if (!session->part)
    return session->package->message().set(
        MILLE_INVALID_ARGUMENT,
        "a session on the CPU has no device to be measured");
  return session->part->device->backend->measure(*session, *device, *f32, *i32);
}
