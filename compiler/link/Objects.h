// Links objects, makes their symbols local, and archives them, with lld and
// LLVM as libraries. Must not start other programs.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mille::link {

// All paths are those of files. The result is empty, or the linker's error.
//
// lld resets every cl::opt of the process to its default.
using Problem = std::string;

// Makes one relocatable object from objects and the members of `archives` that
// they need.
Problem linkRelocatable(llvm::ArrayRef<std::string> objects,
                        llvm::ArrayRef<std::string> archives,
                        llvm::StringRef output);

// Makes a shared library from objects and all members of `archives`, with libc
// and libm. It exports only symbols that match `exports`.
Problem linkShared(llvm::ArrayRef<std::string> objects,
                   llvm::ArrayRef<std::string> archives,
                   llvm::ArrayRef<std::string> exports, llvm::StringRef output);

// Makes all defined symbols of an object local, except one.
Problem keepGlobal(llvm::StringRef object, llvm::StringRef symbol,
                   llvm::StringRef output);

// Makes an archive of objects and of the members of `archives`.
Problem writeArchive(llvm::ArrayRef<std::string> objects,
                     llvm::ArrayRef<std::string> archives,
                     llvm::StringRef output);

// The loaded bytes of an ELF file without its large sections.
uint64_t loadedBytes(llvm::StringRef file);

} // namespace mille::link
