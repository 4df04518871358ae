// The functions that Halide's code for devices calls, in terms of the
// runtime's. link merges this file into a model's object with such code and
// makes it local.
// Must not copy buffers: the runtime knows where each lies on the device.
#include "runtime/abi.h"

namespace {
mille_task *taskOf(void *context) { return static_cast<mille_task *>(context); }
const char opencl = 0; // an interface has an address and nothing else
const char cuda = 0;

// Halide counts the text that it wrote, not the one that the compiler made of
// it (compiler/halide/device): the NUL is where it ends.
int giveText(void *context, uint32_t kind, const char *text) {
  size_t length = 0;
  while (text[length]) {
    ++length;
    asm volatile(""); // else compilers call strlen, and kernels link nothing
  }
  return mille_device_module(taskOf(context), kind, text, length);
}
} // namespace

extern "C" {

const void *halide_opencl_device_interface() { return &opencl; }

int halide_opencl_initialize_kernels(void *context, void **, const char *text,
                                     int) {
  return giveText(context, MILLE_MODULE_OPENCL_TEXT, text);
}

void halide_opencl_finalize_kernels(void *, void *) {}

int halide_opencl_run(void *context, void *, const char *entry, int groupsX,
                      int groupsY, int groupsZ, int itemsX, int itemsY,
                      int itemsZ, int localBytes, size_t sizes[],
                      void *arguments[], int8_t isBuffer[]) {
  mille_dispatch dispatch = {entry,
                             {groupsX, groupsY, groupsZ},
                             {itemsX, itemsY, itemsZ},
                             localBytes,
                             sizes,
                             arguments,
                             isBuffer};
  return mille_device_run(taskOf(context), &dispatch);
}

const void *halide_cuda_device_interface() { return &cuda; }

int halide_cuda_initialize_kernels(void *context, void **, const char *text,
                                   int) {
  return giveText(context, MILLE_MODULE_PTX, text);
}

void halide_cuda_finalize_kernels(void *, void *) {}

int halide_cuda_run(void *context, void *module, const char *entry, int groupsX,
                    int groupsY, int groupsZ, int itemsX, int itemsY,
                    int itemsZ, int localBytes, size_t sizes[],
                    void *arguments[], int8_t isBuffer[]) {
  return halide_opencl_run(context, module, entry, groupsX, groupsY, groupsZ,
                           itemsX, itemsY, itemsZ, localBytes, sizes, arguments,
                           isBuffer);
}

int halide_copy_to_device(void *, mille_buffer *, const void *) { return 0; }
int halide_copy_to_host(void *, mille_buffer *) { return 0; }

// The out of a kernel has memory already; only temporaries have none on the
// host.
int halide_device_malloc(void *context, mille_buffer *buffer, const void *) {
  return buffer->host ? 0 : mille_device_allocate(taskOf(context), buffer);
}

int halide_device_free(void *context, mille_buffer *buffer) {
  return buffer->device ? mille_device_release(taskOf(context), buffer) : 0;
}

void halide_device_free_as_destructor(void *context, void *buffer) {
  halide_device_free(context, static_cast<mille_buffer *>(buffer));
}
}
