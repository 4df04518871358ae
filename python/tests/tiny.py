"""Tiny BERT folders with random weights, for tests."""
import json
import os
import pathlib

import numpy as np
import tokenizers

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", "blue", "green", "red",
         "house", "tree", ":", "##ish", "##s"]
TEXTS = ["blue house", "red", "", "tree tree green house red blue",
         "green tree house"]
H, F, POSITIONS = 16, 32, 24


def own_cache(folder):
    """A cache for $XDG_CACHE_HOME that holds no package; kernels, which take
    seconds to make, are those of the cache that the environment names."""
    folder = pathlib.Path(folder) / "cache"
    shared = os.environ.get("XDG_CACHE_HOME")
    if shared:
        kernels = pathlib.Path(shared) / "mille" / "kernels"
        kernels.mkdir(parents=True, exist_ok=True)
        (folder / "mille").mkdir(parents=True)
        (folder / "mille" / "kernels").symlink_to(kernels)
    return folder


def save(path, arrays):
    """A safetensors file: length of the header, header, numbers."""
    header, at = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": array.shape,
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text +
                     b"".join(array.tobytes() for array in arrays.values()))


def bert(folder, labels=0, tokens=False, seed=7, **config):
    """A BERT of one layer with random weights, and its tokenizer. labels:
    classes of texts, or of tokens."""
    random = np.random.default_rng(seed)
    number = lambda *shape: random.normal(0, .5, shape).astype(np.float32)
    prefix = "bert." if labels else ""
    layer = prefix + "encoder.layer.0."
    shapes = {prefix + "embeddings.word_embeddings.weight": (len(WORDS), H),
              prefix + "embeddings.position_embeddings.weight": (POSITIONS, H),
              prefix + "embeddings.token_type_embeddings.weight": (2, H)}
    for name, out, size in (("attention.self.query", H, H),
                            ("attention.self.key", H, H),
                            ("attention.self.value", H, H),
                            ("attention.output.dense", H, H),
                            ("intermediate.dense", F, H),
                            ("output.dense", H, F)):
        shapes[layer + name + ".weight"] = (out, size)
        shapes[layer + name + ".bias"] = (out,)
    for name in (prefix + "embeddings.", layer + "attention.output.",
                 layer + "output."):
        shapes[name + "LayerNorm.weight"] = shapes[name + "LayerNorm.bias"] = \
            (H,)
    if labels:
        heads = [("classifier", labels)]
        for name, out in heads if tokens else [("bert.pooler.dense", H),
                                               *heads]:
            shapes[name + ".weight"], shapes[name + ".bias"] = (out, H), (out,)
        config.setdefault("id2label",
                          {str(i): f"class {i}" for i in range(labels)})
    folder.mkdir(parents=True)
    save(folder / "model.safetensors",
         {name: number(*shape) for name, shape in shapes.items()})
    kind = "BertForTokenClassification" if tokens else \
        "BertForSequenceClassification" if labels else "BertModel"
    (folder / "config.json").write_text(json.dumps({
        "model_type": "bert", "architectures": [kind], "hidden_size": H,
        "intermediate_size": F, "num_hidden_layers": 1, "hidden_act": "gelu",
        "num_attention_heads": 2, "vocab_size": len(WORDS),
        "type_vocab_size": 2, "max_position_embeddings": POSITIONS,
        "layer_norm_eps": 1e-12, "pad_token_id": 0, **config}))
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(
        {word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.BertProcessing(
        ("[SEP]", 3), ("[CLS]", 2))
    made.decoder = tokenizers.decoders.WordPiece()
    made.enable_padding(length=20)  # as some folders have: must be undone
    made.save(str(folder / "tokenizer.json"))
    return folder


def sentences(folder, pooling, normalize=False, length=8):
    """Makes a sentence-transformers folder of a BERT."""
    modules = ["Transformer", "Pooling"] + ["Normalize"] * normalize
    paths = ["", "1_Pooling", "2_Normalize"]
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": i, "name": str(i), "path": paths[i],
          "type": f"sentence_transformers.models.{kind}"}
         for i, kind in enumerate(modules)]))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": length}))
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "query: "}}))
    return folder
