// The tasks of parts: how stretches are shared, where parts lie, and who puts
// them together. Must not wait for another task.
#include "runtime/LaunchParts.h"
#include "runtime/States.h"

#include <string.h>

namespace mille {

namespace {
// What a task costs beside its stretches, in quarters of a stretch.
constexpr int64_t quartersOfTask = 1;

int64_t divideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

// How tasks share the stretches of keys: `each` of them a task, so that the
// longest sequence has `blocks` tasks for each of its ranges of heads.
struct StretchSplit {
  int64_t each, blocks;
};

// The cut for which threads that draw tasks are done first; of several the one
// with the fewest tasks.
StretchSplit splitStretches(int64_t groups, int64_t stretches, int threads) {
  StretchSplit best = {stretches, 1};
  int64_t least = INT64_MAX;
  for (int64_t each = stretches; each > 0 && threads > 1; --each) {
    int64_t blocks = divideUp(stretches, each);
    int64_t cost =
        divideUp(groups * blocks, threads) * (4 * each + quartersOfTask);
    if (cost < least) {
      least = cost;
      best = {each, blocks};
    }
  }
  return best;
}

int64_t stretchesOf(const Job &job, const mille_stage &stage,
                    int64_t sequence) {
  int64_t keys = stateKeys(job, stage, sequence);
  return divideUp(keys > 1 ? keys : 1, stage.kernel->stretch_keys);
}

struct PartsJob {
  const Job *job;
  const mille_stage *stage;
  StretchSplit stretches;
};

// A sequence's parts, [column, row, head, stretch], of a task's rows and heads:
// the values, then the marks.
struct Parts {
  mille_dimension dimensions[MILLE_MAX_DIMENSIONS];
  mille_buffer values, marks;

  Parts(const Job &job, const mille_stage &stage, const Share &share) {
    const mille_dimension *out = outOf(stage).dimension;
    const int64_t width = out[0].extent, rows = stage.kernel->part_rows,
                  heads = out[2].extent,
                  stretches = stretchesOf(job, stage, share.sequence);
    dimensions[0] = {0, (int32_t)width, 1, 0};
    dimensions[1] = {0, (int32_t)rows, (int32_t)width, 0};
    dimensions[2] = {0, (int32_t)heads, (int32_t)(width * rows), 0};
    dimensions[3] = {0, (int32_t)stretches, (int32_t)(width * rows * heads), 0};
    const mille_session &session = *job.session;
    values = {};
    values.host = session.parts + share.sequence * session.partBytes;
    values.type_code = MILLE_CODE_FLOAT;
    values.type_bits = 32;
    values.type_lanes = 1;
    values.dimensions = MILLE_MAX_DIMENSIONS;
    values.dimension = dimensions;
    cut(values, 1, share.rows.first, share.rows.first,
        share.rows.end - share.rows.first);
    cut(values, 2, share.columns.first, share.columns.first,
        share.columns.end - share.columns.first);
    marks = values;
    marks.host = (float *)values.host + stretches * dimensions[3].stride;
  }
  void addTo(Call &call, const Range &stretches) const {
    const mille_buffer both[] = {values, marks};
    for (mille_buffer part : both) {
      mille_dimension own[MILLE_MAX_DIMENSIONS];
      memcpy(own, dimensions, sizeof own);
      part.dimension = own;
      cut(part, 3, stretches.first, stretches.first,
          stretches.end - stretches.first);
      call.addBuffer(part);
    }
  }
};

int32_t callParts(mille_task *task, const Job &job, const mille_stage &stage,
                  const Share &share, const Range &stretches) {
  const Parts parts(job, stage, share);
  Call call(task);
  call.addInputs(job, stage, share);
  call.addShifts(job, share);
  call.addScalars(job, stage, share);
  parts.addTo(call, stretches);
  return call.run(*stage.kernel,
                  stage.kernel->functions[task->session->isa * 2]);
}

int32_t callJoin(mille_task *task, const Job &job, const mille_stage &stage,
                 const Share &share) {
  const Parts parts(job, stage, share);
  Call call(task);
  call.addInputs(job, stage, share);
  parts.addTo(call, {0, stretchesOf(job, stage, share.sequence)});
  call.addScalars(job, stage, share);
  call.addOut(job, stage, share);
  return call.run(*stage.kernel, stage.kernel->joins[task->session->isa]);
}

// Whoever gives the last part of a sequence's heads puts the parts together.
void runTask(void *context, int64_t number, int thread) {
  const PartsJob &parts = *static_cast<const PartsJob *>(context);
  const Job &job = *parts.job;
  const mille_stage &stage = *parts.stage;
  mille_session &session = *job.session;
  const int64_t group = number / parts.stretches.blocks,
                each = parts.stretches.each;
  Share share;
  job.split.task(group, share.sequence, share.rows, share.columns);
  if (session.stopped() || share.rows.first == share.rows.end ||
      !isOfFew(job, stage, share.sequence))
    return;
  const int64_t stretches = stretchesOf(job, stage, share.sequence),
                first = number % parts.stretches.blocks * each;
  if (first >= stretches)
    return;
  const int64_t end = first + each;
  mille_task *task = &session.tasks[thread];
  int32_t code = callParts(task, job, stage, share,
                           {first, end < stretches ? end : stretches});
  const uint32_t all = (uint32_t)divideUp(stretches, each);
  if (!code && session.partsDone[group].add(1) + 1 == all)
    code = callJoin(task, job, stage, share);
  if (!code)
    return;
  mille_task_fail(task, code, "kernel %s failed", stage.kernel->name);
  session.failed.change(0, code);
}

} // namespace

bool isApart(const mille_session &session, const mille_kernel &kernel) {
  return kernel.stretch_keys && kernel.joins[session.isa];
}

bool isOfFew(const Job &job, const mille_stage &stage, int64_t sequence) {
  return job.split.own.rows(sequence) <= stage.kernel->part_rows;
}

Few fewOf(const Job &job, const mille_stage &stage) {
  Few few = {false, true};
  for (int64_t s = 0; s < job.split.own.batch; ++s)
    if (isOfFew(job, stage, s))
      few.any = few.any || job.split.own.rows(s) > 0;
    else
      few.all = false;
  return few;
}

int32_t runParts(const Job &of, const mille_stage &stage) {
  Job job = of;
  job.split.rowBlocks = 1;
  mille_session &session = *job.session;
  const int64_t groups = job.split.tasks();
  int64_t longest = 1;
  for (int64_t s = 0; s < job.split.own.batch; ++s) {
    int64_t stretches = stretchesOf(job, stage, s);
    longest = stretches > longest ? stretches : longest;
  }
  PartsJob parts = {&job, &stage,
                    splitStretches(groups, longest, session.threads)};
  for (int64_t group = 0; group < groups; ++group)
    session.partsDone[group].set(0);
  session.share(runTask, &parts, groups * parts.stretches.blocks);
  return session.stopped();
}

void layOutParts(mille_session &session, Bytes &sum) {
  const mille_model &model = *session.package->model;
  const uint64_t batch = session.most.batch();
  uint64_t bytes = 0, groups = 0;
  for (uint32_t k = 0; k < model.kernel_count; ++k) {
    const mille_kernel &kernel = *model.kernels[k];
    if (!kernel.stretch_keys)
      continue;
    uint64_t stretches = divideUp(longestState(model, session.most),
                                  kernel.stretch_keys),
             own = 0;
    sum.fits = sum.fits && multiply(stretches + 1,
                                    kernel.part_rows * kernel.part_bytes, own);
    bytes = own > bytes ? own : bytes;
    // A part has at least a value of each head, and its mark.
    uint64_t heads = kernel.part_bytes / (2 * sizeof(float));
    groups = heads > groups ? heads : groups;
  }
  bytes = (bytes + 63) & ~(uint64_t)63;
  uint64_t all = 0;
  sum.fits = sum.fits && multiply(batch, bytes, all);
  uint64_t done = sum.place(batch * groups, sizeof(Atomic<uint32_t>)),
           parts = sum.place(1, all);
  session.partBytes = (int64_t)bytes;
  if (!session.slab)
    return;
  session.partsDone = (Atomic<uint32_t> *)(session.slab + done);
  session.parts = session.slab + parts;
}

} // namespace mille
