// How kernels read operands row by row: by element, column, row or scalar.
// Must not be included outside of compiler/interpret.
#pragma once
#include "compiler/interpret/Run.h"

namespace mille::interpreter {

// How one operand of a row-wise kernel is read for row m of the out.
struct RowReader {
  const Tensor *tensor;
  kernel::Access access;
  const Tensor *indices = nullptr; // gathered: row indices[m] of the table
  std::vector<double> broadcast;   // a row of one number, repeated

  // The `columns` numbers of row m.
  const double *row(int64_t m, int64_t columns) {
    switch (access) {
    case kernel::Access::element: {
      int64_t from = indices ? int64_t(indices->numbers[m]) : m;
      return &tensor->numbers[from * columns];
    }
    case kernel::Access::column:
      return tensor->numbers.data();
    case kernel::Access::row:
      broadcast.assign(columns, tensor->numbers[m]);
      return broadcast.data();
    case kernel::Access::scalar:
      broadcast.assign(columns, tensor->numbers[0]);
      return broadcast.data();
    }
    return nullptr;
  }
};

// The operands of a row-wise kernel whose out is [rows, columns].
class RowReaders {
public:
  RowReaders(int64_t rows, int64_t columns) : rows(rows), columns(columns) {}

  // Adds an operand, or emits an error on `op` if the shapes of this run do not
  // fit. With `indices` it is a table, of which row m of the out reads row
  // indices[m].
  Status add(Run &run, mlir::Operation *op, mlir::Value value,
             const Tensor *indices) {
    auto type = llvm::cast<mlir::ShapedType>(value.getType());
    auto access = indices ? std::optional(kernel::Access::element)
                          : kernel::accessOf(type, columns);
    assert(access && "the verifier admits no other");
    const Tensor &tensor = run.at(value);
    readers.push_back({&tensor, *access, indices, {}});
    if (indices)
      return checkIndices(op, *indices, tensor);
    bool byRow = *access == kernel::Access::row;
    int64_t count = tensor.numbers.size();
    if ((byRow || *access == kernel::Access::element) &&
        count != rows * (byRow ? 1 : columns)) {
      op->emitError() << "operand " << type << " has " << count
                      << " numbers but the out has " << rows << " rows";
      return Status::input;
    }
    return Status::done;
  }

  // Row m of every operand, `columns` numbers each, after what is there.
  void append(int64_t m, std::vector<const double *> &arguments) {
    for (RowReader &reader : readers)
      arguments.push_back(reader.row(m, columns));
  }

private:
  Status checkIndices(mlir::Operation *op, const Tensor &indices,
                      const Tensor &table) {
    int64_t entries =
        int64_t(table.numbers.size()) / std::max<int64_t>(columns, 1);
    if (int64_t(indices.numbers.size()) != rows) {
      op->emitError() << "indices has " << indices.numbers.size()
                      << " entries but the out has " << rows << " rows";
      return Status::input;
    }
    for (auto [m, index] : llvm::enumerate(indices.numbers))
      if (index < 0 || index >= entries) {
        op->emitError() << "index " << int64_t(index) << " is read at row " << m
                        << " but the table has " << entries << " rows";
        return Status::input;
      }
    return Status::done;
  }

  int64_t rows, columns;
  std::vector<RowReader> readers;
};

} // namespace mille::interpreter
