// JSON with positions: a small tree of values, each knowing its line and
// column. Strict, bounded (depth, size, count), and duplicate keys are errors.
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mille::json {

enum class Kind { null, boolean, number, string, array, object };

struct Member;

// Line and column count from 1, columns in bytes; line 0 is the whole file.
struct Position {
  unsigned line = 1, column = 1;
  bool operator<(const Position &other) const {
    return line != other.line ? line < other.line : column < other.column;
  }
};

struct Value {
  Kind kind = Kind::null;
  bool boolean = false;
  bool whole = false; // the number is an integer, exact in `integer`
  Position at;
  double number = 0;
  int64_t integer = 0;
  std::string text;         // of a string, unescaped
  std::vector<Value> items; // of an array
  std::vector<Member>
      members; // of an object, in file order, keys all different

  const Member *find(llvm::StringRef key) const;
  // As it may stand in a message: numbers as short as they read back, strings
  // quoted, arrays and objects whole when short.
  std::string describe() const;
};

struct Member {
  std::string key;
  Position at; // of the key
  Value value;
};

// A parsed file. Its root is an object.
struct Document {
  std::string path;
  Value root;
  mlir::Location locate(Position at, mlir::MLIRContext &context) const;
};

constexpr unsigned deepest = 64;

// Parses `text`, which stands in `path` from column `firstColumn` of line 1 on.
// Nothing after an error (an MLIR diagnostic at path:line:column).
std::unique_ptr<Document> parse(llvm::StringRef text, llvm::StringRef path,
                                mlir::MLIRContext &context,
                                unsigned firstColumn = 1);

// The same of a whole file of at most `mostBytes`.
std::unique_ptr<Document> parseFile(llvm::StringRef path,
                                    mlir::MLIRContext &context,
                                    uint64_t mostBytes = 64 << 20);

// The member of `words` nearest to `word`, when it is near enough to be meant.
std::optional<llvm::StringRef> nearest(llvm::StringRef word,
                                       llvm::ArrayRef<llvm::StringRef> words);

} // namespace mille::json
