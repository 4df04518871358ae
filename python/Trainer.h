// Trainers for Python. Must not compute: the package's runtime does.
#pragma once
#include "Arrays.h"

namespace mille_python {

// A mille_trained_parameter that outlives its package.
struct TrainedParameter {
  std::string name;
  nb::tuple shape;
  double gradientNorm, rate, weightDecay, trust;
};

class Trainer {
public:
  Trainer(const Package &opened, const Sizes &most, int threads);
  ~Trainer() { mille_trainer_close(handle); }
  Trainer(const Trainer &) = delete;

  // What a step takes of a caller.
  const std::vector<Tensor> &inputs() const { return asked; }
  mille_step_report step(const nb::kwargs &arrays);
  mille_step_report gradients(const nb::kwargs &arrays);
  std::pair<double, int64_t> evaluate(const nb::kwargs &arrays);
  void cancel();
  void close();

  // None stands for the package's number.
  void set(const nb::object &numbers, const nb::kwargs &named);
  std::string note(const std::string &name);
  void setNote(const std::string &name, const std::string &text);
  void save(const nb::object &path);
  void load(const nb::object &path);

  int64_t steps();
  size_t memory();
  mille_training_report report();
  std::vector<std::string> names();
  TrainedParameter parameter(const std::string &name);
  nb::object gradient(const std::string &name);
  nb::object weight(const std::string &name);

private:
  // `body` must not touch the interpreter.
  template <typename Body> void call(Body body);
  template <typename Body> void callStep(Body body);
  template <typename Body> void run(const nb::kwargs &arrays, Body body);
  void setOne(const nb::handle &name, const nb::handle &value);
  mille_trained_parameter find(const std::string &name);
  // What `copy` gives of a parameter, as an array.
  template <typename Copy>
  nb::object copied(const std::string &name, Copy copy);

  std::shared_ptr<mille_package> package; // stays open
  std::string packageName;
  // Of the entry train_step; `asked` lacks what the trainer itself gives.
  std::vector<Tensor> all, asked;
  mille_trainer *handle = nullptr; // null: closed
  Running running;                 // one call at a time
};

// The sequences of the data that a step takes, of `count`, as `mille train`
// takes them: in each epoch in the order of another permutation.
std::vector<int64_t> rowsOfStep(int64_t step, int64_t batch, int64_t count,
                                uint64_t seed);

// (tokens with some hidden, labels) of one sequence.
std::pair<nb::object, nb::object> maskTokens(const nb::object &tokens,
                                             const mille_masking &how,
                                             uint64_t sequence, uint64_t epoch,
                                             uint64_t seed,
                                             const nb::object &never);

void bindTrainer(nb::module_ &m);

} // namespace mille_python
