// What the packages of a process share of a device: its context, and the
// programs made of kernels' texts. Kept as long as one of them has the device
// open.
#pragma once
#include "runtime/opencl/Devices.h"

#include <string.h>

namespace mille::opencl {

struct Program;

// A program's OpenCL C.
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

// Counts one more user. From several threads, as what follows.
mille_status enterContext(const Library &library, const Found &found,
                          Context *&context, Message &message);
void leaveContext(Context &context);

// The program of a text, compiled once.
mille_status programOf(Context &context, const Text &text, cl_program &program,
                       Message &message);

// Makes a text's program, from the cache on disk or anew. Build.cpp.
mille_status build(const Memory &memory, const Context &context,
                   const Text &text, cl_program &program, Message &message);

// What a program depends on, in 128 bits.
struct ProgramKey {
  uint64_t half[2];
  bool operator==(const ProgramKey &other) const {
    return half[0] == other.half[0] && half[1] == other.half[1];
  }
};
ProgramKey keyOf(const Context &context, const Text &text);

// What is kept on disk of a program; null: nothing. To be released.
unsigned char *readBinary(const Memory &memory, const ProgramKey &key,
                          size_t &size);
void writeBinary(const ProgramKey &key, const unsigned char *bytes,
                 size_t size);

} // namespace mille::opencl
