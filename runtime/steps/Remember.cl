// Each sequence's rows of the run go behind the rows that its state holds. A
// group has one row; a row for which the state has no room is dropped.
#define ITEMS 64
#ifndef WAIT_FOR_EARLIER_KERNELS
#define WAIT_FOR_EARLIER_KERNELS()
#endif
__kernel void mille_remember(
  __global const char *input_object, const ulong input_first,
  __global const char *past_object, const ulong past_first,
  __global char *entry_object, const ulong entry_first,
  const int has_past, const int input_stride, const int row_bytes,
  const int tokens, const int state_rows, const int unit) {
  WAIT_FOR_EARLIER_KERNELS();
  const int row = get_group_id(0), sequence = row / tokens;
  int place = row % tokens;
  if (has_past)
    place += ((__global const int *)(past_object + past_first))[sequence];
  if (place < 0 || place >= state_rows)
    return;
  __global const char *from =
    input_object + input_first + (long)row * input_stride;
  __global char *to = entry_object + entry_first +
    ((long)sequence * state_rows + place) * row_bytes;
  const int item = get_local_id(0);
  if (unit == 16)
    for (int i = item; i < row_bytes / 16; i += ITEMS)
      ((__global int4 *)to)[i] = ((__global const int4 *)from)[i];
  else if (unit == 4)
    for (int i = item; i < row_bytes / 4; i += ITEMS)
      ((__global int *)to)[i] = ((__global const int *)from)[i];
  else
    for (int i = item; i < row_bytes / 2; i += ITEMS)
      ((__global short *)to)[i] = ((__global const short *)from)[i];
}
