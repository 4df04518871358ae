// Which tile a matmul gets: a model of Hopper, its choice, and the reason in
// words. Must not write kernels.
#pragma once
#include "compiler/nvvm/FewRows.h"
#include "compiler/nvvm/Matmul.h"

namespace mille::nvvm {

// Empty, or why no tile makes this kernel.
std::string whyNotMatmul(const KernelSpec &spec);

// The best first, then those that are nearly as good.
std::vector<MatmulTile> matmulTiles(const KernelSpec &spec);
FewRowsTile fewRowsTile(const MatmulSpec &matmul);
// The most rows for which the form of few rows is faster.
unsigned fewRowsOf(const MatmulSpec &matmul);

std::string wordsOf(const MatmulTile &tile);
std::string explainTile(const KernelSpec &spec, const MatmulTile &tile);
std::string explainTile(const MatmulSpec &matmul, const FewRowsTile &tile);

} // namespace mille::nvvm
