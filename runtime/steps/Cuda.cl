// What OpenCL C's texts of this folder need of a device of CUDA: clang compiles
// them to PTX, without OpenCL's library. Included first.
#define MOST_EXPERTS 1024

#define INLINE static inline __attribute__((always_inline, overloadable))

// Of a kernel that may start before those before it end, from compute capability
// 9.0 on. The next one may start too: it takes the room that this one leaves.
#ifdef EARLY
#define ADMIT_NEXT_KERNEL()                                                  \
  __asm__ volatile("griddepcontrol.launch_dependents;" ::: "memory")
#define WAIT_FOR_EARLIER_KERNELS()                                           \
  __asm__ volatile("griddepcontrol.wait;" ::: "memory")
#endif

INLINE int get_group_id(const uint d) {
  return d ? __nvvm_read_ptx_sreg_ctaid_y() : __nvvm_read_ptx_sreg_ctaid_x();
}
INLINE int get_local_id(const uint d) {
  return d ? __nvvm_read_ptx_sreg_tid_y() : __nvvm_read_ptx_sreg_tid_x();
}
INLINE int get_global_id(const uint d) {
  const int size =
    d ? __nvvm_read_ptx_sreg_ntid_y() : __nvvm_read_ptx_sreg_ntid_x();
  return get_group_id(d) * size + get_local_id(d);
}
INLINE void barrier(const int fence) { __syncthreads(); }
INLINE float fabs(const float x) { return __builtin_fabsf(x); }
INLINE float fmax(const float x, const float y) {
  return __builtin_fmaxf(x, y);
}
INLINE bool isfinite(const float x) { return fabs(x) < INFINITY; }
INLINE int min(const int x, const int y) { return x < y ? x : y; }
INLINE float16 fma(const float16 x, const float16 y, const float16 z) {
  return __builtin_elementwise_fma(x, y, z);
}
// 2^(x log2 e): what the product rounds off is a factor of its own.
INLINE float exp(const float x) {
  const float high = 1.44269502f, low = 1.92596299e-8f;
  const float product = x * high;
  const float rest =
    x > -200.0f && x < 200.0f
      ? __builtin_fmaf(x, high, -product) + x * low : 0.0f;
  const float power = __nvvm_ex2_approx_f(product);
  return __builtin_fmaf(power, rest * 0.693147181f, power);
}
INLINE void vstore16(const float16 x, const int at, float *to) {
  _Pragma("unroll") for (int i = 0; i < 16; i++) to[i] = x[i];
}
INLINE void vstore16(const int16 x, const int at, int *to) {
  _Pragma("unroll") for (int i = 0; i < 16; i++) to[i] = x[i];
}
