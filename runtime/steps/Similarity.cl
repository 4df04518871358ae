// Dot products of rows (Sum.cl comes before). Each item makes that of one pair.
__kernel void mille_similarity(
  __global const char *left_object, const ulong left_first,
  __global const char *right_object, const ulong right_first,
  __global char *out_object, const ulong out_first,
  const int left_stride, const int right_stride, const int columns,
  const int batch) {
  __global const float *left =
    (__global const float *)(left_object + left_first);
  __global const float *right =
    (__global const float *)(right_object + right_first);
  __global float *out = (__global float *)(out_object + out_first);
  const int j = get_global_id(0), i = get_global_id(1);
  if (j >= batch)
    return;
  Sum s = {0.0f, 0.0f};
  for (int c = 0; c < columns; ++c)
    s = plus(s, left[(long)i * left_stride + c] *
                right[(long)j * right_stride + c]);
  out[(long)i * batch + j] = of(s);
}
