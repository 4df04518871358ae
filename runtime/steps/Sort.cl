// A stable counting sort of slots by expert: each expert has a work-group of 64
// items, and each item takes one contiguous part of the slots, so the slots of
// an expert keep their order.
#define ITEMS 64
__kernel void mille_sort(
  __global const char *experts_object, const ulong experts_first,
  __global char *order_object, const ulong order_first,
  __global char *place_object, const ulong place_first,
  __global char *starts_object, const ulong starts_first,
  const int slots, const int k, const int entries) {
  __local int before[ITEMS], own[ITEMS];
  __global const int *experts =
    (__global const int *)(experts_object + experts_first);
  __global int *order = (__global int *)(order_object + order_first);
  __global int *place = (__global int *)(place_object + place_first);
  __global int *starts = (__global int *)(starts_object + starts_first);
  const int expert = get_group_id(0), item = get_local_id(0);
  const int each = (slots + ITEMS - 1) / ITEMS;
  const int from = min(item * each, slots), end = min(from + each, slots);
  int smaller = 0, equal = 0;
  for (int s = from; s < end; ++s) {
    smaller += experts[s] < expert;
    equal += experts[s] == expert;
  }
  before[item] = smaller;
  own[item] = equal;
  barrier(CLK_LOCAL_MEM_FENCE);
  int at = 0;
  for (int i = 0; i < ITEMS; ++i)
    at += before[i];
  if (item == 0)
    starts[expert] = at;
  if (item == 0 && expert + 1 == entries)
    starts[entries] = slots;
  for (int i = 0; i < item; ++i)
    at += own[i];
  for (int s = from; s < end; ++s)
    if (experts[s] == expert) {
      order[at] = s / k;
      place[s] = at++;
    }
}
