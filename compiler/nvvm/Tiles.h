// Which tile a matmul gets: a model of Hopper, its choice, and the reason in
// words. Must not write kernels.
#pragma once
#include "compiler/nvvm/FewRows.h"
#include "compiler/nvvm/Matmul.h"
#include "compiler/nvvm/PartsMatmul.h"

namespace mille::nvvm {

// Empty, or why no tile makes this kernel.
std::string whyNotMatmul(const KernelSpec &spec);

// The best first, then those that are nearly as good.
std::vector<MatmulTile> matmulTiles(const KernelSpec &spec);
MatmulTile expertsTile(const MatmulSpec &matmul, bool few);
constexpr unsigned expertsFewRows = 16; // on average
FewRowsTile fewRowsTile(const MatmulSpec &matmul);
// The most rows for which the form of few rows is faster.
unsigned fewRowsOf(const MatmulSpec &matmul);

// Whether its operands are f32, which are multiplied by parts.
inline bool isOfParts(const MatmulSpec &matmul) {
  return matmul.input.element == Element::f32;
}
PartsTile partsTile(const MatmulSpec &matmul, bool few);
// The most rows for which its tile of few rows is faster.
unsigned partsFewRows(const MatmulSpec &matmul);
std::string explainParts(const KernelSpec &spec);

std::string wordsOf(const MatmulTile &tile);
// Of a product with joined rows: the tile of the product where many rows take
// less time in two launches, the second for the norm.
std::optional<MatmulTile> tileBehindNorm(const KernelSpec &spec);
std::string explainNormed(const KernelSpec &spec);

std::string explainExperts(const MatmulSpec &matmul);
std::string explainTile(const KernelSpec &spec, const MatmulTile &tile);
std::string explainTile(const MatmulSpec &matmul, const FewRowsTile &tile);

} // namespace mille::nvvm
