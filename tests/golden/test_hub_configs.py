"""Configurations of Hugging Face's hub (config.json) are models: as many parameters as the released ones have, whatever verb asks."""
import json
import os
import sys
import tempfile

from checks import expect, expect_line, finish, run

# The released model's config.json (what bears on its size) and its parameters as the hub counts them, both recalled, and how near ours
# must be: 0 where the catalogue describes all of them, a share where it leaves out scales, biases or positions.
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
                        num_key_value_heads=4, vocab_size=152064, tie_word_embeddings=False), 7_615_616_512, 1e-4),
    "Qwen3-8B": (dict(model_type="qwen3", hidden_size=4096, intermediate_size=12288, num_hidden_layers=36, num_attention_heads=32, head_dim=128,
                      num_key_value_heads=8, vocab_size=151936, tie_word_embeddings=False, attention_bias=False), 8_190_735_360, 0),
    "Phi-3-mini": (dict(model_type="phi3", hidden_size=3072, intermediate_size=8192, num_hidden_layers=32, num_attention_heads=32,
                        num_key_value_heads=32, vocab_size=32064), 3_821_079_552, 0),
    "gemma-2b": (dict(model_type="gemma", hidden_size=2048, intermediate_size=16384, num_hidden_layers=18, num_attention_heads=8, head_dim=256,
                      num_key_value_heads=1, vocab_size=256000), 2_506_172_416, 0),
    "gemma-2-2b": (dict(model_type="gemma2", hidden_size=2304, intermediate_size=9216, num_hidden_layers=26, num_attention_heads=8, head_dim=256,
                        num_key_value_heads=4, vocab_size=256000), 2_614_341_888, 1e-4),
    "Mixtral-8x7B": (dict(model_type="mixtral", hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                          num_key_value_heads=8, vocab_size=32000, num_local_experts=8, num_experts_per_tok=2, tie_word_embeddings=False), 46_702_792_704, 0),
    "Qwen3-30B-A3B": (dict(model_type="qwen3_moe", hidden_size=2048, intermediate_size=6144, moe_intermediate_size=768, num_hidden_layers=48,
                           num_attention_heads=32, head_dim=128, num_key_value_heads=4, vocab_size=151936, num_experts=128, num_experts_per_tok=8,
                           decoder_sparse_step=1, mlp_only_layers=[]), 30_532_122_624, 0),
    "gpt-oss-20b": (dict(model_type="gpt_oss", hidden_size=2880, intermediate_size=2880, num_hidden_layers=24, num_attention_heads=64, head_dim=64,
                         num_key_value_heads=8, vocab_size=201088, num_local_experts=32, num_experts_per_tok=4), 20_914_757_184, 1e-4),
    "DeepSeek-V3": (dict(model_type="deepseek_v3", hidden_size=7168, intermediate_size=18432, moe_intermediate_size=2048, num_hidden_layers=61,
                         num_attention_heads=128, num_key_value_heads=128, vocab_size=129280, q_lora_rank=1536, kv_lora_rank=512, first_k_dense_replace=3,
                         n_routed_experts=256, num_experts_per_tok=8, n_shared_experts=1, n_group=8, topk_group=4, qk_nope_head_dim=128,
                         qk_rope_head_dim=64, v_head_dim=128, moe_layer_freq=1, max_position_embeddings=163840), 671_026_419_200, 1e-4),
    "gpt2": (dict(model_type="gpt2", n_embd=768, n_layer=12, n_head=12, n_positions=1024, vocab_size=50257, n_inner=None), 124_439_808, 0),
    "gpt2-xl": (dict(model_type="gpt2", n_embd=1600, n_layer=48, n_head=25, n_positions=1024, vocab_size=50257), 1_557_611_200, 0),
    "opt-1.3b": (dict(model_type="opt", hidden_size=2048, ffn_dim=8192, num_hidden_layers=24, num_attention_heads=32, vocab_size=50272,
                      max_position_embeddings=2048, do_layer_norm_before=True), 1_315_758_080, 0),
    "bloom-560m": (dict(model_type="bloom", n_embed=1024, n_layer=24, num_attention_heads=16, vocab_size=250880), 559_214_592, 5e-3),
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
}
REFUSED = (
    (dict(LLAMA, model_type="mamba2"), "mamba2"),
    (dict(LLAMA, model_type="llama", num_hidden_layers="many"), "many"),
    ({k: v for k, v in LLAMA.items() if k != "hidden_size"}, "hidden_size"),
    (dict(RELEASED["DeepSeek-V3"][0], q_lora_rank=None), "q_lora_rank"),  # as DeepSeek-V2-Lite: another product
    (dict(RELEASED["DeepSeek-V3"][0], v_head_dim=64), "v_head_dim"),
    (dict(RELEASED["Qwen3-30B-A3B"][0], decoder_sparse_step=2), "decoder_sparse_step"),
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
    test_refused(name)
sys.exit(finish())
