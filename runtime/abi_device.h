/* Kernels of devices whose arguments follow from their buffers: a table says
 * how, in place of host code. All numbers are uint32, so that a table is a
 * constant array. A part of abi.h. */
#ifndef MILLE_ABI_DEVICE_H
#define MILLE_ABI_DEVICE_H
#include <stdint.h>

/* What a run decides about such a launch. */
enum {
  MILLE_COUNT_ONE = 0,       /* 1 */
  MILLE_COUNT_ROWS = 1,      /* rows of the out */
  MILLE_COUNT_SEQUENCES = 2, /* of a launch by sequences, else 1 */
  MILLE_COUNT_QUERIES = 3,   /* rows of the out in a sequence */
  MILLE_COUNT_KEYS = 4       /* rows of input 1 in a sequence */
};
/* count * times / per, rounded up. */
typedef struct {
  uint32_t count, times, per;
} mille_amount;

enum {
  MILLE_ARGUMENT_ADDRESS = 0, /* 64 bits: of a buffer's first element */
  MILLE_ARGUMENT_TENSOR = 1,  /* 128 bytes: a tensor map of a buffer */
  MILLE_ARGUMENT_AMOUNT = 2,  /* i32: the amount */
  MILLE_ARGUMENT_SCALAR = 3,  /* i32: a scalar of the kernel */
  MILLE_ARGUMENT_ZEROS = 4,   /* 64 bits: of `amount` bytes that are 0 */
  MILLE_ARGUMENT_STARTS = 5,  /* 64 bits: of the starts of experts */
  MILLE_ARGUMENT_PAST = 6,    /* 64 bits: of i32, the rows that the state of
                                 each sequence holds before the run */
  MILLE_ARGUMENT_SCRATCH = 7, /* 64 bits: of memory for this launch, as many
                                 bytes as all extents multiplied */
  MILLE_ARGUMENT_COUNTERS = 8 /* 64 bits: of `amount` bytes that are 0; the
                                 kernel leaves them 0 */
};
#define MILLE_MAX_RANK 5
typedef struct {
  uint32_t kind;   /* MILLE_ARGUMENT_* */
  uint32_t number; /* of a buffer, the out being the last, or of a scalar */
  mille_amount amount;
  /* A tensor map, dimension 0 being the innermost. Its elements are the
   * buffer's; a box lies in shared memory in lines of 128 bytes, swizzled;
   * what lies outside of the tensor reads as 0 and is not written. */
  uint32_t rank;
  uint32_t box[MILLE_MAX_RANK];
  mille_amount extent[MILLE_MAX_RANK];
  mille_amount stride[MILLE_MAX_RANK]; /* in bytes; of dimension 0: not read */
} mille_launch_argument;

/* Blocks of threads: the product of `tiles`, but where blocks_per_unit is not
 * 0 at most as many clusters as the device's units hold, each unit so many
 * blocks; then a block takes one tile after the other. */
typedef struct mille_device_kernel {
  const char *entry;
  const void *cubin; /* null: only the text */
  uint64_t cubin_bytes;
  const char *ptx; /* ends with a NUL */
  uint64_t ptx_bytes;
  uint32_t threads;      /* of a block */
  uint32_t cluster;      /* blocks that share their memory; a tile has one */
  uint32_t shared_bytes; /* of a block */
  uint32_t blocks_per_unit;
  mille_amount tiles[3];
  /* overlaps: 1 where the kernel may start before the kernels before it end,
   * because it waits for them (griddepcontrol.wait) before it writes, and
   * before it reads anything but weights. */
  uint32_t argument_count, overlaps;
  const mille_launch_argument *arguments;
  /* Null, or the kernel that is launched in its place, with the same results,
   * where a sequence has more than most_queries queries. */
  const struct mille_device_kernel *of_long;
  uint32_t most_queries;
  /* 1 where a block has a unit's tensor cores and half of its shared memory for
   * itself: no other block of the launch is on that unit, but one of the next
   * such launch. There are as many blocks as units, if tiles are fewer, but
   * more than half as many; a block without a tile is to end after those of the
   * next launch have begun. */
  uint32_t apart;
  /* Null, or the kernel that is launched behind it, with the same buffers. */
  const struct mille_device_kernel *then;
} mille_device_kernel;

#endif
