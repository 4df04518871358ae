// The mean of rows of each sequence (Sum.cl comes before). Each item makes one
// column of one sequence.
__kernel void mille_mean(
  __global const char *input_object, const ulong input_first,
  __global const char *mask_object, const ulong mask_first,
  __global char *out_object, const ulong out_first,
  const int masked, const int input_stride, const int columns,
  const int tokens, const int first, const int out_stride) {
  __global const float *input =
    (__global const float *)(input_object + input_first);
  __global const int *mask = (__global const int *)(mask_object + mask_first);
  __global float *out = (__global float *)(out_object + out_first);
  const int n = get_global_id(0), sequence = get_global_id(1);
  if (n >= columns)
    return;
  Sum s = {0.0f, 0.0f};
  int count = 0;
  for (int t = first; t < tokens; ++t) {
    const long row = (long)sequence * tokens + t;
    if (masked && !mask[row])
      continue;
    s = plus(s, input[row * input_stride + n]);
    ++count;
  }
  out[(long)sequence * out_stride + n] = count ? of(s) / count : 0.0f;
}
