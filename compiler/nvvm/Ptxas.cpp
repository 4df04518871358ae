// Runs ptxas on files of its own. Must not keep them.
#include "compiler/nvvm/Ptxas.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace llvm;

namespace mille::nvvm {

constexpr StringLiteral usualFolder = "/usr/local/cuda/bin";
constexpr StringLiteral variable = "MILLE_PTXAS";

std::string ptxasPath() {
  if (auto named = sys::Process::GetEnv(variable))
    return sys::fs::can_execute(*named) ? *named : "";
  if (auto found = sys::findProgramByName("ptxas"))
    return *found;
  auto found = sys::findProgramByName("ptxas", {usualFolder});
  return found ? *found : "";
}

// A file that goes with its last user.
class Aside {
public:
  explicit Aside(StringRef suffix) {
    SmallString<128> name;
    if (!sys::fs::createTemporaryFile("mille-kernel", suffix, name)) {
      file = name.str();
      remover.setFile(file);
    }
  }
  bool exists() const { return !file.empty(); }
  StringRef path() const { return file; }
  std::string read() const {
    auto bytes = MemoryBuffer::getFile(file, /*IsText=*/false, false);
    return bytes ? (*bytes)->getBuffer().str() : std::string();
  }
  bool write(StringRef bytes) const {
    std::error_code problem;
    raw_fd_ostream out(file, problem);
    if (problem)
      return false;
    out << bytes;
    out.close();
    const bool whole = !out.has_error();
    out.clear_error();
    return whole;
  }

private:
  std::string file;
  FileRemover remover;
};

// Its output, or nothing.
static std::string askVersion(const std::string &path) {
  Aside said("txt");
  std::optional<StringRef> redirects[] = {StringRef(), said.path(),
                                          StringRef()};
  if (path.empty() || !said.exists() ||
      sys::ExecuteAndWait(path, {path, "--version"}, std::nullopt, redirects))
    return {};
  for (StringRef line : split(said.read(), '\n'))
    if (line.contains("release"))
      return line.trim().str();
  return {};
}

std::string ptxasVersion() {
  static std::mutex mutex;
  static std::string askedPath, version;
  std::lock_guard<std::mutex> lock(mutex);
  if (std::string path = ptxasPath(); path != askedPath) {
    version = askVersion(path);
    askedPath = path;
  }
  return version;
}

// The number before `word` in a line such as "8 bytes spill stores, ...".
static unsigned numberBefore(StringRef text, StringRef word) {
  unsigned number = 0, largest = 0;
  for (size_t at = text.find(word); at != StringRef::npos;
       at = text.find(word, at + 1)) {
    StringRef before = text.take_front(at).rtrim();
    StringRef digits =
        before.take_back(before.size() - (before.find_last_of(' ') + 1));
    if (!digits.getAsInteger(10, number))
      largest = std::max(largest, number);
  }
  return largest;
}

static PtxasFacts factsOf(StringRef said) {
  PtxasFacts facts;
  facts.registers = numberBefore(said, "registers");
  facts.spillBytes = numberBefore(said, "bytes spill stores") +
                     numberBefore(said, "bytes stack frame");
  for (StringRef line : split(said, '\n'))
    if (line.contains("C75"))
      facts.warnings += (line.trim() + "\n").str();
  return facts;
}

// How it ended, and its first message.
static std::string endOf(const std::string &path, int status, StringRef why,
                         StringRef messages) {
  std::string text = path;
  if (status < -1) // by a signal
    text += " was killed: " + why.str();
  else if (status == 0)
    text += " ended with status 0 but wrote no cubin";
  else if (status > 0)
    text += " ended with status " + std::to_string(status);
  else
    text += " cannot be run: " + why.str();
  const StringRef first = messages.split('\n').first.trim();
  return text + (first.empty() ? "" : ": " + first.str());
}

// PTX 8.n is read from CUDA 12.n on, of those versions that Emit.cpp has.
static std::string helpFor(StringRef ptx) {
  const StringRef version =
      ptx.split(".version ").second.take_until([](char c) {
        return c == '\n';
      });
  return ("this kernel is PTX " + version + ", which needs ptxas of CUDA 12." +
          version.split('.').second +
          " or later: name one by $MILLE_PTXAS, or no file by it, so that the "
          "driver compiles the PTX each time that a package is opened")
      .str();
}

bool assemble(const std::string &ptx, std::string &cubin, PtxasFacts &facts,
              std::string &problem, std::string &help) {
  const std::string path = ptxasPath();
  if (path.empty()) {
    problem = "there is no ptxas";
    return false;
  }
  Aside text("ptx"), made("cubin"), said("txt");
  if (!text.exists() || !made.exists() || !said.exists() || !text.write(ptx)) {
    SmallString<128> folder;
    sys::path::system_temp_directory(/*erasedOnReboot=*/true, folder);
    problem = "ptxas needs files in the folder for temporary files, " +
              folder.str().str() + ", which cannot be written";
    help = "name another folder by $TMPDIR";
    return false;
  }
  StringRef arguments[] = {path,        "-arch=sm_90a", "-O3",      "-v",
                           text.path(), "-o",           made.path()};
  std::optional<StringRef> redirects[] = {StringRef(), said.path(),
                                          said.path()};
  std::string why;
  int status =
      sys::ExecuteAndWait(path, arguments, std::nullopt, redirects, 0, 0, &why);
  const std::string messages = said.read();
  if (status == 0 && !(cubin = made.read()).empty()) {
    facts = factsOf(messages);
    return true;
  }
  problem = endOf(path, status, why, messages);
  help = helpFor(ptx);
  return false;
}

} // namespace mille::nvvm
