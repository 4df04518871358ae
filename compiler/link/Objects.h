// What is done to objects: linked, localised, archived. By lld and LLVM as
// libraries; no other program runs.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mille::link {

// All paths are files'. Empty: done; else what the linker said.
//
// lld gives every cl::opt of the process its default back.
using Problem = std::string;

// One relocatable object from objects and from what they need of `archives`.
Problem linkRelocatable(llvm::ArrayRef<std::string> objects,
                        llvm::ArrayRef<std::string> archives,
                        llvm::StringRef output);

// A shared library from objects and all of `archives`, with libc and libm,
// exporting only what matches `exports`.
Problem linkShared(llvm::ArrayRef<std::string> objects,
                   llvm::ArrayRef<std::string> archives,
                   llvm::ArrayRef<std::string> exports, llvm::StringRef output);

// Leaves one symbol of an object global; undefined ones stay.
Problem keepGlobal(llvm::StringRef object, llvm::StringRef symbol,
                   llvm::StringRef output);

// An archive of objects and of the members of `archives`.
Problem writeArchive(llvm::ArrayRef<std::string> objects,
                     llvm::ArrayRef<std::string> archives,
                     llvm::StringRef output);

// Bytes of an ELF file that are loaded, less its large sections.
uint64_t loadedBytes(llvm::StringRef file);

} // namespace mille::link
