// The names of tensors in GGUF files, which are the same for all architectures.
#include "compiler/import/gguf/Architectures.h"

using namespace mille;
using namespace mille::import;

#define BLOCK "blk.*."
llvm::ArrayRef<TensorName> mille::import::ggufTensors() {
  static constexpr TensorName names[] = {
      {"embed", "token_embd"},
      {"position", "position_embd"},
      {"token_type", "token_types"},
      {"embed_norm", "token_embd_norm"},
      {"layers.*.attn.in_norm", BLOCK "attn_norm"},
      {"layers.*.block.in_norm", BLOCK "attn_norm"},
      {"layers.*.attn.q", BLOCK "attn_q"},
      {"layers.*.attn.k", BLOCK "attn_k"},
      {"layers.*.attn.v", BLOCK "attn_v"},
      {"layers.*.attn.qkv", BLOCK "attn_qkv"},
      {"layers.*.attn.q", BLOCK "attn_qkv", false, 0, 3},
      {"layers.*.attn.k", BLOCK "attn_qkv", false, 1, 3},
      {"layers.*.attn.v", BLOCK "attn_qkv", false, 2, 3},
      {"layers.*.attn.q_a", BLOCK "attn_q_a"},
      {"layers.*.attn.q_a_norm", BLOCK "attn_q_a_norm"},
      {"layers.*.attn.q", BLOCK "attn_q_b"},
      {"layers.*.attn.kv_a", BLOCK "attn_kv_a_mqa"},
      {"layers.*.attn.kv_a_norm", BLOCK "attn_kv_a_norm"},
      {"layers.*.attn.kv_b", BLOCK "attn_kv_b"},
      {"layers.*.attn.k_b", BLOCK "attn_k_b"},
      {"layers.*.attn.v_b", BLOCK "attn_v_b"},
      {"layers.*.attn.o", BLOCK "attn_output"},
      {"layers.*.attn.sink", BLOCK "attn_sinks.weight"},
      {"layers.*.attn.q_norm", BLOCK "attn_q_norm"},
      {"layers.*.attn.k_norm", BLOCK "attn_k_norm"},
      {"layers.*.attn.branch_norm", BLOCK "post_attention_norm"},
      {"layers.*.attn.out_norm", BLOCK "attn_output_norm"},
      {"layers.*.ffn.in_norm", BLOCK "ffn_norm"},
      {"layers.*.ffn.branch_norm", BLOCK "post_ffw_norm"},
      {"layers.*.ffn.out_norm", BLOCK "layer_output_norm"},
      {"layers.*.ffn.gate", BLOCK "ffn_gate"},
      {"layers.*.ffn.in", BLOCK "ffn_up"},
      {"layers.*.ffn.out", BLOCK "ffn_down"},
      {"layers.*.ffn.router", BLOCK "ffn_gate_inp"},
      {"layers.*.ffn.router.selection_bias", BLOCK "exp_probs_b.bias"},
      {"layers.*.ffn.experts.gate", BLOCK "ffn_gate_exps"},
      {"layers.*.ffn.experts.in", BLOCK "ffn_up_exps"},
      {"layers.*.ffn.experts.out", BLOCK "ffn_down_exps"},
      // Older files have separate tensors for each expert.
      {"layers.*.ffn.experts.gate", BLOCK "ffn_gate.%"},
      {"layers.*.ffn.experts.in", BLOCK "ffn_up.%"},
      {"layers.*.ffn.experts.out", BLOCK "ffn_down.%"},
      {"layers.*.ffn.shared.gate", BLOCK "ffn_gate_shexp"},
      {"layers.*.ffn.shared.in", BLOCK "ffn_up_shexp"},
      {"layers.*.ffn.shared.out", BLOCK "ffn_down_shexp"},
      {"layers.*.ffn.shared_gate", BLOCK "ffn_gate_inp_shexp"},
      {"final_norm", "output_norm"},
      {"head", "output"}};
  return names;
}
