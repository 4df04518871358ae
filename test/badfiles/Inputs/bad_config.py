"""Hugging Face folders that do not fit together, or that Mille does not do."""
import os

from files import *


def llama(**changes):
    return lambda folder: hub(folder, dict(LLAMA, **changes))


def bert(**changes):
    return lambda folder: hub(folder, dict(BERT, **changes))


def without(name):
    shapes = {key: shape for key, shape in LLAMA_SHAPES.items() if key != name}
    return lambda folder: hub(folder, LLAMA, tensors(shapes))


def shard(weight_map, **shards):
    return lambda folder: sharded(folder, weight_map, {key + ".safetensors": value for key, value in shards.items()})


def mlir(text):
    def make(folder):
        write(os.path.join(folder, "model.mlir"), text)
        return os.path.join(folder, "model.mlir")
    return make


def empty_folder(folder):
    return folder


def spec_folder(folder):
    native(folder)
    return folder


def other_suffix(folder):
    write(os.path.join(folder, "model.onnx"), "")
    return os.path.join(folder, "model.onnx")


FORWARD = '''func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"})
    -> (tensor<?x?x8xf32> {transformer.name = "y"}) { return %x : tensor<?x?x8xf32> }'''
SMALL = tensors(LLAMA_SHAPES)

def pickled(folder):
    path = hub(folder, LLAMA, weights=False)
    with open(os.path.join(folder, "pytorch_model.bin"), "wb"):
        return path


CASES = [
    ("absent", lambda folder: os.path.join(folder, "nowhere"), ["nowhere: error: cannot read the model: No such file or directory"]),
    ("empty_folder", empty_folder, ["error: the folder has no config.json"]),
    ("spec_folder", spec_folder, ["error: the folder has no config.json", "help: a native spec is given by its file, "]),
    ("other_suffix", other_suffix, ["error: a model is a folder with config.json, a native spec (*.json), *.gguf or *.mlir"]),
    ("no_weights", lambda folder: hub(folder, LLAMA, weights=False),
     ["error: the folder has neither model.safetensors nor model.safetensors.index.json",
      "help: --weights=FILE names another file, --weights=random:SEED makes weights"]),
    ("pickled", pickled,
     ["error: the folder has neither model.safetensors nor",
      "help: pytorch_model.bin is not read: save_pretrained of transformers writes safetensors"]),
    ("model_type", llama(model_type="hyena"),
     ['error: model_type is "hyena" but Mille knows afmoe, ',
      "help: a model of another family can be written as a native spec"]),
    ("model_type_near", llama(model_type="lama"), ['error: model_type is "lama" but Mille knows', 'help: did you mean "llama"?']),
    ("no_model_type", llama(model_type=None), ["error: the config has no model_type but Mille knows afmoe, "]),
    ("architecture", llama(architectures=["LlamaForSequenceClassification"]),
     ['error: architectures is ["LlamaForSequenceClassification"] but of llama Mille does LlamaModel and LlamaForCausalLM',
      'help: "architectures": ["LlamaModel"] gives the model without its head']),
    ("kv_heads", llama(num_attention_heads=32, num_key_value_heads=5, head_dim=4),
     ["error: num_key_value_heads is 5 but must divide num_attention_heads, which is 32",
      "note: num_attention_heads is given here", "help: nearest divisors of 32 are 4 and 8"]),
    ("heads", bert(num_attention_heads=3), ["error: num_attention_heads is 3 but must divide hidden_size, which is 8"]),
    ("activation", llama(hidden_act="sillu"), ['error: hidden_act is "sillu" but must be', 'help: did you mean "silu"?']),
    ("rope_type", llama(rope_scaling={"rope_type": "ntk", "factor": 4.0}),
     ['error: rope_type of rope_scaling is "ntk" but Mille does only "default", "linear", "dynamic", "yarn", "longrope", "llama3" and "proportional"']),
    ("rope_old_type", llama(rope_scaling={"type": "ntk", "factor": 4.0}), ['error: type of rope_scaling is "ntk" but']),
    ("rope_dynamic", llama(max_position_embeddings=8, rope_scaling={"type": "dynamic", "factor": 0.5}),
     ["error: factor is 0.5 for 2 pairs but dynamic RoPE needs a factor from 1 and 2 pairs"]),
    ("rope_no_length", llama(rope_scaling={"type": "dynamic", "factor": 4.0}), ["error: the config has no max_position_embeddings"]),
    ("rope_factors", llama(max_position_embeddings=8, rope_scaling={"type": "longrope", "factor": 2.0, "short_factor": [1.0], "long_factor": [1.0, 0]}),
     ["error: short_factor of rope_scaling has 1 factors but RoPE turns 2 pairs", "error: an entry of long_factor is 0 but must be more than 0"]),
    ("rope_llama3", llama(max_position_embeddings=8, rope_scaling={"rope_type": "llama3", "factor": 2.0, "low_freq_factor": 4.0, "high_freq_factor": 1.0, "original_max_position_embeddings": 8}),
     ["error: low_freq_factor is 4.0 but high_freq_factor is 1.0"]),
    ("rope_no_factor", llama(rope_scaling={"type": "linear"}), ["error: rope_scaling has no factor"]),
    ("rope_parameters", llama(rope_parameters={"rope_type": "ntk"}), ['error: rope_type of rope_parameters is "ntk" but']),
    ("rope_text", llama(rope_scaling="linear"), ['error: rope_scaling is "linear" but must be an object']),
    ("quantized", llama(quantization_config={"quant_method": "fp8"}),
     ['error: quantization_config is {"quant_method": "fp8"} but Mille does not do that yet']),
    ("relative_positions", bert(position_embedding_type="relative_key"),
     ['error: position_embedding_type is "relative_key" but Mille does only "absolute"']),
    ("attention_types", llama(model_type="gpt_neo", architectures=[], num_layers=2, num_heads=2, attention_types=[[["global"], 3]]),
     ["error: attention_types gives 3 layers but num_layers is 2", "note: num_layers is given here"]),
    ("attention_kinds", llama(model_type="gpt_neo", architectures=[], num_layers=2, num_heads=2, attention_types=[[["global", "near"], 1]]),
     ['error: attention_types has "near" but Mille knows "global" and "local"']),
    ("attention_layers", llama(model_type="gpt_neo", architectures=[], num_layers=2, num_heads=2, attention_types=[[["global"], 2]], attention_layers=["local"]),
     ["error: attention_layers gives 1 layers but num_layers is 2", "note: num_layers is given here"]),
    ("falcon_keys", llama(model_type="falcon", architectures=[], multi_query=False, num_kv_heads=1),
     ["error: num_kv_heads is 1 but num_attention_heads is 2 and neither multi_query nor new_decoder_architecture is true"]),
    ("rotary_dim", llama(model_type="gptj", architectures=[], n_layer=1, n_embd=8, n_head=2, rotary_dim=6),
     ["error: rotary_dim is 6 but must be even and at most 4, the dimensions of a head"]),
    ("layer_types", llama(model_type="qwen2", architectures=[], layer_types=["full_attention", "full_attention"]),
     ["error: layer_types has 2 entries but num_hidden_layers is 1"]),
    ("layer_type", llama(model_type="qwen2", architectures=[], layer_types=["recurrent"]),
     ['error: an entry of layer_types is "recurrent" but must be "full_attention" or "sliding_attention"']),
    ("too_few_experts", llama(model_type="mixtral", architectures=[], num_local_experts=2, num_experts_per_tok=3),
     ["error: num_experts_per_tok is 3 but num_local_experts is 2", "note: num_local_experts is given here"]),
    ("low_rank_keys", llama(model_type="deepseek_v3", architectures=[]),
     ["error: num_key_value_heads is 1 but num_attention_heads is 2: low-rank keys have a head for each query"]),
    ("expert_groups", llama(model_type="deepseek_v3", architectures=[], num_key_value_heads=2, n_routed_experts=4, n_group=3),
     ["error: n_group is 3 but must divide n_routed_experts, which is 4"]),
    ("expert_top_groups", llama(model_type="deepseek_v3", architectures=[], num_key_value_heads=2, n_routed_experts=4, n_group=2, topk_group=3, num_experts_per_tok=2),
     ["error: topk_group is 3 of 2 groups but num_experts_per_tok, 2, experts must be in them"]),
    ("expert_choice", llama(model_type="deepseek_v3", architectures=[], num_key_value_heads=2, topk_method="greedy"),
     ['error: topk_method is "greedy" but Mille does only "noaux_tc"']),
    ("no_rope_layers", llama(model_type="smollm3", architectures=[], num_hidden_layers=3, no_rope_layers=[1, "x"]),
     ['error: an entry of no_rope_layers is "x" but must be a whole number', "error: no_rope_layers has 2 entries but num_hidden_layers is 3"]),
    ("growing_scores", llama(model_type="ministral3", architectures=[], rope_parameters={"rope_type": "default", "llama_4_scaling_beta": 0.1}),
     ["error: llama_4_scaling_beta is 0.1 but must be a number beside an original_max_position_embeddings from 1"]),
    ("mpt_without_alibi", llama(model_type="mpt", architectures=[], d_model=8, n_heads=2, n_layers=1, attn_config={"alibi": False}),
     ["error: alibi is false but Mille does only true"]),
    ("part_of_whole_heads", llama(partial_rotary_factor=0.5), ["error: partial_rotary_factor is 0.5 but heads turn whole"]),
    ("part_inside", llama(rope_parameters={"rope_type": "default", "partial_rotary_factor": 0.5}),
     ["error: partial_rotary_factor is 0.5 but heads turn whole"]),
    ("rope_of_layers", llama(model_type="qwen3", architectures=[], rope_parameters={"full_attention": {"rope_theta": 100.0}}),
     ['error: "full_attention" of rope_parameters is {"rope_theta": 1e+02} but all layers have the same RoPE']),
    ("rope_for_no_layers", llama(model_type="olmo3", architectures=[], rope_parameters={"rope_theta": 100.0}),
     ['error: rope_parameters has no "full_attention" but RoPE is given for each kind of layers']),
    ("rope_twice", llama(model_type="olmo3", architectures=[], rope_scaling={"rope_type": "linear", "factor": 2.0}, rope_parameters={"full_attention": {"rope_theta": 100.0}}),
     ["error: rope_scaling is given but rope_parameters is, too"]),
    ("rope_old_word", llama(model_type="olmo3", architectures=[], rope_scaling={"type": "linear", "factor": 2.0}),
     ["error: rope_scaling has a type but layers of several kinds go by its rope_type"]),
    ("rope_truncate", llama(model_type="olmo3", architectures=[], rope_parameters={"full_attention": {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 8, "truncate": False}}),
     ["error: truncate is false but Mille does only true"]),
    ("no_window", llama(model_type="gemma2", architectures=[], layer_types=["sliding_attention"], sliding_window=None),
     ['error: layer_types has "sliding_attention" but the config has no sliding window']),
    ("unused_window", llama(model_type="qwen2_moe", architectures=[], layer_types=["sliding_attention"], sliding_window=4, use_sliding_window=False),
     ['error: layer_types has "sliding_attention" but the config has no sliding window']),
    ("doge_experts", llama(model_type="doge", architectures=[], is_moe=True), ["error: is_moe is true but Mille does only false"]),
    ("route_norm", llama(model_type="afmoe", architectures=[], route_norm=False), ["error: route_norm is false but Mille does only true"]),
    ("swiglu_alpha", llama(model_type="gpt_oss", architectures=[], swiglu_alpha=1.5), ["error: swiglu_alpha is 1.5 but Mille does only 1.702"]),
    ("bert_decoder", bert(is_decoder=True), ["error: is_decoder is true but Mille does only false"]),
    ("cross_attention", bert(add_cross_attention=True), ["error: add_cross_attention is true but Mille does only false"]),
    ("pruned_heads", bert(pruned_heads={"0": [1]}), ['error: pruned_heads is {"0": [1]} but Mille does only {}']),
    ("tied_text", llama(tie_word_embeddings="yes"), ['error: tie_word_embeddings is "yes" but must be true or false']),
    ("rope_odd", llama(model_type="phi", architectures=[], num_attention_heads=1, num_key_value_heads=1, hidden_size=6, partial_rotary_factor=0.5),
     ["error: RoPE turns 3 of the 6 dimensions of a head, but must turn pairs of them"]),
    ("rope_odd_stablelm", llama(model_type="stablelm", architectures=[], num_attention_heads=1, hidden_size=6, partial_rotary_factor=0.25),
     ["error: RoPE turns 1 of the 6 dimensions of a head, but must turn pairs of them"]),
    ("eps", llama(rms_norm_eps=-1e-6), ["error: rms_norm_eps is -1e-06 but must be more than 0"]),
    ("missing_tensor", without("model.norm.weight"),
     ["config.json:1:1: error: tensor 'model.norm.weight' [8] is not in model.safetensors", "note: hidden_size is 8 here"]),
    ("missing_head", without("lm_head.weight"), ["error: tensor 'lm_head.weight' [16, 8] is not in model.safetensors"]),
    ("wrong_shape", llama(intermediate_size=13),
     ["model.safetensors: error: tensor 'model.layers.0.mlp.gate_proj.weight' is [12, 8] but the model needs [13, 8]",
      "config.json:10:23: note: intermediate_size is 13 here"]),
    ("deeper", llama(num_hidden_layers=100), ["error: tensor 'model.layers.1.input_layernorm.weight' [8] is not in model.safetensors",
                                              "there are 871 more errors"]),
    ("notes_many", llama(num_hidden_layers=100, **{"unknown_%03d" % i: i for i in range(130)}),
     ["note: key 'unknown_099' is 99 but Mille does not know it", "there are 30 more notes", "there are 871 more errors"]),
    ("config_array", lambda folder: hub(folder, "[]"), ["config.json:1:1: error: an object was expected here"]),
    ("index_no_map", shard("{}"), ["error: the index has no weight_map object"]),
    ("index_no_shard", shard({"a": "one.safetensors"}), ["error: tensor 'a' is in \"one.safetensors\" but there is no such file"]),
    ("index_lies", shard({"a": "one.safetensors"}, one=SMALL), ["error: tensor 'a' is in \"one.safetensors\" by the index but that file does not have it"]),
    ("index_elsewhere", shard({"a": "../one.safetensors"}), ["error: tensor 'a' is in \"../one.safetensors\" but a shard is the name of a file in this folder"]),
    ("index_number", shard({"a": 1}), ["error: tensor 'a' is in 1 but a shard is"]),
    ("index_bad_shard", shard({"a": "one.safetensors"}, one=b"123"), ["one.safetensors: error: the file has 3 bytes but"]),
    ("mlir_deep", mlir('module attributes {a = tensor<' + "tuple<" * 20_000 + ">" * 20_000 + "} {}"),
     ["model.mlir:1:", "error: brackets nest more than 256 deep"]),
    ("mlir_far_result", mlir(b"func.func @f() {\n  return %x#2147483648 : index\n}\n"), ["model.mlir:2:12: error: the number of a result must be below 65536"]),
    ("mlir_bytecode", mlir("ML\xefR".encode("latin-1") + bytes(64)), ["model.mlir: error: the file is MLIR's bytecode but only text is read"]),
    ("mlir_no_model", mlir("module {}"), ["error: the file holds 0 transformer.model but must hold one"]),
    ("mlir_two_models", mlir("module { transformer.model @a { %s } transformer.model @b { %s } }" % (FORWARD, FORWARD)),
     ["error: the file holds 2 transformer.model but must hold one"]),
    ("mlir_syntax", mlir("module { transformer.model @a {"), ["model.mlir:1:30: error: expected operation name in quotes"]),
    ("mlir_unknown_op", mlir("module { transformer.modle @a {} }"), ["model.mlir:1:10: error: custom op 'transformer.modle' is unknown"]),
]
