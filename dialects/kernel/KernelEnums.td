// Enums of the `kernel` dialect. Its ops also take enums of the `transformer`
// dialect, which must be declared there only.
#ifndef MILLE_KERNEL_ENUMS
#define MILLE_KERNEL_ENUMS
include "mlir/IR/EnumAttr.td"

class Kernel_Enum<string name, string summary, list<string> words>
    : I32EnumAttr<name, summary,
        !foreach(i, !range(words), I32EnumAttrCase<words[i], i>)> {
  let cppNamespace = "::mille::kernel";
  let genSpecializedAttr = 0;
}
def Kernel_RowNormKind : Kernel_Enum<"RowNormKind", "statistic a row is normed by",
    ["layer", "rms", "l2"]>;
def Kernel_BiasBy : Kernel_Enum<"BiasBy", "what a column of attention's bias stands for",
    ["distance", "pair"]>;
def Kernel_StatePanels : Kernel_Enum<"StatePanels", "what attention reads in panels of a state",
    ["keys", "values"]>;
#endif
