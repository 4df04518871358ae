/* The functions of trainers: a part of mille.h, which includes it. */
#ifndef MILLE_TRAIN_H
#define MILLE_TRAIN_H
#ifndef MILLE_H
#error "include mille.h"
#endif

/* A trainer of a package that was compiled with --train: a session with weights
 * of its own, which steps change, and the optimizer's states. The package and
 * its file stay as they are. As a session it takes one call at a time, but for
 * mille_trainer_cancel. */

typedef struct mille_step_report {
  int64_t step;         /* of this update, from 1 on */
  double loss;          /* the mean over the labels that count */
  int64_t labels;       /* how many they are */
  double gradient_norm; /* before it is clipped */
  double rate;
} mille_step_report;

/* For batches of up to these sizes. Where the model accumulates, a batch is cut
 * into that many equal parts, and the memory is that of a part. */
mille_status mille_trainer_create(mille_package *package,
                                  const mille_size *most, size_t count,
                                  int threads, mille_trainer **trainer);
/* `trainer` may be null. */
mille_status mille_trainer_close(mille_trainer *trainer);

/* One update of the weights by a batch. The inputs are those of the entry
 * "train_step": `labels` has the id that each token should give, or -100, which
 * does not count; `loss_weight`, and `step` where there is one, may be null.
 * A step that fails changes nothing; MILLE_INVALID_INPUT: an id or label is out
 * of range, or the loss or the gradient is not finite, and the message says
 * where. One exception: where steps neither clip nor accumulate, a layer's
 * weights change while those below it are computed, and a gradient that is not
 * finite may be found after that. The message says so, and the trainer then
 * does nothing until it loads a checkpoint. */
mille_status mille_trainer_step(mille_trainer *trainer, const mille_size *sizes,
                                size_t count, const void *const *inputs,
                                mille_step_report *report);
/* The gradients by a batch without an update: all but that is as in a step, and
 * `report` is that of the step. `clip` changes no gradient. The first call
 * takes memory for the gradients of all layers. */
mille_status mille_trainer_gradients(mille_trainer *trainer,
                                     const mille_size *sizes, size_t count,
                                     const void *const *inputs,
                                     mille_step_report *report);
/* Copies the gradient of the parameter `name` by the last call of
 * mille_trainer_gradients; it has `count` numbers. A step uses gradients up. */
mille_status mille_trainer_gradient(mille_trainer *trainer, const char *name,
                                    float *numbers, size_t count);
/* The mean loss of a batch without an update, and its labels that count. */
mille_status mille_trainer_evaluate(mille_trainer *trainer,
                                    const mille_size *sizes, size_t count,
                                    const void *const *inputs, double *loss,
                                    int64_t *labels);
/* From the next step on a number of the training is `value`; NAN: as the
 * package says. The names:
 *   "rate"      the learning rate, in place of the schedule's
 *   "peak_rate", "end_rate", "warmup", "steps"    of the schedule
 *   "clip"      the most that the gradient's length may be; 0: any
 *   "momentum"  of sgd; "beta1", "beta2", "epsilon" of the others
 *   "rate:PATTERN", "weight_decay:PATTERN"    of the parameters whose names
 *       match (* stands for any text, {a,b} for a or b), in place of their
 *       group's: a factor of the rate, and the decay. What the package keeps
 *       as it is, with a rate and a decay of 0, stays so.
 *   "dropout_seed"    whose masks are another training's; below 2^32
 *   "step"      the updates that are done, from which the schedule, the masks
 *       and the corrections of moments go on; not NAN
 * or a scheduled scale. Of these a checkpoint keeps the step alone. */
mille_status mille_trainer_set(mille_trainer *trainer, const char *name,
                               double value);
/* A checkpoint's notes: "seed", "data", "mask", up to 159 plain characters. */
mille_status mille_trainer_set_note(mille_trainer *trainer, const char *name,
                                    const char *text);
/* "" where there is none. */
const char *mille_trainer_note(const mille_trainer *trainer, const char *name);
/* Writes the parameters, the optimizer's states and the number of steps to one
 * safetensors file. The file is whole or, where this fails or the machine stops
 * meanwhile, what it was before; then PATH.partial may be left. */
mille_status mille_trainer_save(mille_trainer *trainer, const char *path);
/* Goes on as the trainer that saved the file: the next step has the same bits.
 * MILLE_BAD_WEIGHTS: the file is damaged, or of another model or optimizer. */
mille_status mille_trainer_load(mille_trainer *trainer, const char *path);
/* The updates that are done, those before a load too. */
mille_status mille_trainer_steps(const mille_trainer *trainer, int64_t *steps);
/* Bytes of memory, with those of its session. */
mille_status mille_trainer_memory(const mille_trainer *trainer, size_t *bytes);
/* What a trainer holds and has done since it was made. Seconds are those of
 * steps on the clock; evaluations do not count, nor steps that fail. */
typedef struct mille_training_report {
  mille_step_report last; /* of the last step; its step 0: there was none */
  int64_t steps, sequences, labels; /* that it has learnt from */
  double seconds;
  double forward_seconds;  /* until all losses are known */
  double backward_seconds; /* from there on, without updates */
  double update_seconds;   /* with the gradient's length */
  size_t bytes;            /* all: the next four, and what keeps account */
  size_t weight_bytes, state_bytes;
  size_t gradient_bytes; /* of all parameters, or of the largest layer */
  size_t session_bytes;  /* what layers save, and what kernels work in */
} mille_training_report;
mille_status mille_trainer_report(const mille_trainer *trainer,
                                  mille_training_report *report);

/* A parameter, and how the last step changed it. */
typedef struct mille_trained_parameter {
  const char *name; /* the package's: valid until it is closed */
  int64_t elements;
  int64_t shape[4];
  size_t rank;
  double gradient_norm; /* before it is clipped; 0 where there was no step */
  double rate;          /* the factor of the next step's rate */
  double weight_decay;  /* of the next step */
  double trust;         /* lamb's factor of the last step; others: 1 */
} mille_trained_parameter;
mille_status mille_trainer_parameter_count(const mille_trainer *trainer,
                                           size_t *count);
/* `index` counts in the model's order. The gradient is that of the last call of
 * mille_trainer_step or mille_trainer_gradients. */
mille_status mille_trainer_parameter(const mille_trainer *trainer, size_t index,
                                     mille_trained_parameter *parameter);
/* Copies the parameter `name` as the steps so far have left it; it has `count`
 * numbers. Fails where a failed step has left weights of two steps. */
mille_status mille_trainer_weight(mille_trainer *trainer, const char *name,
                                  float *numbers, size_t count);
/* May be called from any thread: a step or an evaluation that is under way
 * returns MILLE_CANCELLED, and the weights are as before it. Where some have
 * changed already, or all runs of the step's parts are over, it is finished and
 * returns MILLE_OK. */
mille_status mille_trainer_cancel(mille_trainer *trainer);
/* The message of the last call that failed. */
const char *mille_trainer_message(const mille_trainer *trainer);

/* Number `index` of the permutation of 0 .. count - 1 that (seed, epoch) name:
 * an order of data that needs no memory. count 0: 0. */
uint64_t mille_data_order(uint64_t seed, uint64_t epoch, uint64_t index,
                          uint64_t count);

/* How tokens of a masked language model are hidden: a share `rate` is chosen;
 * of those one share becomes `id`, one any of `ids` ids, and others stay. */
typedef struct mille_masking {
  double rate, replaced, random;
  int32_t id, ids;
} mille_masking;

/* Chooses among the tokens of a sequence, writes them to `labels`, -100 for all
 * others, and hides them in `tokens`. A choice follows from (seed, epoch,
 * sequence, place) alone. Tokens whose `never` is not 0 stay; it may be null.
 * Where none is chosen, one that may be is. MILLE_INVALID_ARGUMENT: a pointer
 * is null, shares are not in 0 to 1, or `id` is not in 0 to ids - 1. */
mille_status mille_mask_tokens(const mille_masking *masking, uint64_t seed,
                               uint64_t epoch, uint64_t sequence,
                               const uint8_t *never, size_t count,
                               int32_t *tokens, int32_t *labels,
                               size_t *chosen);

#endif
