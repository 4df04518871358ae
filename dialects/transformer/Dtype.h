// The types in which matmuls can read a weight, by the words that people use.
// Must not choose one.
#pragma once
#include "dialects/transformer/Encoding.h"

namespace mille {

struct Dtype {
  enum Kind {
    f32,
    f16,
    bf16,
    int8,   // bytes with a step for each row
    fp8,    // floats of 8 bits (e4m3) with a scale for each row
    blocks, // of `encoding`
    stored, // the blocks that the weight is stored in
  };
  Kind kind = f32;
  Encoding encoding = Encoding::f32; // of blocks

  // Whether a row becomes bytes as a whole.
  bool isOfBytes() const { return kind == int8 || kind == fp8; }
  bool isOfBlocks() const { return kind == blocks || kind == stored; }
  bool operator==(const Dtype &other) const {
    return kind == other.kind && encoding == other.encoding;
  }
};

// All of them, the most exact first and `stored` last: "f32", ... "q4_0",
// "stored".
llvm::ArrayRef<llvm::StringRef> dtypeNames();

std::optional<Dtype> dtypeNamed(llvm::StringRef name);
llvm::StringRef nameOf(Dtype dtype);
bool isMoreExact(Dtype one, Dtype other);

// What a model is compiled in. As text "q4_k,head.weight=q8_0,*.down.weight=
// q6_k": the type of all matmuls, then patterns of names (* and ? stand for any
// characters) of weights that have other types; of several the last one counts.
struct DtypeChoice {
  struct Weights {
    std::string names;
    Dtype dtype;
  };
  Dtype usual;
  std::vector<Weights> weights;

  // Nothing if the text is no choice; `why` is then what it must be.
  static std::optional<DtypeChoice> parse(llvm::StringRef text,
                                          std::string &why);
  std::string text() const;
  // `usual` and the types of single weights.
  std::vector<Dtype> all() const;
  bool isOfBlocks() const;
};

} // namespace mille
