/* What tests see of FakeCuda.cpp: the form of its kernels, and what it
 * counted. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_CUDA_MAGIC "FAKECUDA"
/* Stands for a cubin: a kernel that the host computes, all blocks at once. */
typedef struct {
  __attribute__((nonstring)) char magic[8];
  const char *name;
  void (*function)(void **arguments, const unsigned blocks[3], unsigned shared);
  uint32_t arguments;
  uint32_t argument_bytes[20];
} fake_cuda_kernel;

/* The step that remembers (runtime/steps/Remember.cl), whose text is not
 * executed. */
extern const fake_cuda_kernel fake_cuda_remember;

typedef struct {
  /* alive now */
  size_t device_pieces, pinned_pieces;
  int contexts, pushed, modules, streams, events, graphs, live_instances;
  /* so far */
  int maps, launches, overlapping, waits, instances, graph_launches,
      device_copies, wide; /* wide: blocks with more than half of a unit */
  const void *read_to;     /* the host's memory, of the last copy to it */
} fake_cuda_counts;
fake_cuda_counts *fake_cuda(void);

#ifdef __cplusplus
}
#endif
#endif
