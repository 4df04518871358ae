// The keys of `train` and its groups. Must be included by SpecKeys.cpp only.
#pragma once
#include "compiler/import/spec/SpecKeys.h"
#include "dialects/transformer/Training.h"

namespace mille::import {

inline constexpr SpecKey trainKeys[] = {
    {"loss", KeyKind::word, mille::lossWords, "by_output",
     "by_output: mean_squared_error where the logits are one number, else "
     "cross_entropy; binary_cross_entropy: each logit is a yes or no"},
    {"optimizer", KeyKind::word, mille::optimizerWords, "adamw",
     "adam adds weight_decay to the gradient, adamw takes it off the weight"},
    {"rate", KeyKind::positive, "", "0.001", "the highest learning rate"},
    {"schedule", KeyKind::word, mille::rateWords, "constant",
     "of the rate, after `warmup` steps in which it rises evenly"},
    {"warmup", KeyKind::integer, "", "0", "steps; the first has rate / warmup"},
    {"steps", KeyKind::integer, "", "0",
     "at which linear and cosine come to end_rate"},
    {"end_rate", KeyKind::number, "", "0", "the rate from `steps` on"},
    {"momentum", KeyKind::number, "", "0", "of sgd"},
    {"beta1", KeyKind::number, "", "0.9", "of the mean of gradients"},
    {"beta2", KeyKind::number, "", "0.999",
     "of the mean of their squares; of lion's mean"},
    {"epsilon", KeyKind::positive, "", "1e-8", "added to the root of that"},
    {"weight_decay", KeyKind::number, "", "0", "of parameters in no group"},
    {"clip", KeyKind::number, "", "0",
     "the most that the gradient's length may be; 0: any"},
    {"label_smoothing", KeyKind::number, "", "0",
     "the part of a label that is spread over all tokens"},
    {"dropout", KeyKind::number, "", "0",
     "the share of the numbers of embeddings and branches that become 0"},
    {"expert_balance", KeyKind::number, "", "0",
     "the factor of the loss that balances the load of experts"},
    {"accumulate", KeyKind::whole, "", "1",
     "parts of a batch that run in turn"},
    {"groups", KeyKind::objects, "group", "none",
     "a parameter belongs to the first that matches its name"}};

inline constexpr SpecKey groupKeys[] = {
    {"match", KeyKind::text, "", "required",
     "a pattern of names: * stands for any text, {a,b} for a or b"},
    {"rate", KeyKind::number, "", "1", "a factor of the rate"},
    {"weight_decay", KeyKind::number, "", "that of train", "in its place"}};

} // namespace mille::import
