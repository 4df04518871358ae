// Makes programs: takes them from the cache on disk, or has the driver compile
// them.
// Must not know what a kernel computes.
#include "runtime/opencl/Context.h"

#include <string.h>

namespace mille::opencl {
namespace {

// Halide's texts need these two limits, which decide what goes into constant
// memory; 0 puts nothing there.
constexpr char options[] = "-DMAX_CONSTANT_BUFFER_SIZE=0 -DMAX_CONSTANT_ARGS=0";

bool compile(const Context &context, cl_program program) {
  return context.library.clBuildProgram(program, 1, &context.found.device,
                                        options, nullptr,
                                        nullptr) == CL_SUCCESS;
}

cl_program fromDisk(const Memory &memory, const Context &context,
                    const Text &text) {
  size_t size = 0;
  unsigned char *bytes = readBinary(memory, keyOf(context, text), size);
  if (!bytes)
    return nullptr;
  const unsigned char *binary = bytes;
  cl_int status, error;
  const Library &cl = context.library;
  cl_program program =
      cl.clCreateProgramWithBinary(context.context, 1, &context.found.device,
                                   &size, &binary, &status, &error);
  memory.release(memory.user, bytes);
  // A driver may refuse a binary that an older driver made.
  if (program && !compile(context, program)) {
    cl.clReleaseProgram(program);
    program = nullptr;
  }
  return program;
}

void keepOnDisk(const Memory &memory, const Context &context, const Text &text,
                cl_program program) {
  const Library &cl = context.library;
  size_t size = 0;
  if (cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size,
                          nullptr) != CL_SUCCESS ||
      !size)
    return;
  auto *bytes = (unsigned char *)memory.allocate(memory.user, size, 64);
  if (bytes && cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes,
                                   &bytes, nullptr) == CL_SUCCESS)
    writeBinary(keyOf(context, text), bytes, size);
  if (bytes)
    memory.release(memory.user, bytes);
}

// Puts the driver's log into the message, cut to the message's length.
mille_status refuse(const Context &context, cl_program program,
                    Message &message) {
  char log[16384] = "";
  context.library.clGetProgramBuildInfo(program, context.found.device,
                                        CL_PROGRAM_BUILD_LOG, sizeof log - 1,
                                        log, nullptr);
  return message.set(MILLE_NO_DEVICE, "%s cannot compile a kernel: %s",
                     context.found.info.name, log[0] ? log : "it gives no log");
}

} // namespace

mille_status build(const Memory &memory, const Context &context,
                   const Text &text, cl_program &program, Message &message) {
  program = fromDisk(memory, context, text);
  if (program)
    return MILLE_OK;
  cl_int error;
  const char *begin = text.begin;
  program = context.library.clCreateProgramWithSource(
      context.context, 1, &begin, &text.size, &error);
  if (!program)
    return message.set(MILLE_NO_DEVICE, "%s takes no kernel: %s",
                       context.found.info.name, ErrorName(error).text);
  if (compile(context, program)) {
    keepOnDisk(memory, context, text, program);
    return MILLE_OK;
  }
  mille_status status = refuse(context, program, message);
  context.library.clReleaseProgram(program);
  program = nullptr;
  return status;
}

} // namespace mille::opencl
