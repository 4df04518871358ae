/* The head of the weights file. A part of abi.h.
 * header | table (u64, table_count) | tensors, each 64-byte aligned. Nothing
 * else lies between them. Before a run reads any tensor, the runtime checks
 * each table entry against what the code reads there.
 * A kernel.weight outside `layers` has one table entry. A `layers` op has a
 * block of entries. The block has a row per layer: the number of the layer's
 * body, then an entry per distinct weight op of that body. All rows are as long
 * as the longest body needs. */
#ifndef MILLE_ABI_WEIGHTS_H
#define MILLE_ABI_WEIGHTS_H
#include <stdint.h>

#define MILLE_WEIGHTS_MAGIC "MILLEWT\1"
#define MILLE_WEIGHTS_VERSION 1
typedef struct {
  char magic[8];
  uint32_t version, reserved;
  /* hash: FNV-1a-64 over 8-byte words after the header */
  uint64_t total_bytes, hash;
  uint64_t table_offset, table_count;
  uint64_t data_offset; /* mille_run.weights points here */
  char model[64];       /* name, NUL-terminated */
} mille_weights_header;
#endif
