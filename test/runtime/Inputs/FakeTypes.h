// What the handles of a driver of CUDA without a device stand for.
#ifndef FAKE_TYPES_H
#define FAKE_TYPES_H
#include "FakeCuda.h"
#include "runtime/cuda/Driver.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

using Work = std::vector<std::function<void()>>;

namespace mille::cuda {
struct CUstream_st {
  Work work;
  std::unique_ptr<Work> captured;
  bool endsInKernel = false; // what was added last
  void add(std::function<void()> one, bool isKernel = false) {
    (captured ? *captured : work).push_back(std::move(one));
    endsInKernel = isKernel;
  }
  void wait() {
    Work now = std::move(work);
    work.clear();
    for (auto &one : now)
      one();
  }
};
struct CUgraph_st {
  Work work;
};
struct CUgraphExec_st {
  Work work;
};
struct CUmod_st {
  const fake_cuda_kernel *kernel; // null: a text
  std::string text;
};
struct CUfunc_st {
  const fake_cuda_kernel *kernel;
  int sharedMost;
};
struct CUevent_st {
  CUstream stream;
};
} // namespace mille::cuda
#endif
