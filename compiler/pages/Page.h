// Writes a page for a browser: one HTML file with its data as JSON, the script
// that draws it, and the library that the script draws with. It loads nothing.
// Must not compute anything.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

enum class PageKind {
  depth,  // of the JSON of `mille analyze`
  report, // of the JSON of `mille report`
  loss    // of the JSON of `mille train --html`
};

// reload: a browser reads the file again after so many seconds; 0: never.
void writePage(PageKind kind, llvm::StringRef title, llvm::StringRef json,
               llvm::raw_ostream &out, unsigned reload = 0);

} // namespace mille
