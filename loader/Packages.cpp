// The functions of mille.h that take a package: each calls the package's own
// runtime. Must not know what they do.
#include "loader/Handles.h"
#include "loader/mille_loader.h"

#include <stdlib.h>

extern "C" {

mille_status mille_package_close(mille_package *package) {
  if (!package)
    return MILLE_OK;
  mille_status status =
      package->functions().mille_package_close(package->inner);
  if (status != MILLE_OK)
    return status;
  package->library->leave();
  free(package);
  return MILLE_OK;
}

const char *mille_package_message(const mille_package *package) {
  if (!package || mille::handleMessage()[0])
    return mille::handleMessage();
  return package->functions().mille_package_message(package->inner);
}

mille_status mille_package_devices(mille_package *package, const char *backend,
                                   mille_device *devices, size_t room,
                                   size_t *count, char *message,
                                   size_t message_size) {
  return package ? package->functions().mille_devices(
                       backend, devices, room, count, message, message_size)
                 : MILLE_INVALID_ARGUMENT;
}

mille_status mille_package_entry_count(mille_package *package, size_t *count) {
  return MILLE_FORWARD(package, mille_package_entry_count, count);
}
mille_status mille_package_entry(mille_package *package, size_t entry,
                                 mille_entry_info *info) {
  return MILLE_FORWARD(package, mille_package_entry, entry, info);
}
mille_status mille_package_find_entry(mille_package *package, const char *name,
                                      size_t *entry) {
  return MILLE_FORWARD(package, mille_package_find_entry, name, entry);
}
mille_status mille_package_entry_input(mille_package *package, size_t entry,
                                       size_t index, mille_tensor *tensor) {
  return MILLE_FORWARD(package, mille_package_entry_input, entry, index,
                       tensor);
}
mille_status mille_package_entry_output(mille_package *package, size_t entry,
                                        size_t index, mille_tensor *tensor) {
  return MILLE_FORWARD(package, mille_package_entry_output, entry, index,
                       tensor);
}
mille_status mille_package_input_count(mille_package *package, size_t *count) {
  return MILLE_FORWARD(package, mille_package_input_count, count);
}
mille_status mille_package_output_count(mille_package *package, size_t *count) {
  return MILLE_FORWARD(package, mille_package_output_count, count);
}
mille_status mille_package_input(mille_package *package, size_t index,
                                 mille_tensor *tensor) {
  return MILLE_FORWARD(package, mille_package_input, index, tensor);
}
mille_status mille_package_output(mille_package *package, size_t index,
                                  mille_tensor *tensor) {
  return MILLE_FORWARD(package, mille_package_output, index, tensor);
}
mille_status mille_package_size_count(mille_package *package, size_t *count) {
  return MILLE_FORWARD(package, mille_package_size_count, count);
}
mille_status mille_package_size(mille_package *package, size_t index,
                                const char **name, int64_t *most) {
  return MILLE_FORWARD(package, mille_package_size, index, name, most);
}
mille_status mille_package_size_value(mille_package *package,
                                      const mille_size *sizes, size_t count,
                                      const char *name, int64_t *value) {
  return MILLE_FORWARD(package, mille_package_size_value, sizes, count, name,
                       value);
}
mille_status mille_package_name(mille_package *package, const char **name) {
  return MILLE_FORWARD(package, mille_package_name, name);
}
mille_status mille_package_isa(mille_package *package, const char **isa) {
  return MILLE_FORWARD(package, mille_package_isa, isa);
}
mille_status mille_package_weights_bytes(mille_package *package,
                                         uint64_t *bytes) {
  return MILLE_FORWARD(package, mille_package_weights_bytes, bytes);
}
mille_status mille_package_hash(mille_package *package, uint64_t *hash) {
  return MILLE_FORWARD(package, mille_package_hash, hash);
}
mille_status mille_package_scale_count(mille_package *package, size_t *count) {
  return MILLE_FORWARD(package, mille_package_scale_count, count);
}
mille_status mille_package_scale(mille_package *package, size_t index,
                                 mille_scale *scale) {
  return MILLE_FORWARD(package, mille_package_scale, index, scale);
}
mille_status mille_package_state_count(mille_package *package, size_t *count) {
  return MILLE_FORWARD(package, mille_package_state_count, count);
}
mille_status mille_package_state(mille_package *package, size_t index,
                                 mille_tensor *tensor) {
  return MILLE_FORWARD(package, mille_package_state, index, tensor);
}
}
