// Reads Hugging Face folders: the config.json and the safetensors of the
// families in families/.
#pragma once
#include "compiler/import/config/Config.h"

namespace mille::import {

// The family that model_type names. Null after an error that lists all
// families.
const Family *familyOf(Config &config, Problems &problems);

// Fills `model`; errors and notes about keys go to the problems of `config`.
void readConfig(Config &config, const Family &family, ModelSpec &model);

// Finds tensors under a family's names, and undoes its layouts.
class FamilyWeights : public WeightSource {
public:
  FamilyWeights(const Family &family, StoredTensors &tensors,
                mlir::LocationAttr at, Problems &problems,
                mlir::MLIRContext &context);
  mlir::Attribute value(const Wanted &wanted) override;
  bool differ(llvm::StringRef tied, llvm::StringRef to) override;
  // Notes tensors of the files that neither the model nor the family knows.
  void noteUnused();

private:
  StoredTensors::Entry *find(llvm::StringRef name);
  mlir::Attribute storedButOnes(const StoredTensors::Entry &entry,
                                llvm::ArrayRef<Dimension> shape);
  const TensorName *lookUp(llvm::StringRef parameter, std::string &file);
  mlir::Attribute stored(llvm::StringRef file, const TensorName &name,
                         llvm::SmallVector<Dimension, 2> shape);

  const Family &family;
  StoredTensors &tensors;
  mlir::LocationAttr at;
  Problems &problems;
  mlir::MLIRContext &context;
  llvm::StringMap<llvm::SmallVector<const TensorName *, 1>> names;
};

} // namespace mille::import
