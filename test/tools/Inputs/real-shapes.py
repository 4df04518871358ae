"""real-shapes.py DIR: configurations of models as they are published, but for two layers,
DIR/NAME/config.json; DIR/deepnorm.json is a specification (1000 layers of 256 / 1024)."""
import json
import os
import sys

LLAMA = {"num_hidden_layers": 2, "hidden_act": "silu", "tie_word_embeddings": True}
MODELS = {
    "bert": ("BertForMaskedLM", {
        "hidden_size": 768, "num_hidden_layers": 2, "num_attention_heads": 12,
        "intermediate_size": 3072, "hidden_act": "gelu", "vocab_size": 30522,
        "max_position_embeddings": 512, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
        "pad_token_id": 0}),
    "gpt2": ("GPT2LMHeadModel", {
        "n_embd": 768, "n_layer": 2, "n_head": 12, "n_positions": 1024, "vocab_size": 50257,
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5}),
    "llama": ("LlamaForCausalLM", LLAMA | {
        "hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8,
        "head_dim": 64, "vocab_size": 128256, "intermediate_size": 8192,
        "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 500000.0}),
    "qwen3": ("Qwen3ForCausalLM", LLAMA | {
        "hidden_size": 1024, "num_attention_heads": 16, "num_key_value_heads": 8,
        "head_dim": 128, "vocab_size": 151936, "intermediate_size": 3072,
        "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000}),
    "gemma2": ("Gemma2ForCausalLM", {
        "hidden_size": 2304, "num_hidden_layers": 2, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 256000,
        "intermediate_size": 9216, "max_position_embeddings": 8192,
        "hidden_activation": "gelu_pytorch_tanh", "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0, "query_pre_attn_scalar": 256, "sliding_window": 4096,
        "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0}),
    "t5": ("T5ForConditionalGeneration", {
        "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 2, "num_decoder_layers": 2,
        "num_heads": 8, "vocab_size": 32128, "relative_attention_num_buckets": 32,
        "relative_attention_max_distance": 128, "layer_norm_epsilon": 1e-6,
        "feed_forward_proj": "relu", "is_encoder_decoder": True,
        "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}),
    "vit": ("ViTForImageClassification", {
        "hidden_size": 768, "num_hidden_layers": 2, "num_attention_heads": 12,
        "intermediate_size": 3072, "hidden_act": "gelu", "image_size": 224, "patch_size": 16,
        "num_channels": 3, "layer_norm_eps": 1e-12, "qkv_bias": True,
        "id2label": {str(i): str(i) for i in range(1000)}}),
}

folder = sys.argv[1]
for name, (architecture, config) in MODELS.items():
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, name, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"architectures": [architecture], "model_type": name} | config, file)

ALPHA = {"kind": "const", "value": 2000 ** 0.25, "formula": "(2*layers)^(1/4)"}
NORM = {"kind": "layer_norm", "affine": "weight", "bias": True, "eps": 1e-5}
unit = lambda branch: {"name": branch["name"], "residual_tap": "input", "out_norm": NORM,
                       "composition": "sequential", "skip_scale": ALPHA, "branches": [branch]}
with open(os.path.join(folder, "deepnorm.json"), "w", encoding="utf-8") as file:
    json.dump({
        "name": "deepnorm", "layers": 1000, "hidden_size": 256, "vocab_size": 32000,
        "units": [
            unit({"name": "attn", "kind": "attention", "heads": 4, "kv_heads": 4,
                  "head_dim": 64, "mask": "bidirectional",
                  "logit_scale": {"static": "rsqrt_head_dim"},
                  "bias": {"q": True, "k": True, "v": True, "o": True}}),
            unit({"name": "ffn", "kind": "ffn", "intermediate_size": 1024, "act": "gelu_erf",
                  "gated": "none", "bias": {"in": True, "out": True}})],
        "head": {"tied": False, "bias": False}}, file)
