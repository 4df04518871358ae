// Calls objcopy and ar as libraries, on whole files. Must not know a model.
#include "compiler/link/Objects.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace mille::link {
namespace {

// Writes the output of `write` to a file. A full disk is an error like others.
Problem writeFile(StringRef path, function_ref<Error(raw_ostream &)> write) {
  std::error_code code;
  raw_fd_ostream file(path, code);
  if (code)
    return sys::path::filename(path).str() + ": " + code.message();
  Error error = write(file);
  file.close();
  code = file.error();
  file.clear_error();
  if (error)
    return sys::path::filename(path).str() + ": " + toString(std::move(error));
  return code ? sys::path::filename(path).str() + ": " + code.message() : "";
}

Problem named(StringRef file, Error error) {
  return sys::path::filename(file).str() + ": " + toString(std::move(error));
}

} // namespace

Problem keepGlobal(StringRef object, StringRef symbol, StringRef output) {
  Expected<object::OwningBinary<object::Binary>> binary =
      object::createBinary(object);
  if (!binary)
    return named(object, binary.takeError());
  objcopy::ConfigManager config;
  config.Common.InputFilename = object;
  config.Common.OutputFilename = output;
  Error error = config.Common.SymbolsToKeepGlobal.addMatcher(
      objcopy::NameOrPattern::create(symbol, objcopy::MatchStyle::Literal,
                                     [](Error error) { return error; }));
  if (error)
    return named(object, std::move(error));
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  if (Error error =
          objcopy::executeObjcopyOnBinary(config, *binary->getBinary(), stream))
    return named(object, std::move(error));
  return writeFile(output, [&](raw_ostream &file) {
    file << stream.str();
    return Error::success();
  });
}

Problem writeArchive(ArrayRef<std::string> objects,
                     ArrayRef<std::string> archives, StringRef output) {
  std::vector<NewArchiveMember> members;
  std::vector<object::OwningBinary<object::Binary>> opened;
  auto add = [&](StringRef path, Expected<NewArchiveMember> member) -> Problem {
    if (!member)
      return named(path, member.takeError());
    members.push_back(std::move(*member));
    return "";
  };
  for (const std::string &path : objects) {
    Problem problem =
        add(path, NewArchiveMember::getFile(path, /*Deterministic=*/true));
    if (!problem.empty())
      return problem;
    members.back().MemberName = sys::path::filename(path).ltrim('.');
  }
  for (const std::string &path : archives) {
    Expected<object::OwningBinary<object::Binary>> binary =
        object::createBinary(path);
    if (!binary)
      return named(path, binary.takeError());
    auto *archive = dyn_cast<object::Archive>(binary->getBinary());
    if (!archive)
      return sys::path::filename(path).str() + ": not an archive";
    Error error = Error::success();
    for (const object::Archive::Child &child : archive->children(error))
      if (Problem problem = add(path, NewArchiveMember::getOldMember(
                                          child, /*Deterministic=*/true));
          !problem.empty()) {
        consumeError(std::move(error));
        return problem;
      }
    if (error)
      return named(path, std::move(error));
    opened.push_back(std::move(*binary));
  }
  return writeFile(output, [&](raw_ostream &file) {
    return writeArchiveToStream(file, members, SymtabWritingMode::NormalSymtab,
                                object::Archive::K_GNU, /*Deterministic=*/true,
                                /*Thin=*/false);
  });
}

uint64_t loadedBytes(StringRef file) {
  Expected<object::OwningBinary<object::Binary>> binary =
      object::createBinary(file);
  if (!binary) {
    consumeError(binary.takeError());
    return 0;
  }
  auto *elf = dyn_cast<object::ELFObjectFileBase>(binary->getBinary());
  uint64_t bytes = 0;
  if (elf)
    for (object::ELFSectionRef section : elf->sections())
      if ((section.getFlags() & ELF::SHF_ALLOC) &&
          !(section.getFlags() & ELF::SHF_X86_64_LARGE))
        bytes += section.getSize();
  return bytes;
}

} // namespace mille::link
