// Hashes the bytes of files.
// Must not know their formats.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace mille {

// Hashes are 16 hexadecimal digits.
std::string hashOfText(llvm::StringRef text);
// Of the bytes of a file; "absent" if it cannot be read.
std::string byteHashOfFile(const llvm::Twine &path);
// A hash over `text` and the bytes of a file. For a folder: over `text` and the
// names and bytes of the files directly in it.
std::string hashOfBytes(llvm::StringRef path, llvm::StringRef text);

} // namespace mille
