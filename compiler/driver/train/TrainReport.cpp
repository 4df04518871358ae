// A line for what was learnt from, for time, for memory, and for each layer.
#include "compiler/driver/train/TrainReport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <string>

using namespace mille;

// "layers.3" of "layers.3.ffn.in.weight"; elsewhere the name up to its dot.
static llvm::StringRef partOf(llvm::StringRef name) {
  const size_t at = name.find("layers.");
  size_t end = name.find('.');
  if (at != llvm::StringRef::npos)
    end = name.find('.', at + llvm::StringRef("layers.").size());
  return name.take_front(end);
}

bool mille::writeTrainReport(const LibraryFunctions &api,
                             mille_trainer *trainer, llvm::raw_ostream &out) {
  mille_training_report report;
  size_t count = 0;
  if (api.mille_trainer_report(trainer, &report) != MILLE_OK ||
      api.mille_trainer_parameter_count(trainer, &count) != MILLE_OK)
    return false;
  const double all = report.seconds > 0 ? report.seconds : 1;
  out << llvm::formatv("{0} steps: {1} sequences, {2} labels, {3:f3} s: "
                       "{4:P1} forward, {5:P1} back, {6:P1} updates\n",
                       report.steps, report.sequences, report.labels,
                       report.seconds, report.forward_seconds / all,
                       report.backward_seconds / all,
                       report.update_seconds / all)
      << llvm::formatv("{0} bytes: {1} weights, {2} states, {3} gradients, "
                       "{4} layers and kernels\n",
                       report.bytes, report.weight_bytes, report.state_bytes,
                       report.gradient_bytes, report.session_bytes);
  llvm::MapVector<llvm::StringRef, double> squares;
  for (size_t index = 0; index < count; ++index) {
    mille_trained_parameter parameter;
    if (api.mille_trainer_parameter(trainer, index, &parameter) != MILLE_OK)
      return false;
    squares[partOf(parameter.name)] +=
        parameter.gradient_norm * parameter.gradient_norm;
  }
  for (auto [part, square] : squares)
    out << llvm::formatv("gradient of {0}: {1:e3}\n", part, std::sqrt(square));
  return true;
}
