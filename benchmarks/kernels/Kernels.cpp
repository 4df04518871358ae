// Speed of single kernels on one core, as a share of what the core can compute
// or of what memory gives.  kernel-benchmarks [Google Benchmark's options]
// [CORE]
#include "benchmarks/kernels/Measure.h"
#include "compiler/halide/Generate.h"

#include <cstdlib>
#include <sched.h>

using namespace mille;

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &one);
  sched_setaffinity(0, sizeof one, &one);
  test::keepScratch();
  for (const Target &isa : knownTargets()) {
    if (isa.isDevice() || !test::machineHas(isa))
      continue;
    benchmarks::addMatmuls(isa);
    benchmarks::addAttentions(isa);
    benchmarks::addAttentionStates(isa);
    benchmarks::addRows(isa);
    benchmarks::addTraining(isa);
  }
  benchmark::RunSpecifiedBenchmarks();
}
