// Verifiers of the `kernel` dialect, one `// Cn` per labelled constraint.
#include "dialects/kernel/Kernel.h"

using namespace mlir;
using namespace mille::kernel;

LogicalResult WeightOp::verify() { return success(); }
LogicalResult ArenaOp::verify() { return success(); }
LogicalResult MatmulOp::verify() { return success(); }
LogicalResult AttentionOp::verify() { return success(); }
LogicalResult RowsOp::verify() { return success(); }
LogicalResult LaunchOp::verify() { return success(); }
LogicalResult LayersOp::verify() { return success(); }
LogicalResult RotationOp::verify() { return success(); }
