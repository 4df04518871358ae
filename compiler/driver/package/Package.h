// A package on disk, as its manifest NAME.json describes it. Must not load code
// or weights.
#pragma once
#include "compiler/driver/package/GenerationRules.h"
#include "compiler/driver/program/Certificate.h"
#include "compiler/driver/program/Memory.h"
#include "compiler/driver/program/Traffic.h"
#include "dialects/transformer/Dtype.h"
#include "dialects/transformer/Shape.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mille {

struct Package {
  std::string folder, name;
  std::string modelPath, modelFolder, modelHash;
  DtypeChoice dtype;
  std::string
      cache; // "int8", "f16", or "": keys and values are as the dtype says
  std::string calibrate; // the text that blocks were rounded for; "": none
  bool hiddenStates = false, embedded = false;
  struct Size {
    std::string name;
    int64_t most = 0;     // the model's maximum; 0: any
    int64_t own = 0;      // what the model was trained with; 0: not said
    int64_t multiple = 1; // a run's number is a multiple of this
    int64_t least = 0;    // of a run; 0: any
    bool isGiven = true;  // else it follows from others
  };
  std::vector<Size> sizes; // of a run

  struct Tensor {
    std::string name, type;
    Shape shape;
    std::string fallback; // "": required
    int64_t below = 0;
  };
  struct Entry {
    std::string name;
    std::vector<Tensor> inputs, outputs, states;
    int64_t arenaBytesPerRow = 0;
    MemoryUse memory; // of packages of earlier builds: empty
  };
  std::vector<Entry> entries; // at least one: the first is the default
  // The entry with that name ("": the first), or null.
  const Entry *entry(llvm::StringRef name) const;
  std::string entryNames() const;

  struct Isa {
    std::string name, needs;
  };
  std::vector<Isa> isas; // best first

  struct Kernel {
    std::string name, does;
    int64_t places = 0, flopsPerRow = 0, weightBytes = 0;
    struct Tile {
      std::string isa, text;
      int64_t rank; // 0: the model's own choice
    };
    std::vector<Tile> tiles;
    // Who made it, for targets that several generators serve.
    struct Maker {
      std::string isa, generator;
    };
    std::vector<Maker> makers;
    int64_t rowBytes = 0; // read and written for each row; 0: not known
  };
  std::vector<Kernel> kernels;

  struct Rewrite {
    std::string name, unit, layers, status, reason, law, bound;
    int64_t roundings = 0;
    std::string entry; // "": the first
  };
  std::vector<Rewrite> rewrites;
  Certificate certificate;
  Traffic traffic;
  std::optional<Traffic> unscaled; // without the model's constant scales

  struct Fusion {
    std::string boundary, unit, layers, status, reason;
    int64_t bytesSaved = 0, launchesSaved = 0;
    std::string entry; // "": the first
  };
  std::vector<Fusion> fusions;

  // A body of a stack of layers, and its differences from the stack's first.
  struct Body {
    int64_t stack = 0, number = 0;
    std::string layers, difference;
    std::string entry; // "": the first
  };
  std::vector<Body> bodies;

  // How the decoder beside an encoder continues.
  std::optional<GenerationRules> generation;

  int64_t scratchBytes = 0, scratchBytesPerToken = 0;
  int64_t parameters = 0, weightsBytes = 0, codeBytes = 0;

  std::string file(llvm::StringRef extension) const; // DIR/NAME.<extension>
  bool hasSize(llvm::StringRef size) const;
  // The model's maximum of a size; 0: any.
  int64_t most(llvm::StringRef size) const;
  const Kernel *kernel(llvm::StringRef name) const;  // null: not known
  std::string inWords(llvm::StringRef kernel) const; // describes a kernel
};

enum class Subject { model, package };

// Finds out what `path` is. A folder with a config.json, a native spec and a
// .mlir file are models. A NAME.json with the key mille_package, or a folder
// with one, is a package, which is then read. Anything else is an error.
Status findSubject(llvm::StringRef path, mlir::MLIRContext &context,
                   Subject &subject, Package &package);

// The same, but a model is an error.
Status findPackage(llvm::StringRef path, mlir::MLIRContext &context,
                   Package &package);

} // namespace mille
