// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{has train 3 : i64 but must have a dictionary there}}
transformer.model @no_dictionary attributes {train = 3 : i64} {
  func.func @forward() { return }
}

// -----

// expected-error @+1 {{has train whose rate is -1.000000e+00 : f64 but must be an f64 of at least 0}}
transformer.model @rate attributes {train = {optimizer = "sgd", schedule = "constant", rate = -1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = []}} {
  func.func @forward() { return }
}

// -----

// expected-error @+1 {{has train whose optimizer is "sdg" but must be one of sgd, adam, adamw, lamb, lion}}
transformer.model @optimizer attributes {train = {optimizer = "sdg", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = []}} {
  func.func @forward() { return }
}

// -----

// expected-error @+1 {{has train whose steps is absent but must be an i64 of at least 0}}
transformer.model @steps attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0,
    warmup = 0 : i64, accumulate = 1 : i64, groups = []}} {
  func.func @forward() { return }
}

// -----

// expected-error @+1 {{has train whose dropout is 1.000000e+00 : f64 but must be an f64 of at least 0 and below 1}}
transformer.model @dropout attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0, dropout = 1.0,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = []}} {
  func.func @forward() { return }
}

// -----

// expected-error @+1 {{has train whose accumulate is 0 but must be at least 1}}
transformer.model @accumulate attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 0 : i64, groups = []}} {
  func.func @forward() { return }
}

// -----

// expected-error @+1 {{has train with an expert_balance, the load of experts in a whole batch, but accumulate is 2}}
transformer.model @balance attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0, expert_balance = 0.01,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 2 : i64, groups = []}} {
  func.func @forward() { return }
}

// -----

// expected-error @+1 {{has train with the key "speed", which it has not}}
transformer.model @unknown attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = [], speed = 1.0}} {
  func.func @forward() { return }
}

// -----

// expected-error @+1 {{has train whose match is absent but must be a string}}
transformer.model @group attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = [{rate = 1.0, weight_decay = 0.0}]}} {
  func.func @forward() { return }
}
