// Linear attention, token by token. A group has a head of a sequence, an item
// some columns of its sum [head_dim, value_dim] and of its out:
// sum = sum * exp(-decay) + k v^T; out = scale q sum.
#define ITEMS 64
__kernel void mille_recur(
  __global const char *query_object, const ulong query_first,
  __global const char *key_object, const ulong key_first,
  __global const char *value_object, const ulong value_first,
  __global const char *mask_object, const ulong mask_first,
  __global const char *decay_object, const ulong decay_first,
  __global const char *past_object, const ulong past_first,
  __global char *entry_object, const ulong entry_first,
  __global char *out_object, const ulong out_first,
  const int query_stride, const int key_stride, const int value_stride,
  const int out_stride, const int masked, const int heads, const int kv_heads,
  const int head_dim, const int value_dim, const int tokens, const int ends,
  const float scale) {
  const int sequence = get_group_id(0) / heads;
  const int head = get_group_id(0) % heads;
  const int kv_head = head / (heads / kv_heads);
  const long row = (long)sequence * tokens;
  __global const float *query =
    (__global const float *)(query_object + query_first) + row * query_stride +
    head * head_dim;
  __global const float *key =
    (__global const float *)(key_object + key_first) + row * key_stride +
    kv_head * head_dim;
  __global const float *value =
    (__global const float *)(value_object + value_first) + row * value_stride +
    kv_head * value_dim;
  __global const int *mask =
    (__global const int *)(mask_object + mask_first) + row;
  __global float *out = (__global float *)(out_object + out_first) +
    row * out_stride + head * value_dim;
  __global float *sum = (__global float *)(entry_object + entry_first) +
    (long)get_group_id(0) * head_dim * value_dim;
  const float kept =
    exp(-((__global const float *)(decay_object + decay_first))[head]);
  const int held =
    ((__global const int *)(past_object + past_first))[sequence];
  int end = tokens; // what follows is padding
  while (masked && ends && end > 1 && !mask[end - 1])
    --end;
  for (int j = get_local_id(0); j < value_dim; j += ITEMS) {
    if (!held)
      for (int i = 0; i < head_dim; ++i)
        sum[i * value_dim + j] = 0.0f;
    for (int m = end; m < tokens; ++m)
      out[(long)m * out_stride + j] = 0.0f;
    for (int m = 0; m < end; ++m) {
      const int seen = !masked || mask[m];
      float to = 0.0f;
      for (int i = 0; i < head_dim; ++i) {
        float next = sum[i * value_dim + j] * kept;
        if (seen)
          next += key[(long)m * key_stride + i] * value[(long)m * value_stride + j];
        sum[i * value_dim + j] = next;
        to += query[(long)m * query_stride + i] * scale * next;
      }
      out[(long)m * out_stride + j] = to;
    }
  }
}
