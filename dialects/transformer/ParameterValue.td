// What every node of a parameter's expression says of itself.
// Must not name a node.
#ifndef MILLE_PARAMETER_VALUE
#define MILLE_PARAMETER_VALUE
include "mlir/IR/Interfaces.td"

def ParameterValue : AttrInterface<"ParameterValue"> {
  let description = [{
    A node of the expression that gives a parameter's value. Its operands are
    nodes, numbers (f64), or symbols: parameters of the model or, inside
    `layers`, columns of the layer table.
  }];
  let cppNamespace = "::mille::transformer";
  let methods = [
    InterfaceMethod<"The values that it is computed of.",
                    "::llvm::SmallVector<::mlir::Attribute>", "getOperands">,
    InterfaceMethod<[{
      The f32 tensor type of its value, of the types of its operands. A failure
      sets `why` to a sentence without a subject.
    }], "::mlir::FailureOr<::mlir::RankedTensorType>", "inferType",
        (ins "::llvm::ArrayRef<::mlir::RankedTensorType>":$operands,
             "std::string &":$why)>
  ];
}
#endif
