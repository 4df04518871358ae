// The part of a device that all packages of a process share: its context, and
// the programs made from kernels' texts. It lives while any package has the
// device open.
#pragma once
#include "runtime/opencl/Devices.h"

#include <string.h>

namespace mille::opencl {

struct Program;

// A program as OpenCL C text.
struct Text {
  Text(const char *text) : begin(text), size(strlen(text)) {}
  Text(const char *begin, size_t size) : begin(begin), size(size) {}
  const char *begin; // need not end with a NUL
  size_t size;
};

struct Context {
  const Library library;
  const Found found;
  cl_context context = nullptr;
  Program *programs = nullptr;
  uint32_t users = 0;
  Context *next = nullptr;
};

// Finds or makes the device's context and counts one more user. This and the
// functions below may be called from several threads at once.
mille_status enterContext(const Library &library, const Found &found,
                          Context *&context, Message &message);
void leaveContext(Context &context);

// The program of a text, which is made at the first call.
mille_status programOf(Context &context, const Text &text, cl_program &program,
                       Message &message);

// Makes a text's program: reads it from the cache on disk, or compiles it.
// Defined in Build.cpp.
mille_status build(const Memory &memory, const Context &context,
                   const Text &text, cl_program &program, Message &message);

// A hash of everything that a program depends on, 128 bits.
struct ProgramKey {
  uint64_t half[2];
  bool operator==(const ProgramKey &other) const {
    return half[0] == other.half[0] && half[1] == other.half[1];
  }
};
ProgramKey keyOf(const Context &context, const Text &text);

// A program's binary from the cache on disk, or null if it is not there. The
// caller releases it.
unsigned char *readBinary(const Memory &memory, const ProgramKey &key,
                          size_t &size);
void writeBinary(const ProgramKey &key, const unsigned char *bytes,
                 size_t size);

} // namespace mille::opencl
