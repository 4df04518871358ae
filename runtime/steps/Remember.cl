// Each sequence's rows of the run go behind the rows that its state holds. A
// group has one row; a row for which the state has no room is dropped. Groups
// of a second dimension copy to another state, of as many rows.
#define ITEMS 64
#ifndef WAIT_FOR_EARLIER_KERNELS
#define WAIT_FOR_EARLIER_KERNELS()
#define ADMIT_NEXT_KERNEL()
#endif
__kernel void mille_remember(
  __global const char *input_object, const ulong input_first,
  __global const char *past_object, const ulong past_first,
  __global char *entry_object, const ulong entry_first,
  __global const char *other_object, const ulong other_first,
  __global char *other_entry_object, const ulong other_entry_first,
  const int has_past, const int tokens, const int state_rows,
  const int first_stride, const int first_bytes, const int first_unit,
  const int other_stride, const int other_bytes, const int other_unit) {
  ADMIT_NEXT_KERNEL();
  const bool other = get_group_id(1) > 0;
  const int input_stride = other ? other_stride : first_stride;
  const int row_bytes = other ? other_bytes : first_bytes;
  const int unit = other ? other_unit : first_unit;
  const int row = get_group_id(0), sequence = row / tokens;
  int place = row % tokens;
  if (has_past)
    place += ((__global const int *)(past_object + past_first))[sequence];
  WAIT_FOR_EARLIER_KERNELS(); // none of which writes an input of the run
  if (place < 0 || place >= state_rows)
    return;
  __global const char *from =
    (other ? other_object + other_first : input_object + input_first) +
    (long)row * input_stride;
  __global char *to =
    (other ? other_entry_object + other_entry_first
           : entry_object + entry_first) +
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
