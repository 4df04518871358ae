// Programs: from the cache on disk, or compiled by the device's driver.
// Must not know what a kernel computes.
#include "runtime/opencl/Device.h"

#include <string.h>

namespace mille::opencl {
namespace {

// Halide's texts put small tables into constant memory by these; there are none.
constexpr char options[] = "-DMAX_CONSTANT_BUFFER_SIZE=0 -DMAX_CONSTANT_ARGS=0";

bool compile(const Device &device, cl_program program) {
  return device.library.clBuildProgram(program, 1, &device.found.device, options,
                                       nullptr, nullptr) == CL_SUCCESS;
}

cl_program fromDisk(const Memory &memory, const Device &device,
                    const char *text) {
  size_t size = 0;
  unsigned char *bytes = readBinary(memory, device, text, size);
  if (!bytes)
    return nullptr;
  const unsigned char *binary = bytes;
  cl_int status, error;
  const Library &cl = device.library;
  cl_program program = cl.clCreateProgramWithBinary(
      device.context, 1, &device.found.device, &size, &binary, &status, &error);
  memory.release(memory.user, bytes);
  // A driver may refuse what an older one made.
  if (program && !compile(device, program)) {
    cl.clReleaseProgram(program);
    program = nullptr;
  }
  return program;
}

void keepOnDisk(const Memory &memory, const Device &device, const char *text,
                cl_program program) {
  const Library &cl = device.library;
  size_t size = 0;
  if (cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size,
                          nullptr) != CL_SUCCESS ||
      !size)
    return;
  auto *bytes = (unsigned char *)memory.allocate(memory.user, size, 64);
  if (bytes && cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes,
                                   &bytes, nullptr) == CL_SUCCESS)
    writeBinary(device, text, bytes, size);
  if (bytes)
    memory.release(memory.user, bytes);
}

// The driver's words, as far as there is room for them.
mille_status refuse(const Device &device, cl_program program,
                    Message &message) {
  char log[16384] = "";
  device.library.clGetProgramBuildInfo(program, device.found.device,
                                       CL_PROGRAM_BUILD_LOG, sizeof log - 1, log,
                                       nullptr);
  return message.set(MILLE_NO_DEVICE, "%s cannot compile a kernel: %s",
                     device.found.info.name, log[0] ? log : "it gives no log");
}

} // namespace

mille_status build(mille_package &package, Device &device, const char *text,
                   cl_program &program, Message &message) {
  program = fromDisk(package.memory, device, text);
  if (program)
    return MILLE_OK;
  cl_int error;
  program = device.library.clCreateProgramWithSource(device.context, 1, &text,
                                                     nullptr, &error);
  if (!program)
    return message.set(MILLE_NO_DEVICE, "%s takes no kernel: %s",
                       device.found.info.name, ErrorName(error).text);
  if (compile(device, program)) {
    keepOnDisk(package.memory, device, text, program);
    return MILLE_OK;
  }
  mille_status status = refuse(device, program, message);
  device.library.clReleaseProgram(program);
  program = nullptr;
  return status;
}

} // namespace mille::opencl
