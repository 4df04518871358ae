// Calls lld as a library, with the C library that this process uses, so the
// machine needs no compiler or its files. Must not know a model.
#include "compiler/link/Objects.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <link.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace mille::link {
namespace {

// A file in memory, with a path that lld can open.
class MemoryFile {
public:
  explicit MemoryFile(StringRef text)
      : file(memfd_create("mille", MFD_CLOEXEC)) {
    raw_fd_ostream(file, /*shouldClose=*/false) << text;
  }
  ~MemoryFile() { ::close(file); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file); }

private:
  int file;
};

// The paths of libc, libm and the loader, which has thread-local storage.
// Without libc the library's symbols would have no versions, and would bind to
// the oldest ones.
std::vector<std::string> systemLibraries() {
  std::vector<std::string> found;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        StringRef name = sys::path::filename(info->dlpi_name);
        if (name == "libc.so.6" || name == "libm.so.6" ||
            name.starts_with("ld-linux"))
          static_cast<std::vector<std::string> *>(data)->push_back(
              info->dlpi_name);
        return 0;
      },
      &found);
  return found;
}

Problem runLinker(const std::vector<std::string> &words) {
  static std::mutex one; // lld keeps its state in global variables
  std::lock_guard<std::mutex> guard(one);
  std::vector<const char *> arguments{"ld.lld"};
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  std::string said;
  raw_string_ostream stream(said);
  lld::Result result =
      lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0)
    return "";
  StringRef text = StringRef(said).trim();
  text.consume_front("ld.lld: error: ");
  return text.empty() ? "the linker failed without a word" : text.str();
}

void append(std::vector<std::string> &words, ArrayRef<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
}

} // namespace

Problem linkRelocatable(ArrayRef<std::string> objects,
                        ArrayRef<std::string> archives, StringRef output) {
  std::vector<std::string> words{"-r", "-o", output.str()};
  append(words, objects);
  append(words, archives);
  return runLinker(words);
}

Problem linkShared(ArrayRef<std::string> objects,
                   ArrayRef<std::string> archives,
                   ArrayRef<std::string> exports, StringRef output) {
  std::string script = "{ global: ";
  for (const std::string &name : exports)
    script += name + "; ";
  MemoryFile versions(script + "local: *; };\n");
  std::vector<std::string> words{"-shared",
                                 "-o",
                                 output.str(),
                                 "-soname=" + sys::path::filename(output).str(),
                                 "--version-script=" + versions.path(),
                                 "--gc-sections",
                                 "--build-id=none",
                                 "-Bsymbolic",
                                 "-z",
                                 "noexecstack",
                                 "-z",
                                 "relro",
                                 "-z",
                                 "now",
                                 "-z",
                                 "defs"};
  append(words, objects);
  words.push_back("--whole-archive");
  append(words, archives);
  words.push_back("--no-whole-archive");
  words.push_back("--as-needed");
  append(words, systemLibraries());
  return runLinker(words);
}

} // namespace mille::link
