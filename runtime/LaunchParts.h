// Attention whose keys are taken apart: sequences of few rows, whose stretches
// of keys are shared by threads. Must not matter to a bit of the out.
#pragma once
#include "runtime/LaunchTask.h"

namespace mille {

// Whether a kernel gives parts on the session's instruction set.
bool isApart(const mille_session &session, const mille_kernel &kernel);
// Whether a sequence's rows are so few that parts are made of it.
bool isOfFew(const Job &job, const mille_stage &stage, int64_t sequence);

// Whether any, and whether all sequences are of few rows.
struct Few {
  bool any, all;
};
Few fewOf(const Job &job, const mille_stage &stage);

// Computes the out of all sequences of few rows. `job` is split by sequences
// and heads.
int32_t runParts(const Job &job, const mille_stage &stage);

// Places a session's memory for parts, for each kernel of the model.
void layOutParts(mille_session &session, Bytes &sum);

} // namespace mille
