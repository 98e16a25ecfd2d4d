/* Names of kernels as people read them, and texts cut to their column. The names are those of real traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "report/show.h"

static void check_simple(const char *name, const char *expected) {
    char *simple = pace_text_simple(name);
    assert_non_null(simple);
    assert_string_equal(simple, expected);
    pace_free(simple);
}

static void test_functions(void **state) {
    (void)state;
    check_simple("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
                 "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
                 "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, Array<char*, 3> >");
    check_simple("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>(float*)",
                 "CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>");
    check_simple("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "ncclKernel_AllReduce_RING_LL_Sum_float");
    check_simple("autograd::engine::evaluate_function: MulBackward0", "evaluate_function: MulBackward0");
}

static void test_other_texts(void **state) {
    (void)state;
    static const char *const same[] = {
        "",  "aten::mm", "Memcpy HtoD (Pinned -> Device)", "volta_sgemm_128x32_nt", "(unnamed)",
        ")", "f)",       "## forward:over_arch ##"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) check_simple(same[i], same[i]);
}

static void test_widths(void **state) {
    (void)state;
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
static void test_wrapped_functions(void **state) {
    (void)state;
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions), cmocka_unit_test(test_other_texts),
                                       cmocka_unit_test(test_widths), cmocka_unit_test(test_wrapped_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
