// The compiler as a library: five compiles in one process, four of which fail.
// Messages arrive as data and nothing is printed. The process stays as it was:
// signals, handlers, environment, working folder, file mask.
//
// RUN: rm -rf %t && mkdir %t
// RUN: cp %S/Inputs/misspelt.json %t/spec.json
// RUN: env HL_LLVM_ARGS=-before %programs/driver-library %t/spec.json \
// RUN:   %source/test/conformance/native/pre_layer_norm/spec.json %t/library \
// RUN:   %build/lib 2> %t/stderr | FileCheck %s
// RUN: count 0 < %t/stderr
// RUN: %mille compile \
// RUN:   %source/test/conformance/native/pre_layer_norm/spec.json \
// RUN:   --name=tiny --target=x86-64-v3 --no-cache -o %t/tool
// RUN: diff -r %t/tool %t/library
//
// CHECK: error at spec.json:1:1: the spec has no hidden_size
// CHECK-NEXT: error at spec.json:3:3: key 'hidden_sise' of the spec is unknown
// CHECK-NEXT: help: did you mean 'hidden_size'?
// CHECK-NEXT: error at spec.json:5:12: the spec has no units
// CHECK-NEXT: status 1
// CHECK-NEXT: error at :0:0: targets is 'z80' but must be one of host, {{.*}}
// CHECK-NEXT: status 2
// CHECK-NEXT: error at :0:0: stopAfter is 'link' but must be one of import,
// CHECK-NEXT: error at :0:0: folder is '' but must be a place for the package
// CHECK: remark at
// CHECK: status 0, worked on kernels
// CHECK-NEXT: printed 0 bytes
// CHECK-NEXT: the process is as it was
#include "compiler/driver/Compile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

using namespace mille;

namespace {

// The state of the process that a library must not change.
struct Process {
  std::vector<std::string> environment;
  std::vector<std::pair<void *, int>> signals;
  std::new_handler outOfMemory = std::get_new_handler();
  std::terminate_handler terminated = std::get_terminate();
  stack_t alternate = {};
  mode_t mask;
  llvm::SmallString<256> folder;

  // The C library adds it to what it is told.
  static constexpr int restorer = 0x04000000;

  Process() {
    for (char **text = environ; *text; ++text)
      environment.push_back(*text);
    for (int number = 1; number < NSIG; ++number) {
      struct sigaction action = {};
      sigaction(number, nullptr, &action);
      signals.emplace_back(reinterpret_cast<void *>(action.sa_handler),
                           action.sa_flags & ~restorer);
    }
    sigaltstack(nullptr, &alternate);
    mask = umask(0);
    umask(mask);
    llvm::sys::fs::current_path(folder);
  }

  std::string differenceFrom(const Process &before) const {
    if (environment != before.environment)
      return "environment";
    for (size_t i = 0; i < signals.size(); ++i)
      if (signals[i] != before.signals[i])
        return "signal " + std::to_string(i + 1);
    if (outOfMemory != before.outOfMemory || terminated != before.terminated)
      return "handlers";
    if (alternate.ss_sp != before.alternate.ss_sp)
      return "the stack of signals";
    if (mask != before.mask || folder != before.folder)
      return "folder or file mask";
    return {};
  }
};

// Takes what would be printed.
class Capture {
public:
  Capture() {
    fflush(stdout);
    for (int file : {1, 2}) {
      kept[file - 1] = dup(file);
      dup2(fileno(taken), file);
    }
  }
  // Ends it; gives how many bytes there were.
  long end() {
    fflush(stdout);
    fflush(stderr);
    for (int file : {1, 2})
      dup2(kept[file - 1], file);
    return lseek(fileno(taken), 0, SEEK_END);
  }

private:
  FILE *taken = tmpfile();
  int kept[2];
};

struct Collected : Diagnostics {
  std::vector<Diagnostic> all;
  void report(const Diagnostic &diagnostic) override {
    all.push_back(diagnostic);
  }
};

void print(const Collected &collected) {
  for (const Diagnostic &one : collected.all) {
    printf("%s at %s:%u:%u: %s\n",
           one.kind == Diagnostic::Kind::error ? "error" : "remark",
           llvm::sys::path::filename(one.file).str().c_str(), one.line,
           one.column, one.text.c_str());
    for (const std::string &help : one.help)
      printf("help: %s\n", help.c_str());
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  CompileRequest request;
  request.model = argv[1];
  request.folder = argv[3];
  request.name = "tiny";
  request.runtimeFolder = argv[4];
  request.cache = false;
  request.targets = {"x86-64-v3"};
  std::atomic<bool> kernels = false;
  request.observer.working = [&](const std::string &what) {
    kernels = kernels || llvm::StringRef(what).starts_with("kernels: ");
  };
  Collected misspelt, unknown, nowhere, good;
  const Process before;
  Capture capture;
  Status first = compile(request, misspelt);
  request.model = argv[2];
  request.targets = {"z80"};
  Status second = compile(request, unknown);
  request.targets = {"x86-64-v3"};
  request.stopAfter = Stage::link; // which prints nothing
  request.folder = "";
  compile(request, nowhere);
  request.stopAfter = std::nullopt;
  compile(request, nowhere);
  request.folder = argv[3];
  request.remarks = {"plan"};
  Status third = compile(request, good);
  long bytes = capture.end();
  const Process after;

  print(misspelt);
  printf("status %d\n", int(first));
  print(unknown);
  printf("status %d\n", int(second));
  print(nowhere);
  print(good);
  printf("status %d%s\n", int(third), kernels ? ", worked on kernels" : "");
  printf("printed %ld bytes\n", bytes);
  std::string changed = after.differenceFrom(before);
  printf("%s%s\n", changed.empty() ? "the process is as it was" : "changed: ",
         changed.c_str());
  return 0;
}
