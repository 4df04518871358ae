// The default of the allocator hook, and checked sizes.
// Must not fail in any other way than by its result.
#include "runtime/Memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mille {

namespace {
constexpr size_t hugePage = 2 << 20;

// Arenas are read and written from end to end, so large pages save TLB misses,
// even where they are half full: 2 % for BERT-base at 128 tokens, whose arena
// has 4 MB.
bool takesHugePages(size_t size) { return size >= hugePage / 2; }
size_t wholePages(size_t size) {
  const size_t page = takesHugePages(size) ? hugePage : 4096;
  return (size + page - 1) / page * page;
}

void *allocateDefault(void *, size_t size, size_t alignment) {
  bool large = takesHugePages(size);
  if (large)
    size = wholePages(size);
  void *memory = nullptr;
  if (posix_memalign(&memory, large ? hugePage : alignment, size))
    return nullptr;
  if (large)
    madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

void releaseDefault(void *, void *memory) { free(memory); }
} // namespace

uint64_t machineBytes() {
  return uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
}

Memory Memory::from(const mille_options &options) {
  if (options.allocate)
    return {options.allocate, options.release, options.memory_user};
  return {allocateDefault, releaseDefault, nullptr};
}

char *Memory::zeros(uint64_t size) const {
  if (allocate != allocateDefault) {
    void *memory = allocate(user, size, 64);
    return memory ? (char *)memset(memory, 0, size) : nullptr;
  }
  // Mapped with a large page to spare, which is cut off at both ends.
  size = wholePages(size);
  const size_t spare = takesHugePages(size) ? hugePage : 0;
  void *mapped = mmap(nullptr, size + spare, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  char *begin = (char *)mapped;
  if (!spare)
    return begin;
  const size_t before = -(uintptr_t)begin % hugePage;
  if (before)
    munmap(begin, before);
  munmap(begin + before + size, spare - before);
  madvise(begin + before, size, MADV_HUGEPAGE);
  return begin + before;
}

void Memory::releaseZeros(char *zeros, uint64_t size) const {
  if (allocate != allocateDefault)
    release(user, zeros);
  else
    munmap(zeros, wholePages(size));
}

bool multiply(uint64_t left, uint64_t right, uint64_t &product) {
  return !__builtin_mul_overflow(left, right, &product);
}

Bytes &Bytes::add(uint64_t more) {
  // Half of the address space is more than any machine has, and leaves room to
  // round up.
  fits = fits && !__builtin_add_overflow(value, more, &value) &&
         value <= (uint64_t)INT64_MAX;
  return *this;
}

uint64_t Bytes::place(uint64_t count, uint64_t size) {
  uint64_t begin = value, bytes = 0;
  fits = fits && multiply(count, size, bytes) && bytes <= (uint64_t)INT64_MAX;
  if (fits)
    add((bytes + 63) & ~(uint64_t)63);
  return begin;
}

mille_status Message::set(mille_status status, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return status;
}

} // namespace mille
