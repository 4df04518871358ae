// Sequences that a model continues: thin calls of generation/. Must not hold
// the interpreter's lock in a call, since another thread's may take long.
#include "Generation.h"
#include "Interrupt.h"
#include <algorithm>
#include <cstring>
#include <nanobind/stl/pair.h>

using namespace mille_python;

Generation::Generation(const Package &opened, int64_t context,
                       int64_t sequences, int threads)
    : package(opened.handle()) {
  const mille_generation_runtime runtime = MILLE_GENERATION_RUNTIME;
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  options.context = context;
  options.sequences = sequences;
  options.threads = threads;
  char message[512] = "";
  mille_status status;
  {
    nb::gil_scoped_release released;
    status = mille_generation_create(&runtime, package.get(), &options, &handle,
                                     message, sizeof message);
  }
  check(status, message);
}

// `body` must not touch the interpreter.
template <typename Body> void Generation::call(Body body, bool interruptible) {
  mille_status status;
  std::string message;
  {
    const Turn turn(running, interruptible);
    nb::gil_scoped_release released;
    status = body();
    if (status != MILLE_OK)
      message = mille_generation_message(handle);
  }
  check(status, message.c_str());
}

template <typename Body> void Generation::callStep(Body body) {
  callInterruptibly<mille_generation_cancel, mille_generation_message>(
      handle, [&](auto inTurn) { call(inTurn); }, body);
}

void Generation::decode() {
  callStep([&] { return mille_generation_decode(handle); });
}

int64_t Generation::open() {
  int64_t sequence;
  call([&] { return mille_sequence_open(handle, &sequence); });
  return sequence;
}

void Generation::close(int64_t sequence) {
  call([&] { return mille_sequence_close(handle, sequence); });
}

void Generation::append(int64_t sequence, const nb::object &given) {
  const std::vector<int32_t> ids = takeIds(given);
  call([&] {
    return mille_sequence_append(handle, sequence, ids.data(), ids.size());
  });
}

size_t Generation::follow(int64_t sequence, const nb::object &given) {
  const std::vector<int32_t> ids = takeIds(given);
  size_t kept = 0;
  call([&] {
    return mille_sequence_follow(handle, sequence, ids.data(), ids.size(),
                                 &kept);
  });
  return kept;
}

void Generation::rewind(int64_t sequence, int64_t length) {
  call([&] { return mille_sequence_rewind(handle, sequence, length); });
}

int64_t Generation::fork(int64_t sequence, std::optional<int64_t> length) {
  int64_t fork;
  call([&] {
    const int32_t *held;
    size_t count = 0;
    if (!length)
      if (mille_status status =
              mille_sequence_ids(handle, sequence, &held, &count))
        return status;
    return mille_sequence_fork(handle, sequence,
                               length ? *length : int64_t(count), &fork);
  });
  return fork;
}

std::vector<int32_t> Generation::ids(int64_t sequence) {
  std::vector<int32_t> ids;
  call([&] {
    const int32_t *held = nullptr;
    size_t count = 0;
    mille_status status = mille_sequence_ids(handle, sequence, &held, &count);
    if (status == MILLE_OK)
      ids.assign(held, held + count);
    return status;
  });
  return ids;
}

void Generation::save(int64_t sequence, const nb::object &path) {
  const std::string name = takePath(path);
  call([&] { return mille_sequence_save(handle, sequence, name.c_str()); });
}

int64_t Generation::load(const nb::object &path) {
  const std::string name = takePath(path);
  int64_t sequence;
  call([&] { return mille_sequence_load(handle, name.c_str(), &sequence); });
  return sequence;
}

void Generation::source(int64_t sequence, const nb::object &given) {
  using Array = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
  Array numbers;
  if (nb::try_cast<Array>(given, numbers, /*convert=*/false))
    return call([&] {
      return mille_sequence_source_values(handle, sequence, numbers.data(),
                                          numbers.size());
    });
  const std::vector<int32_t> ids = takeIds(given);
  call([&] {
    return mille_sequence_source(handle, sequence, ids.data(), ids.size());
  });
}

static mille_beams_stop takeStop(const nb::object &given) {
  if (nb::isinstance<nb::bool_>(given))
    return nb::cast<bool>(given) ? MILLE_BEAMS_STOP_EARLY
                                 : MILLE_BEAMS_STOP_LIKELY;
  if (!nb::isinstance<nb::str>(given) ||
      nb::cast<std::string>(given) != "never")
    refuse("early_stopping is " + written(given) +
           " but must be True, False or 'never'");
  return MILLE_BEAMS_STOP_NEVER;
}

std::pair<std::vector<int32_t>, double>
Generation::beams(int64_t sequence, int64_t count, int64_t maxTokens,
                  const nb::object &end, double lengthPenalty,
                  const nb::object &earlyStopping) {
  const std::vector<int32_t> ends = takeIds(end);
  mille_beams wanted = MILLE_BEAMS_INIT;
  wanted.beams = count;
  wanted.most = maxTokens;
  wanted.ends = ends.data();
  wanted.end_count = ends.size();
  wanted.length_penalty = lengthPenalty;
  wanted.stop = takeStop(earlyStopping);
  std::pair<std::vector<int32_t>, double> best;
  callStep([&] {
    const int32_t *ids = nullptr;
    size_t found = 0;
    const mille_status status = mille_sequence_beams(
        handle, sequence, &wanted, &ids, &found, &best.second);
    if (status == MILLE_OK)
      best.first.assign(ids, ids + found);
    return status;
  });
  return best;
}

int32_t Generation::sample(int64_t sequence, const Sampling &sampling) {
  int32_t id;
  call([&] {
    return mille_sequence_sample(handle, sequence, sampling.get(), &id);
  });
  return id;
}

nb::object Generation::logits(int64_t sequence) {
  return output(sequence, "logits");
}

nb::object Generation::output(int64_t sequence, const std::string &name) {
  std::vector<float> copy;
  call([&] {
    const float *numbers = nullptr;
    size_t count = 0;
    mille_status status =
        mille_sequence_output(handle, sequence, name.c_str(), &numbers, &count);
    if (status == MILLE_OK)
      copy.assign(numbers, numbers + count);
    return status;
  });
  nb::object array = nb::module_::import_("numpy").attr("empty")(
      nb::int_(copy.size()), "float32");
  using Row = nb::ndarray<float, nb::c_contig, nb::device::cpu>;
  memcpy(nb::cast<Row>(array).data(), copy.data(), copy.size() * sizeof(float));
  return array;
}

std::vector<std::pair<int32_t, double>> Generation::likeliest(int64_t sequence,
                                                              int64_t count) {
  if (count < 0 || count > vocabulary())
    refuse("count is " + std::to_string(count) + " but must be 0 to " +
           std::to_string(vocabulary()) + ", the model's ids");
  std::vector<int32_t> ids(static_cast<size_t>(count));
  std::vector<double> logprobs(ids.size());
  call([&] {
    return mille_sequence_likeliest(handle, sequence, ids.size(), ids.data(),
                                    logprobs.data());
  });
  std::vector<std::pair<int32_t, double>> pairs;
  for (size_t i = 0; i < ids.size(); ++i)
    pairs.emplace_back(ids[i], logprobs[i]);
  return pairs;
}

double Generation::logprob(int64_t sequence, int32_t id) {
  double logprob;
  call([&] { return mille_sequence_logprob(handle, sequence, id, &logprob); });
  return logprob;
}

std::unique_ptr<Answer> Generation::generate(const nb::object &ids,
                                             int64_t maxTokens,
                                             const nb::object &end,
                                             const nb::kwargs &sampling) {
  if (maxTokens < 0)
    refuse("max_tokens is " + std::to_string(maxTokens) +
           " but must be 0 or more");
  return std::make_unique<Answer>(*this, takeIds(ids), maxTokens, takeIds(end),
                                  sampling);
}

Answer::Answer(Generation &generation, const std::vector<int32_t> &ids,
               int64_t maxTokens, std::vector<int32_t> end,
               const nb::kwargs &options)
    : generation(generation), sampling(options, generation.vocabulary()),
      end(std::move(end)), left(maxTokens) {
  const int64_t opened = generation.open();
  try {
    generation.call([&] {
      return mille_sequence_append(generation.handle, opened, ids.data(),
                                   ids.size());
    });
  } catch (...) {
    generation.close(opened);
    throw;
  }
  sequence = opened;
}

int32_t Answer::next() {
  if (stepping)
    refuse("another thread waits for this answer's next id");
  stepping = true;
  try {
    const int32_t id = step();
    stepping = false;
    return id;
  } catch (...) {
    stepping = false;
    throw;
  }
}

int32_t Answer::step() {
  if (left == 0)
    close();
  if (sequence < 0)
    throw nb::stop_iteration();
  // A step that fails, or that Ctrl-C stops, goes on at the next call.
  generation.call([&] {
    return mille_sequence_append(generation.handle, sequence, pending.data(),
                                 pending.size());
  });
  pending.clear();
  generation.decode();
  const int32_t id = generation.sample(sequence, sampling);
  if (std::find(end.begin(), end.end(), id) != end.end()) {
    close();
    throw nb::stop_iteration();
  }
  pending.push_back(id);
  --left;
  return id;
}

void Answer::close(bool interruptible) {
  if (sequence >= 0)
    generation.call(
        [&] {
          mille_sequence_close(generation.handle, sequence);
          return MILLE_OK;
        },
        interruptible);
  sequence = -1;
}
