// The table of keys of native specs. Spec*.cpp reads by it, and docs/spec.md
// and docs/spec.schema.json are made from it. Must not read specs.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mille::import {

enum class KeyKind {
  whole,   // from 1
  integer, // from 0
  number,
  positive, // a number > 0
  flag,
  text,
  word,         // one of `of`, separated by "|"
  object,       // the object named `of`
  objects,      // a list of these
  wordOrObject, // "word|word object"
  numbers,      // a list of numbers
  integers,     // a list of whole numbers
};

struct SpecKey {
  llvm::StringRef key;
  KeyKind kind;
  llvm::StringRef of;
  llvm::StringRef absent; // the default, "required", or a description of it
  llvm::StringRef says;
  bool perLayer = false; // or a list with one entry per layer
};

struct SpecObject {
  llvm::StringRef name; // "norm", as `of` refers to it
  llvm::StringRef says;
  llvm::ArrayRef<SpecKey> keys;
};

// All objects, the spec itself first.
llvm::ArrayRef<SpecObject> specObjects();
const SpecObject &specObject(llvm::StringRef name);
// The entry of a key that the object has.
const SpecKey &specKey(const SpecObject &object, llvm::StringRef key);

} // namespace mille::import
