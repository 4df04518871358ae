// A sanitizer's options, for programs that lit does not start. LLVM's
// allocators poison memory that LLVM's code without instrumentation then uses,
// which is no fault.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}
