// Generation for Python. Must not compute on logits: generation/ does.
#pragma once
#include "Module.h"
#include "generation/mille_generation.h"

namespace mille_python {

// A value as Python writes it.
std::string written(const nb::handle &value);
// Whole numbers of Python as ids, or a sentence with what does not fit.
std::vector<int32_t> takeIds(const nb::object &given);

// A mille_sampling with what it points to.
class Sampling {
public:
  // Names are those of mille_sampling; `bias` maps ids to numbers, and
  // `allowed` holds the ids that may be drawn.
  Sampling(const nb::kwargs &options, int64_t vocabulary);
  Sampling(const Sampling &) = delete;
  const mille_sampling *get() const { return &sampling; }

private:
  void takeBias(const nb::object &given);
  void takeAllowed(const nb::object &given, int64_t vocabulary);

  mille_sampling sampling = MILLE_SAMPLING_INIT;
  std::vector<int32_t> biasIds;
  std::vector<double> biases;
  std::vector<uint64_t> allowed;
};

class Answer;

class Generation {
public:
  Generation(const Package &package, int64_t context, int64_t sequences,
             int threads);
  ~Generation() { mille_generation_close(handle); }
  Generation(const Generation &) = delete;

  int64_t context() const { return mille_generation_context(handle); }
  int64_t vocabulary() const { return mille_generation_vocabulary(handle); }
  void decode();
  void cancel() { mille_generation_cancel(handle); }

  int64_t open();
  void close(int64_t sequence);
  void append(int64_t sequence, const nb::object &ids);
  size_t follow(int64_t sequence, const nb::object &ids);
  void rewind(int64_t sequence, int64_t length);
  int64_t fork(int64_t sequence, std::optional<int64_t> length);
  std::vector<int32_t> ids(int64_t sequence);
  void save(int64_t sequence, const nb::object &path);
  int64_t load(const nb::object &path);

  // Ids, or an array of numbers, as the model's encoder takes them.
  void source(int64_t sequence, const nb::object &given);
  // The best continuation and its score.
  std::pair<std::vector<int32_t>, double>
  beams(int64_t sequence, int64_t count, int64_t maxTokens,
        const nb::object &end, double lengthPenalty,
        const nb::object &earlyStopping);
  int32_t sample(int64_t sequence, const Sampling &sampling);
  nb::object logits(int64_t sequence);
  nb::object output(int64_t sequence, const std::string &name);
  std::vector<std::pair<int32_t, double>> likeliest(int64_t sequence,
                                                    int64_t count);
  double logprob(int64_t sequence, int32_t id);
  std::unique_ptr<Answer> generate(const nb::object &ids, int64_t maxTokens,
                                   const nb::object &end,
                                   const nb::kwargs &sampling);

private:
  friend class Answer;
  template <typename Body> void callStep(Body body);
  template <typename Body> void call(Body body, bool interruptible = true);

  std::shared_ptr<mille_package> package; // stays open
  mille_generation *handle = nullptr;
  Running running; // one call at a time
};

// The ids that continue a prompt, one for each step of an iteration. Its
// sequence is closed with it, or at its end.
class Answer {
public:
  Answer(Generation &generation, const std::vector<int32_t> &ids,
         int64_t maxTokens, std::vector<int32_t> end,
         const nb::kwargs &sampling);
  ~Answer() {
    try {
      close(false);
    } catch (nb::python_error &error) {
      error.discard_as_unraisable("the end of an answer");
    }
  }
  Answer(const Answer &) = delete;
  int32_t next(); // throws nb::stop_iteration
  void close(bool interruptible = true);

private:
  int32_t step();

  Generation &generation;
  Sampling sampling;
  std::vector<int32_t> end, pending; // drawn, and not yet appended
  int64_t left, sequence = -1;
  bool stepping = false; // guarded by the interpreter's lock
};

void bindGeneration(nb::module_ &m);

} // namespace mille_python
