"""Configurations of Hugging Face's hub (config.json) are models: as many parameters as the released ones have, whatever verb asks."""
import json
import os
import sys
import tempfile

from checks import expect, expect_line, finish, run

# The released model's config.json (what bears on its size) and its parameters as the hub counts them, both recalled, and how near ours
# must be: 0 where the catalogue describes all of them, a share where it leaves out scales, biases or positions. Routers' corrections, which
# are buffers of some classes, are none.
LLAMA = dict(model_type="llama", hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
             num_key_value_heads=8, vocab_size=128256, max_position_embeddings=8192)
RELEASED = {
    "Meta-Llama-3-8B": (LLAMA, 8_030_261_248, 0),
    "SmolLM2-135M": (dict(model_type="llama", hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9,
                          num_key_value_heads=3, vocab_size=49152, tie_word_embeddings=True, max_position_embeddings=8192), 134_515_008, 0),
    "TinyLlama-1.1B": (dict(model_type="llama", hidden_size=2048, intermediate_size=5632, num_hidden_layers=22, num_attention_heads=32,
                            num_key_value_heads=4, vocab_size=32000, max_position_embeddings=2048), 1_100_048_384, 0),
    "Mistral-7B": (dict(model_type="mistral", hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                        num_key_value_heads=8, vocab_size=32000, max_position_embeddings=32768), 7_241_732_096, 0),
    "Qwen2.5-7B": (dict(model_type="qwen2", hidden_size=3584, intermediate_size=18944, num_hidden_layers=28, num_attention_heads=28,
                        num_key_value_heads=4, vocab_size=152064, tie_word_embeddings=False), 7_615_616_512, 0),
    "Qwen3-8B": (dict(model_type="qwen3", hidden_size=4096, intermediate_size=12288, num_hidden_layers=36, num_attention_heads=32, head_dim=128,
                      num_key_value_heads=8, vocab_size=151936, tie_word_embeddings=False, attention_bias=False), 8_190_735_360, 0),
    "Phi-3-mini": (dict(model_type="phi3", hidden_size=3072, intermediate_size=8192, num_hidden_layers=32, num_attention_heads=32,
                        num_key_value_heads=32, vocab_size=32064), 3_821_079_552, 0),
    "gemma-2b": (dict(model_type="gemma", hidden_size=2048, intermediate_size=16384, num_hidden_layers=18, num_attention_heads=8, head_dim=256,
                      num_key_value_heads=1, vocab_size=256000), 2_506_172_416, 0),
    "gemma-2-2b": (dict(model_type="gemma2", hidden_size=2304, intermediate_size=9216, num_hidden_layers=26, num_attention_heads=8, head_dim=256,
                        num_key_value_heads=4, vocab_size=256000), 2_614_341_888, 0),
    "Mixtral-8x7B": (dict(model_type="mixtral", hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                          num_key_value_heads=8, vocab_size=32000, num_local_experts=8, num_experts_per_tok=2, tie_word_embeddings=False), 46_702_792_704, 0),
    "Qwen3-30B-A3B": (dict(model_type="qwen3_moe", hidden_size=2048, intermediate_size=6144, moe_intermediate_size=768, num_hidden_layers=48,
                           num_attention_heads=32, head_dim=128, num_key_value_heads=4, vocab_size=151936, num_experts=128, num_experts_per_tok=8,
                           decoder_sparse_step=1, mlp_only_layers=[]), 30_532_122_624, 0),
    "gpt-oss-20b": (dict(model_type="gpt_oss", hidden_size=2880, intermediate_size=2880, num_hidden_layers=24, num_attention_heads=64, head_dim=64,
                         num_key_value_heads=8, vocab_size=201088, num_local_experts=32, num_experts_per_tok=4), 20_914_757_184, 0),
    "DeepSeek-V3": (dict(model_type="deepseek_v3", hidden_size=7168, intermediate_size=18432, moe_intermediate_size=2048, num_hidden_layers=61,
                         num_attention_heads=128, num_key_value_heads=128, vocab_size=129280, q_lora_rank=1536, kv_lora_rank=512, first_k_dense_replace=3,
                         n_routed_experts=256, num_experts_per_tok=8, n_shared_experts=1, n_group=8, topk_group=4, qk_nope_head_dim=128,
                         qk_rope_head_dim=64, v_head_dim=128, moe_layer_freq=1, max_position_embeddings=163840), 671_026_419_200 - 58 * 256, 0),
    "gpt2": (dict(model_type="gpt2", n_embd=768, n_layer=12, n_head=12, n_positions=1024, vocab_size=50257, n_inner=None), 124_439_808, 0),
    "gpt2-xl": (dict(model_type="gpt2", n_embd=1600, n_layer=48, n_head=25, n_positions=1024, vocab_size=50257), 1_557_611_200, 0),
    "opt-1.3b": (dict(model_type="opt", hidden_size=2048, ffn_dim=8192, num_hidden_layers=24, num_attention_heads=32, vocab_size=50272,
                      max_position_embeddings=2048, do_layer_norm_before=True), 1_315_758_080, 0),
    "bloom-560m": (dict(model_type="bloom", n_embed=1024, n_layer=24, num_attention_heads=16, vocab_size=250880), 559_214_592, 0),
    "bert-large": (dict(model_type="bert", hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16,
                        vocab_size=30522, max_position_embeddings=512), 335_141_888, 0),
    "t5-small": (dict(model_type="t5", d_model=512, d_ff=2048, d_kv=64, num_layers=6, num_heads=8, vocab_size=32128), 60_506_624, 1e-4),
    "t5-efficient-base-dl2": (dict(model_type="t5", d_model=768, d_ff=3072, d_kv=64, num_layers=12, num_decoder_layers=2, num_heads=12, vocab_size=32128),
                              128_520_000, 2e-4),  # as its card says
    "mpt-7b": (dict(model_type="mpt", d_model=4096, n_heads=32, n_layers=32, max_seq_len=2048, vocab_size=50432), 6_649_286_656, 0),
    "vit-base": (dict(model_type="vit", hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12, patch_size=16,
                      image_size=224), 86_567_656, 0),
    "whisper-small": (dict(model_type="whisper", d_model=768, encoder_layers=12, decoder_layers=12, encoder_attention_heads=12, encoder_ffn_dim=3072,
                           num_mel_bins=80, vocab_size=51865, num_hidden_layers=12), 241_734_912, 0),
    "wav2vec2-base-960h": (dict(model_type="wav2vec2", hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12,
                                vocab_size=32, feat_extract_norm="group", do_stable_layer_norm=False), 94_396_320, 1e-5),
    "pythia-6.9b": (dict(model_type="gpt_neox", hidden_size=4096, intermediate_size=16384, num_hidden_layers=32, num_attention_heads=32,
        vocab_size=50432, rotary_pct=0.25, use_parallel_residual=True, tie_word_embeddings=False, max_position_embeddings=2048), 6_857_302_016, 0),
    "gpt-neox-20b": (dict(model_type="gpt_neox", hidden_size=6144, intermediate_size=24576, num_hidden_layers=44, num_attention_heads=64,
        vocab_size=50432, rotary_pct=0.25, tie_word_embeddings=False), 20_554_567_680, 0),
    "gpt-j-6b": (dict(model_type="gptj", n_embd=4096, n_layer=28, n_head=16, vocab_size=50400, rotary_dim=64, n_inner=None, n_positions=2048,
        tie_word_embeddings=False), 6_050_882_784, 0),
    "gpt-neo-1.3b": (dict(model_type="gpt_neo", hidden_size=2048, num_layers=24, num_heads=16, vocab_size=50257, window_size=256,
        intermediate_size=None, max_position_embeddings=2048), 1_315_575_808, 0),
    "falcon-7b": (dict(model_type="falcon", hidden_size=4544, num_hidden_layers=32, num_attention_heads=71, num_kv_heads=71, vocab_size=65024,
        multi_query=True, parallel_attn=True, new_decoder_architecture=False, bias=False, alibi=False), 6_921_720_704, 0),
    "falcon-40b": (dict(model_type="falcon", hidden_size=8192, num_hidden_layers=60, num_attention_heads=128, num_kv_heads=8, vocab_size=65024,
        multi_query=True, parallel_attn=True, new_decoder_architecture=True, bias=False, alibi=False), 41_303_293_952, 0),
    "phi-2": (dict(model_type="phi", hidden_size=2560, intermediate_size=10240, num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=32,
        vocab_size=51200, partial_rotary_factor=0.4, qk_layernorm=False, tie_word_embeddings=False), 2_779_683_840, 0),
    "starcoder2-3b": (dict(model_type="starcoder2", hidden_size=3072, intermediate_size=12288, num_hidden_layers=30, num_attention_heads=24,
        num_key_value_heads=2, vocab_size=49152, use_bias=True, sliding_window=4096, mlp_type="default", norm_type="layer_norm",
        max_position_embeddings=16384), 3_030_371_328, 0),
    "starcoder": (dict(model_type="gpt_bigcode", n_embd=6144, n_head=48, n_layer=40, n_positions=8192, n_inner=24576, vocab_size=49152,
        multi_query=True), 15_517_456_384, 0),
    "stablelm-3b": (dict(model_type="stablelm", hidden_size=2560, intermediate_size=6912, num_hidden_layers=32, num_attention_heads=32,
        num_key_value_heads=32, vocab_size=50304, use_qkv_bias=False, partial_rotary_factor=0.25, tie_word_embeddings=False), 2_795_443_200, 0),
    "stablelm2-1.6b": (dict(model_type="stablelm", hidden_size=2048, intermediate_size=5632, num_hidden_layers=24, num_attention_heads=32,
        num_key_value_heads=32, vocab_size=100352, use_qkv_bias=True, partial_rotary_factor=0.25, tie_word_embeddings=False), 1_644_515_328, 0),
    "command-r": (dict(model_type="cohere", hidden_size=8192, intermediate_size=22528, num_hidden_layers=40, num_attention_heads=64,
        num_key_value_heads=64, vocab_size=256000, use_qk_norm=False), 34_980_831_232, 0),
    "command-r-plus": (dict(model_type="cohere", hidden_size=12288, intermediate_size=33792, num_hidden_layers=64, num_attention_heads=96,
        num_key_value_heads=8, vocab_size=256000, use_qk_norm=True), 103_810_674_688, 0),
    "command-r7b": (dict(model_type="cohere2", hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
        num_key_value_heads=8, vocab_size=256000, sliding_window=4096, sliding_window_pattern=4), 8_028_033_024, 0),
    "olmo-7b": (dict(model_type="olmo", hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, num_attention_heads=32,
        num_key_value_heads=32, vocab_size=50304, tie_word_embeddings=False, attention_bias=False), 6_888_095_744, 0),
    "olmo2-7b": (dict(model_type="olmo2", hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, num_attention_heads=32,
        num_key_value_heads=32, vocab_size=100352, tie_word_embeddings=False, attention_bias=False), 7_298_617_344, 0),
    "olmoe": (dict(model_type="olmoe", hidden_size=2048, intermediate_size=1024, num_hidden_layers=16, num_attention_heads=16,
        num_key_value_heads=16, vocab_size=50304, num_experts=64, num_experts_per_tok=8, tie_word_embeddings=False), 6_919_161_856, 0),
    "smollm3": (dict(model_type="smollm3", hidden_size=2048, intermediate_size=11008, num_hidden_layers=36, num_attention_heads=16,
        num_key_value_heads=4, vocab_size=128256, layer_types=["full_attention"] * 36, no_rope_layer_interval=4, sliding_window=None,
        use_sliding_window=False), 3_075_098_624, 0),
    "gemma-3-1b": (dict(model_type="gemma3_text", hidden_size=1152, intermediate_size=6912, num_hidden_layers=26, num_attention_heads=4,
        head_dim=256, num_key_value_heads=1, vocab_size=262144, sliding_window=512, sliding_window_pattern=6), 999_885_952, 0),
    "qwen1.5-moe": (dict(model_type="qwen2_moe", hidden_size=2048, intermediate_size=5632, moe_intermediate_size=1408,
        shared_expert_intermediate_size=5632, num_hidden_layers=24, num_attention_heads=16, num_key_value_heads=16, vocab_size=151936,
        num_experts=60, num_experts_per_tok=4, decoder_sparse_step=1, use_sliding_window=False, sliding_window=32768, max_window_layers=21,
        tie_word_embeddings=False), 14_315_784_192, 0),
    "glm-4.5-air": (dict(model_type="glm4_moe", hidden_size=4096, intermediate_size=10944, moe_intermediate_size=1408, num_hidden_layers=46,
        num_attention_heads=96, num_key_value_heads=8, head_dim=128, attention_bias=True, use_qk_norm=False, n_routed_experts=128,
        n_shared_experts=1, num_experts_per_tok=8, first_k_dense_replace=1, vocab_size=151552, tie_word_embeddings=False), 106_852_245_504, 0),
    "llama4-scout": (dict(model_type="llama4_text", hidden_size=5120, intermediate_size=8192, intermediate_size_mlp=16384, num_hidden_layers=48,
        num_attention_heads=40, num_key_value_heads=8, head_dim=128, vocab_size=202048, num_local_experts=16, num_experts_per_tok=1,
        interleave_moe_layer_step=1, attention_chunk_size=8192, no_rope_layer_interval=4), 107_769_861_120, 0),
    "dbrx": (dict(model_type="dbrx", d_model=6144, n_heads=48, n_layers=40, vocab_size=100352, max_seq_len=32768, attn_config={"kv_n_heads": 8},
        ffn_config={"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}), 131_596_523_520, 0),
    "ernie-0.3b": (dict(model_type="ernie4_5", hidden_size=1024, intermediate_size=3072, num_hidden_layers=18, num_attention_heads=16,
        num_key_value_heads=2, head_dim=128, vocab_size=103424, use_bias=False, tie_word_embeddings=True), 360_748_032, 0),
    "seed-oss": (dict(model_type="seed_oss", hidden_size=5120, intermediate_size=27648, num_hidden_layers=64, num_attention_heads=80,
        num_key_value_heads=8, head_dim=128, vocab_size=155136, attention_bias=True, attention_out_bias=False, tie_word_embeddings=False),
        36_151_104_512, 0),
    "exaone-3.5": (dict(model_type="exaone", hidden_size=4096, intermediate_size=14336, num_layers=32, num_attention_heads=32, num_key_value_heads=8,
        vocab_size=102400), 7_818_448_896, 0),
    "exaone-4-1.2b": (dict(model_type="exaone4", hidden_size=2048, intermediate_size=4096, num_hidden_layers=30, num_attention_heads=32,
        num_key_value_heads=8, head_dim=64, vocab_size=102400, tie_word_embeddings=True, layer_types=["full_attention"] * 30, sliding_window=None),
        1_279_391_488, 0),
    "internlm2-7b": (dict(model_type="internlm2", hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
        num_key_value_heads=8, vocab_size=92544, bias=False), 7_737_708_544, 0),
    "glm-4-9b": (dict(model_type="glm", hidden_size=4096, intermediate_size=13696, num_hidden_layers=40, num_attention_heads=32,
        num_key_value_heads=2, head_dim=128, vocab_size=151552, attention_bias=True, tie_word_embeddings=False), 9_399_951_360, 0),
    "glm-4-0414": (dict(model_type="glm4", hidden_size=4096, intermediate_size=13696, num_hidden_layers=40, num_attention_heads=32,
        num_key_value_heads=2, head_dim=128, vocab_size=151552, attention_bias=True, tie_word_embeddings=False), 9_400_279_040, 0),
    "minitron-8b": (dict(model_type="nemotron", hidden_size=4096, intermediate_size=16384, num_hidden_layers=32, num_attention_heads=48,
        num_key_value_heads=8, head_dim=128, vocab_size=256000, hidden_act="relu2", tie_word_embeddings=False), 8_271_699_968, 0),
    "ernie-21b": (dict(model_type="ernie4_5_moe", hidden_size=2560, intermediate_size=12288, moe_intermediate_size=1536, num_hidden_layers=28,
        num_attention_heads=20, num_key_value_heads=4, head_dim=128, vocab_size=103424, moe_num_experts=64, moe_k=6, moe_num_shared_experts=2,
        moe_layer_start_index=1, moe_layer_interval=1, use_bias=False, tie_word_embeddings=True), 21_825_436_160, 0),
    "deepseek-v2-lite": (dict(model_type="deepseek_v2", hidden_size=2048, intermediate_size=10944, moe_intermediate_size=1408, num_hidden_layers=27,
        num_attention_heads=16, num_key_value_heads=16, vocab_size=102400, q_lora_rank=None, kv_lora_rank=512, first_k_dense_replace=1,
        n_routed_experts=64, num_experts_per_tok=6, n_shared_experts=2, n_group=1, topk_group=1, qk_nope_head_dim=128, qk_rope_head_dim=64,
        v_head_dim=128, moe_layer_freq=1), 15_706_484_224, 0),
    # the decoder of a network of images and words, whose class has the members that the file leaves out
    "gemma-3-27b": (dict(model_type="gemma3", vision_config=dict(model_type="siglip_vision_model", hidden_size=1152), text_config=dict(
        model_type="gemma3_text", hidden_size=5376, intermediate_size=21504, num_hidden_layers=62, num_attention_heads=32, head_dim=128,
        num_key_value_heads=16, sliding_window=1024)), 27_009_346_304, 0),
}
REFUSED = (
    *((dict(LLAMA, model_type=name), name) for name in ("mamba2", "rwkv", "falcon_h1", "qwen3_next", "minimax", "gemma3", "llama4")),
    (dict(LLAMA, model_type="qwen3_next"), "layers of linear attention are not described"),
    (dict(LLAMA, model_type="llama", num_hidden_layers="many"), "many"),
    ({k: v for k, v in LLAMA.items() if k != "hidden_size"}, "hidden_size"),
    (dict(RELEASED["DeepSeek-V3"][0], v_head_dim=64), "v_head_dim"),
    (dict(RELEASED["phi-2"][0], qk_layernorm=True), "qk_layernorm"),
    (dict(RELEASED["Qwen3-30B-A3B"][0], mlp_only_layers=[0]), "mlp_only_layers"),
    (dict(RELEASED["mpt-7b"][0], expansion_ratio=2), "expansion_ratio"),
    ({"architectures": ["LlamaForCausalLM"], "hidden_size": 4096}, "model_type"),
    (dict(LLAMA, num_attention_heads=33), "33"),
    ({"_class_name": "UNet2DConditionModel", "sample_size": 64}, "diffusers"),
    (dict(RELEASED["Qwen3-8B"][0], layer_types=["linear_attention"] * 36), "linear_attention"),
    (dict(RELEASED["Qwen3-8B"][0], layer_types=["full_attention", "sliding_attention"] * 18), "another order"),
    (dict(RELEASED["wav2vec2-base-960h"][0], feat_extract_norm="layer"), "feat_extract_norm"),
)


def parameters(path, *words):
    code, out, err = run("models", path, *words, "-f", "json", "-q")
    return json.loads(out)["model"]["parameters"] if code == 0 else (code, err)


def write(folder, config):
    path = os.path.join(folder, "config.json")
    with open(path, "w") as file:
        json.dump({"architectures": ["Any"], **config}, file, indent=2)
    return path


def test_released(folder):
    for name, (config, count, near) in RELEASED.items():
        found = parameters(write(folder, config))
        expect(not isinstance(found, tuple) and abs(found / count - 1) <= near, name, found, count)


def test_verbs(folder):
    path = write(folder, dict(LLAMA, _name_or_path="meta-llama/Meta-Llama-3-8B", max_position_embeddings=131072))
    same = ("--on", "h100-80-sxm", "--set", "sequence=8192", "--set", "micro_batch=1", "-f", "json", "-q")
    answers = [json.loads(run("predict", model, *same)[1])["values"]["step.median_s"] for model in (path, "llama3-8b")]
    expect(answers[0] == answers[1], "as the catalogue's", answers)
    code, out, _ = run("plan", path, "--on", "dgx-h100", "--set", "global_batch=64")
    expect(code == 0 and "Meta-Llama-3-8B: 8.030 billion parameters" in out and f"predict '{path}'" in " ".join(out.split()), "plan", out[:400])
    code, out, _ = run("predict", path, "--on", "h100-80-sxm", "--set", "layers=16", "--set", "micro_batch=1")
    expect("of 4096 tokens" in out and "4.540 billion" in out, "settings go before the file's", out[:800])
    with open(path, "rb") as file:
        code, out, _ = run("models", "-", stdin=file.read())
    expect(code == 0 and "8.030 billion" in out, "standard input", code)


def test_windows(folder):
    """The layers that a window is in are those of the released model (transformers' classes), however the file says it: a pattern of the
    class, a member, or a list of layers."""
    qwen = dict(RELEASED["Qwen2.5-7B"][0], sliding_window=131072, use_sliding_window=False, max_window_layers=21)
    every_third = dict(RELEASED["Qwen3-8B"][0], sliding_window=1024, layer_types=["full_attention" if i % 3 == 2 else "sliding_attention" for i in range(36)])
    for name, config, sequence, window, layers in (
            ("gpt-oss", RELEASED["gpt-oss-20b"][0], 4096, 128, "12 of 24"), ("gemma", RELEASED["gemma-2-2b"][0], 8192, 4096, "13 of 26"),
            ("gemma", RELEASED["gemma-2-2b"][0], 4096, None, None),
            ("mistral", dict(RELEASED["Mistral-7B"][0], sliding_window=4096), 32768, 4096, "32 of 32"),
            ("mistral", dict(RELEASED["Mistral-7B"][0], sliding_window=None), 32768, None, None), ("qwen", qwen, 262144, None, None),
            ("qwen, last layers", dict(qwen, sliding_window=4096, use_sliding_window=True), 8192, 4096, "7 of 28"),
            ("qwen, a list of them", dict(qwen, sliding_window=4096, layer_types=["full_attention"] * 20 + ["sliding_attention"] * 8, use_sliding_window=True), 8192, 4096, "8 of 28"),
            ("qwen, a list of none", dict(qwen, sliding_window=4096, layer_types=["full_attention"] * 28), 8192, None, None),
            ("every third", dict(every_third, use_sliding_window=True), 4096, 1024, "24 of 36")):
        path = write(folder, config)
        for verb, words in (("predict", ("--set", "micro_batch=1", "--on", "h200-141-sxm")), ("plan", ("--set", "global_batch=64", "--on", "hgx-h200*2", "--top", "1", "--set", "framework=megatron-core"))):
            out = run(verb, path, "--set", f"sequence={sequence}", *words, "-q")[1]
            said = f"In {layers} layers of attention tokens see the last {window} tokens alone" if window else "layers of attention"
            expect((said in " ".join(out.split())) == bool(window), verb, name, sequence, out[:1500])


def test_decoder_alone(folder):
    """What is left out of a network of images and words is said."""
    for name, said in (("gemma-3-27b", True), ("gemma-3-1b", False)):
        out = run("predict", write(folder, RELEASED[name][0]), "--on", "dgx-h200", "--set", "tp=8", "--set", "sequence=8192")[1]
        listed = run("models", write(folder, RELEASED[name][0]))[1]
        expect(("Its decoder alone is counted" in out) == said == ("Its decoder alone is counted" in listed), name, out[:1500])


def test_refused(folder):
    for config, said in REFUSED:
        path = os.path.join(folder, "config.json")
        with open(path, "w") as file:
            json.dump(config, file)
        code, out, err = run("predict", path, "--on", "h100-80-sxm")
        expect_line(code, err, 3, said)
        expect(out == "" and path in err, config["model_type"] if "model_type" in config else "", err)


with tempfile.TemporaryDirectory() as name:
    test_released(name)
    test_verbs(name)
    test_windows(name)
    test_decoder_alone(name)
    test_refused(name)
sys.exit(finish())
