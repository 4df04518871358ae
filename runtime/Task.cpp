// The functions that a kernel may call: scratch memory, and reports of
// failures.
// Must not call the allocator hook.
#include "runtime/Session.h"

#include <stdarg.h>
#include <stdio.h>

namespace {
// The header of a block, in 64 bytes before it: Halide may read 8 bytes on
// either side of a block, so there must be memory.
struct Block {
  uint64_t previous; // where the block under it begins
  uint64_t released;
};
constexpr uint64_t edge = 64;

Block *blockAt(mille_task *task, uint64_t offset) {
  return reinterpret_cast<Block *>(task->scratch + offset);
}
} // namespace

extern "C" {

void *mille_task_allocate(mille_task *task, size_t bytes) {
  uint64_t room = task->scratchBytes - task->used;
  if (bytes > room || room - bytes < 2 * edge) {
    mille_task_fail(task, MILLE_OUT_OF_MEMORY,
                    "a kernel asks for %zu bytes of scratch but %llu of %llu "
                    "are left",
                    bytes, (unsigned long long)room,
                    (unsigned long long)task->scratchBytes);
    return nullptr;
  }
  Block *block = blockAt(task, task->used);
  *block = {task->top, 0};
  task->top = task->used;
  task->used += edge + ((bytes + edge - 1) & ~(edge - 1));
  return (char *)block + edge;
}

void mille_task_release(mille_task *task, void *memory) {
  if (!memory)
    return;
  reinterpret_cast<Block *>((char *)memory - edge)->released = 1;
  // Blocks are released in almost the reverse order: pop all that are free.
  while (task->used > 0 && blockAt(task, task->top)->released) {
    task->used = task->top;
    task->top = blockAt(task, task->top)->previous;
  }
}

int32_t mille_task_fail(mille_task *task, int32_t code, const char *format,
                        ...) {
  mille_session &session = *task->session;
  if (!session.failing.change(0, 1))
    return code;
  va_list values;
  va_start(values, format);
  vsnprintf(session.failure.text, sizeof session.failure.text, format, values);
  va_end(values);
  return code;
}
}
