/* Names of kernels as people read them, and texts cut to their column. The names are those of real traces. */

#include "cmocka_of_tests.h"
#include <string.h>

#include "report/show.h"

static void check_simple(const char *name, const char *expected) {
    char *simple = pace_text_simple(name);
    assert_non_null(simple);
    assert_string_equal(simple, expected);
    pace_free(simple);
}

TEST(test_functions) {
    check_simple("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
                 "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
                 "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, Array<char*, 3> >");
    check_simple("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>(float*)",
                 "CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>");
    check_simple("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "ncclKernel_AllReduce_RING_LL_Sum_float");
    check_simple("autograd::engine::evaluate_function: MulBackward0", "evaluate_function: MulBackward0");
    check_simple("_ZN5aiter39fmha_fwd_hd128_bf16_causal_rtne_group1xE", "fmha_fwd_hd128_bf16_causal_rtne_group1xE");
    check_simple("_ZN2at6native12_GLOBAL__N_119cunn_SoftMaxForwardILi8EfffEEvPT2_PKT0_i",
                 "cunn_SoftMaxForwardILi8EfffEEvPT2_PKT0_i");
}

TEST(test_other_texts) {
    static const char *const same[] = {"",
                                       "aten::mm",
                                       "Memcpy HtoD (Pinned -> Device)",
                                       "volta_sgemm_128x32_nt",
                                       "(unnamed)",
                                       ")",
                                       "f)",
                                       "## forward:over_arch ##",
                                       "_ZN9short",
                                       "_ZN",
                                       "_ZN99999999999999999999a"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) check_simple(same[i], same[i]);
}

TEST(test_widths) {
    static const char *const texts[] = {"void a::b<c::d>(int)", "ProfilerStep#1009",
                                        "a \xe2\x80\xa6 \xe4\xb8\xad\xe6\x96\x87 z", "x", ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t width = 0; width < 30; width++) {
            char *shown = pace_text_shorten(texts[i], width);
            assert_non_null(shown);
            assert_true(pace_text_width(shown) <= width);
            if (pace_text_width(texts[i]) <= width) assert_string_equal(shown, texts[i]);
            pace_free(shown);
        }
    char *label = pace_text_shorten("ProfilerStep#1009", 10); /* the end tells steps apart */
    assert_string_equal(label, "Profil\xe2\x80\xa6"
                               "009");
    pace_free(label);
}

/* What an element-wise kernel computes stands behind numbers and wrappers, which go first. */
TEST(test_wrapped_functions) {
    char *shown = pace_text_shorten(
        "void at::native::elementwise_kernel<128, 4, "
        "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}> >(int)",
        60);
    assert_non_null(strstr(shown, "elementwise_kernel<direct_copy_kernel_cuda"));
    pace_free(shown);
    shown = pace_text_shorten(
        "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::Tensor&)>(int)", 70);
    assert_string_equal(shown, "vectorized_elementwise_kernel<4, GeluCUDAKernelImpl(Tensor&)>"); /* there is room */
    pace_free(shown);
}

/* What is left of names that are cut is what tells them apart. */
TEST(test_telling_parts) {
    static const struct {
        const char *name, *shown;
    } rows[] = {
        {"typeinfo name for at::native::xpu::VectorizedElementwiseKernel<8, at::native::xpu::GeluErfFunctor<c10::BFloat16>, "
         "at::detail::Array<char*, 2>, TrivialOffsetCalculator<1, unsigned int> >",
         "VectorizedElementwiseKernel<GeluErfFunctor>"},
        {"void at::native::vectorized_elementwise_kernel<8, at::native::sigmoid_kernel_cuda(at::TensorIteratorBase&)::"
         "{lambda()#2}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
         "vectorized_elementwise_kernel<sigmoid_kernel_cuda>"},
        {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::NormTwoOps<float, float, float>, "
         "unsigned int, float, 4, 4> >(at::native::ReduceOp<float>)",
         "reduce_kernel<ReduceOp<NormTwoOps>>"},
        {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_grouped_bf16_128x256_32x3_nn_align8>(int)",
         "cutlass_80_tensorop_bf16_s16816gemm_grou\xe2\x80\xa6x256_32x3_nn_align8"},
        {"triton_red_fused__to_copy_add_div_native_layer_norm_sum_unsqueeze_view_12",
         "triton_red_fused_add_div_native_layer_norm_sum_view_12"},
        {"Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_MT16x64x64_MI16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1",
         "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_MT16x64x64_MI16x16x1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *shown = pace_text_shorten(rows[i].name, 60);
        assert_string_equal(shown, rows[i].shown);
        pace_free(shown);
    }
}

/* Whatever stands in a name, it is cut to its width. */
TEST(test_odd_brackets) {
    static const char *const pieces[] = {"<",  ">", "(",       ")",          "{",  "}",     "::",
                                         ", ", " ", "Kernel<", "operator()", "a1", " const"};
    uint32_t seed = 1;
    for (int n = 0; n < 4000; n++) {
        char name[256] = "";
        for (int i = 0; i < 24; i++) {
            seed = seed * 1664525 + 1013904223;
            strcat(name, pieces[(seed >> 16) % (sizeof pieces / sizeof *pieces)]);
        }
        char *shown = pace_text_shorten(name, 20);
        assert_non_null(shown);
        assert_true(pace_text_width(shown) <= 20);
        pace_free(shown);
    }
}

/* Of a path the end is kept, from a folder on where the file's name fits; what is no path keeps both ends. */
TEST(test_paths) {
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"/data/runs/2024-05-01/before/rank_0.json.gz", "\xe2\x80\xa6/before/rank_0.json.gz"},
        {"runs/a_long_name_of_a_trace_of_rank_17.json.gz", "\xe2\x80\xa6"
                                                           "race_of_rank_17.json.gz"},
        {"runs/rank_0.json", "runs/rank_0.json"},
        {"transformers/bert.py(181): forward of BertLayer", "transformers/ber\xe2\x80\xa6"
                                                            "rtLayer"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *shown = pace_text_shorten(rows[i].text, 24);
        assert_string_equal(shown, rows[i].shown);
        pace_free(shown);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
