"""Image models whose keys do not fit together, or that Mille does not do: the
models of test/conformance with other keys."""
import json
import os
import shutil

CONFORMANCE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                           os.pardir, os.pardir, "conformance")


def changed(case, inside=None, **changes):
    """The case with other keys, those of the object `inside` where it is given."""
    def make(folder):
        source = os.path.join(CONFORMANCE, case)
        shutil.copy(os.path.join(source, "model.safetensors"), folder)
        with open(os.path.join(source, "config.json")) as file:
            config = json.load(file)
        keys = config if inside is None else config[inside]
        for key, value in changes.items():
            keys[key] = value
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump(config, file, indent=1)
        return folder
    return make


CASES = [
    # Sizes
    ("image_three_sides", changed("vit_classifier", image_size=[12, 12, 12]),
     ["error: image_size has 3 entries but must be a number or [height, width]"]),
    ("image_half", changed("vit_classifier", image_size=[12, 1.5]),
     ["error: image_size has 1.5 but its entries are whole numbers from 1"]),
    ("image_word", changed("vit_classifier", image_size="large"),
     ['error: image_size is "large" but must be a whole number from 1']),
    ("patch_larger", changed("vit_classifier", patch_size=16),
     ["error: image_size is 12 but patch_size is 16", "note: patch_size is given here"]),
    ("positions_of_another_size", changed("vit_classifier", image_size=16),
     ["error: tensor 'vit.embeddings.position_embeddings' is [1, 10, 32] but the model needs [17, 32]",
      "note: image_size is 16 here", "note: patch_size is 4 here"]),
    ("patch_of_another_size", changed("siglip_vision", patch_size=6),
     ["error: tensor 'vision_model.embeddings.patch_embedding.weight' is [24, 3, 4, 4] but the model needs [24, 3, 6, 6]",
      "note: patch_size is 6 here"]),
    ("dinov2_not_square", changed("dinov2", image_size=[12, 20]),
     ["error: image_size is [12, 20] but positions are learned for a square: both must be the same"]),
    ("beit_rectangle", changed("beit_relative", image_size=[12, 20]),
     ["error: image_size makes 3 x 5 patches but biases by their distance are done for squares only"]),
    # Classes
    ("no_class", changed("vit_classifier", id2label={}),
     ["error: id2label is {} but a classifier has a class or more"]),
    ("other_classes", changed("deit", id2label={"0": "A", "1": "B"}),
     ["error: tensor 'cls_classifier.weight' is [7, 24] but the model needs [2, 24]", "note: id2label is 2 here"]),
    ("vit_masked", changed("vit_pooler", architectures=["ViTForMaskedImageModeling"]),
     ['architectures is ["ViTForMaskedImageModeling"] but of vit Mille does ViTModel and ViTForImageClassification']),
    ("beit_segmentation", changed("beit_relative", architectures=["BeitForSemanticSegmentation"]),
     ["but of beit Mille does BeitModel and BeitForImageClassification"]),
    # Rotation
    ("heads_of_two_axes", changed("dinov3_vit", num_attention_heads=4),
     ["error: num_attention_heads is 4 but heads of 6 dimensions do not turn by two axes: 4 must divide them",
      "note: hidden_size / num_attention_heads is 6"]),
    ("rope_parameters", changed("dinov3_vit", rope_parameters={"rope_theta": 20}),
     ['error: rope_parameters is {"rope_theta": 20} but Mille does only null']),
    # Windows
    ("no_stages", changed("swin", depths=[]), ["error: depths is [] but there must be a stage"]),
    ("heads_of_three_stages", changed("swin", num_heads=[2, 4, 8]),
     ["error: num_heads has 3 entries but depths has 2", "note: depths is given here"]),
    ("depth_of_none", changed("swin", depths=[2, 0]),
     ["error: depths has 0 but its entries are whole numbers from 1"]),
    ("window_too_large", changed("swin", window_size=7),
     ["error: window_size is 7 but stage 1 has 4 x 4 tokens"]),
    ("patch_divides", changed("swin", image_size=15),
     ["error: image_size is 15 but patch_size must divide it, which is 2", "note: patch_size is given here"]),
    ("trained_windows", changed("swinv2", pretrained_window_sizes=[4]),
     ["error: pretrained_window_sizes is [4] but must have a size from 2, or 0, for each of the 2 stages"]),
    ("trained_window_of_one", changed("swinv2", pretrained_window_sizes=[1, 4]),
     ["error: pretrained_window_sizes is [1, 4] but must have"]),
    # Two towers
    ("second_text_config", changed("clip", text_config_dict={"hidden_size": 32}),
     ["error: hidden_size of text_config_dict is 32 but of text_config it is 24",
      "help: transformers takes text_config_dict's: write it in text_config"]),
    ("projection", changed("clip", projection_dim=7),
     ["error: tensor 'text_projection.weight' is [12, 24] but the model needs [7, 24]"]),
    ("no_image_head", changed("siglip", inside="vision_config", vision_use_head=False),
     ["error: vision_use_head is false but there is a text tower to compare with"]),
    ("other_width", changed("siglip", inside="text_config", projection_size=12),
     ["error: projection_size of text_config is 12 but hidden_size of vision_config is 24",
      "note: hidden_size of vision_config is given here"]),
]
