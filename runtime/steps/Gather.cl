// Rows of tokens, some of them side by side: windows, patches. Each item makes
// one element of the out.
__kernel void mille_gather(
  __global const char *input_object, const ulong input_first,
  __global const char *index_object, const ulong index_first,
  __global char *out_object, const ulong out_first,
  const int input_stride, const int columns, const int group,
  const int per_sequence, const int tokens, const int out_stride) {
  __global const float *input =
    (__global const float *)(input_object + input_first);
  __global const int *index = (__global const int *)(index_object + index_first);
  __global float *out = (__global float *)(out_object + out_first);
  const int n = get_global_id(0), m = get_global_id(1);
  if (n >= group * columns)
    return;
  const int part = n / columns;
  const int from = index[m % per_sequence * group + part];
  const long row = (long)(m / per_sequence) * tokens + from;
  out[(long)m * out_stride + n] =
    from < 0 ? 0.0f : input[row * input_stride + n - part * columns];
}
