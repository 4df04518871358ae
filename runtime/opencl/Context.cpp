// The process's list of contexts, each with its programs. Must not use an
// application's memory functions: a context may outlive the package that opened
// it.
#include "runtime/opencl/Context.h"

#include <pthread.h>

namespace mille::opencl {

struct Program {
  ProgramKey key;
  cl_program program;
  Program *next;
};

namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Context *contexts = nullptr; // the lock guards the list and all contexts

Memory processMemory() { return Memory::from(mille_options{}); }

mille_status addContext(const Library &library, const Found &found,
                        Message &message) {
  Memory memory = processMemory();
  void *room = memory.allocate(memory.user, sizeof(Context), 64);
  if (!room)
    return message.set(MILLE_OUT_OF_MEMORY,
                       "a device needs %zu bytes but memory was refused",
                       sizeof(Context));
  Context *made = new (Place(), room) Context{library, found};
  cl_int error;
  cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, (cl_context_properties)found.platform, 0};
  made->context = library.clCreateContext(properties, 1, &found.device, nullptr,
                                          nullptr, &error);
  if (!made->context) {
    memory.release(memory.user, made);
    return message.set(MILLE_NO_DEVICE, "%s cannot be used: %s",
                       found.info.name, ErrorName(error).text);
  }
  made->next = contexts;
  contexts = made;
  return MILLE_OK;
}

Context *contextOf(const Found &found) {
  Context *context = contexts;
  while (context && context->found.device != found.device)
    context = context->next;
  return context;
}

void destroy(Context &context) {
  Memory memory = processMemory();
  while (Program *first = context.programs) {
    context.programs = first->next;
    context.library.clReleaseProgram(first->program);
    memory.release(memory.user, first);
  }
  context.library.clReleaseContext(context.context);
  memory.release(memory.user, &context);
}

mille_status addProgram(Context &context, const ProgramKey &key,
                        const Text &text, cl_program &program,
                        Message &message) {
  Memory memory = processMemory();
  Program *made = memory.make<Program>();
  if (!made)
    return message.set(MILLE_OUT_OF_MEMORY,
                       "a program needs %zu bytes but memory was refused",
                       sizeof(Program));
  mille_status status = build(memory, context, text, program, message);
  if (status != MILLE_OK) {
    memory.release(memory.user, made);
    return status;
  }
  *made = {key, program, context.programs};
  context.programs = made;
  return MILLE_OK;
}

} // namespace

mille_status enterContext(const Library &library, const Found &found,
                          Context *&context, Message &message) {
  mille_status status = MILLE_OK;
  pthread_mutex_lock(&lock);
  if (!contextOf(found))
    status = addContext(library, found, message);
  context = contextOf(found);
  if (context)
    ++context->users;
  pthread_mutex_unlock(&lock);
  return status;
}

void leaveContext(Context &context) {
  pthread_mutex_lock(&lock);
  if (--context.users == 0) {
    Context **at = &contexts;
    while (*at != &context)
      at = &(*at)->next;
    *at = context.next;
    destroy(context);
  }
  pthread_mutex_unlock(&lock);
}

mille_status programOf(Context &context, const Text &text, cl_program &program,
                       Message &message) {
  const ProgramKey key = keyOf(context, text);
  mille_status status = MILLE_OK;
  pthread_mutex_lock(&lock);
  Program *known = context.programs;
  while (known && !(known->key == key))
    known = known->next;
  if (known)
    program = known->program;
  else
    status = addProgram(context, key, text, program, message);
  pthread_mutex_unlock(&lock);
  return status;
}

} // namespace mille::opencl
