// What a sanitizer reads before main, of programs that lit does not start.
// LLVM's allocators poison what its uninstrumented half then uses, which is no
// fault.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}
