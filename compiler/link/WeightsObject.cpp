// Writes the weights file as a relocatable x86-64 object with five sections and
// one symbol. Must not hold all of it in memory, as assemblers do.
#include "compiler/link/WriteWeights.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace mille::link {
namespace {

// The flags in section order. Large data may lie more than 2 GB from the code.
constexpr StringRef sectionNames("\0.lrodata.weights\0.symtab\0.strtab\0"
                                 ".note.GNU-stack\0",
                                 1 + 17 + 8 + 8 + 16);
constexpr uint32_t nameOfData = 1, nameOfSymbols = 18, nameOfStrings = 26,
                   nameOfStack = 34;
constexpr uint64_t page = 4096; // the runtime advises whole pages

struct Parts {
  ELF::Elf64_Ehdr header = {};
  ELF::Elf64_Sym symbols[2] = {};
  ELF::Elf64_Shdr sections[5] = {};
  std::string strings;
};

// header | data | symbols | strings | section headers
Parts describe(uint64_t bytes, StringRef symbol) {
  Parts parts;
  parts.strings = sectionNames.str();
  uint32_t symbolName = parts.strings.size();
  parts.strings += symbol.str() + '\0';
  uint64_t padded = alignTo(bytes, 8);
  uint64_t symbolsAt = page + padded;
  uint64_t stringsAt = symbolsAt + sizeof parts.symbols;
  uint64_t sectionsAt = alignTo(stringsAt + parts.strings.size(), 8);
  parts.strings.resize(sectionsAt - stringsAt, '\0');

  ELF::Elf64_Ehdr &header = parts.header;
  std::memcpy(header.e_ident, ELF::ElfMagic, 4);
  header.e_ident[ELF::EI_CLASS] = ELF::ELFCLASS64;
  header.e_ident[ELF::EI_DATA] = ELF::ELFDATA2LSB;
  header.e_ident[ELF::EI_VERSION] = ELF::EV_CURRENT;
  header.e_type = ELF::ET_REL;
  header.e_machine = ELF::EM_X86_64;
  header.e_version = ELF::EV_CURRENT;
  header.e_shoff = sectionsAt;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(ELF::Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 3;

  parts.symbols[1].st_name = symbolName;
  parts.symbols[1].setBindingAndType(ELF::STB_GLOBAL, ELF::STT_OBJECT);
  parts.symbols[1].st_other = ELF::STV_HIDDEN;
  parts.symbols[1].st_shndx = 1;
  parts.symbols[1].st_size = bytes;

  auto section = [&](int index, uint32_t name, uint32_t type, uint64_t flags,
                     uint64_t at, uint64_t size, uint64_t align) {
    ELF::Elf64_Shdr &header = parts.sections[index];
    header.sh_name = name;
    header.sh_type = type;
    header.sh_flags = flags;
    header.sh_offset = at;
    header.sh_size = size;
    header.sh_addralign = align;
  };
  section(1, nameOfData, ELF::SHT_PROGBITS,
          ELF::SHF_ALLOC | ELF::SHF_X86_64_LARGE, page, bytes, page);
  section(2, nameOfSymbols, ELF::SHT_SYMTAB, 0, symbolsAt, sizeof parts.symbols,
          8);
  parts.sections[2].sh_link = 3; // strings
  parts.sections[2].sh_info = 1; // first global
  parts.sections[2].sh_entsize = sizeof(ELF::Elf64_Sym);
  section(3, nameOfStrings, ELF::SHT_STRTAB, 0, stringsAt, parts.strings.size(),
          1);
  section(4, nameOfStack, ELF::SHT_PROGBITS, 0, sectionsAt, 0, 1);
  return parts;
}

bool put(int file, const void *bytes, uint64_t size, uint64_t at) {
  const char *next = static_cast<const char *>(bytes);
  while (size) {
    ssize_t count = ::pwrite(file, next, size, at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    next += count;
    at += count;
    size -= count;
  }
  return true;
}

bool copy(int from, int into, uint64_t size) {
  std::vector<char> piece(1 << 20);
  for (uint64_t at = 0; at < size;) {
    ssize_t count = ::pread(from, piece.data(),
                            std::min<uint64_t>(piece.size(), size - at), at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0 || !put(into, piece.data(), count, page + at))
      return false;
    at += count;
  }
  return true;
}

} // namespace

bool writeWeightsObject(Staging &staging, StringRef source, StringRef target,
                        StringRef name) {
  int from = ::open(source.str().c_str(), O_RDONLY | O_CLOEXEC);
  if (from < 0)
    return staging.fail(source, errno);
  struct stat status;
  int into = ::open(target.str().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  bool good = into >= 0 && ::fstat(from, &status) == 0;
  if (good) {
    uint64_t size = status.st_size;
    Parts parts = describe(size, (name + "_weights_data").str());
    good =
        put(into, &parts.header, sizeof parts.header, 0) &&
        copy(from, into, size) &&
        put(into, parts.symbols, sizeof parts.symbols,
            parts.sections[2].sh_offset) &&
        put(into, parts.strings.data(), parts.strings.size(),
            parts.sections[3].sh_offset) &&
        put(into, parts.sections, sizeof parts.sections, parts.header.e_shoff);
  }
  int error = errno;
  ::close(from);
  if (into >= 0)
    ::close(into);
  return good || staging.fail(target, error);
}

} // namespace mille::link
