#include "cost/host_names.h"

#include "base/memory.h"
#include "base/text.h"

#include <string.h>

/* "cudaLaunchKernel", "cuLaunchKernel", "hipModuleLaunchKernel": a library's prefix before a capital. */
static size_t runtime_prefix(const char *name) {
    static const char *const prefixes[] = {"cuda", "hip", "cu"};
    for (size_t i = 0; i < PACE_COUNT(prefixes); i++) {
        size_t length = strlen(prefixes[i]);
        if (pace_starts(name, prefixes[i]) && pace_is_upper(name[length])) return length;
    }
    return 0;
}

static const char *skip_any(const char *text, const char *const *prefixes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (pace_starts(text, prefixes[i]) && text[strlen(prefixes[i])]) return text + strlen(prefixes[i]);
    return text;
}

static size_t drop_suffix(const char *text, size_t length, const char *suffix) {
    size_t size = strlen(suffix);
    return length > size && pace_span_ends(text, length, suffix) ? length - size : length;
}

/* "AddmmBackward0" -> "AddmmBackward"; numbers elsewhere are part of the name ("log2"). */
static size_t drop_backward_number(const char *text, size_t length) {
    size_t end = length;
    while (end && pace_is_digit(text[end - 1])) end--;
    bool numbered = pace_span_ends(text, end, "Backward");
    return numbered ? end : length;
}

size_t pace_host_name_plain(char out[PACE_HOST_NAME_LENGTH], const char *name) {
    static const char *const engine[] = {"autograd::engine::evaluate_function: "};
    static const char *const spaces[] = {"aten::", "torch::autograd::"};
    static const char *const back_ends[] = {"_cudnn_", "cudnn_", "miopen_", "mkldnn_", "native_",
                                            "Cudnn",   "Miopen", "Mkldnn",  "Native"};
    const char *text = skip_any(name, engine, 1);
    text += runtime_prefix(text);
    text = skip_any(text, spaces, PACE_COUNT(spaces));
    text = skip_any(text, back_ends, PACE_COUNT(back_ends));
    size_t length = strlen(text);
    length = drop_backward_number(text, length);
    length = drop_suffix(text, length, "_cuda");
    length = drop_suffix(text, length, "_");
    if (length > PACE_HOST_NAME_LENGTH - 1) length = PACE_HOST_NAME_LENGTH - 1;
    memcpy(out, text, length);
    out[length] = '\0';
    return length;
}

pace_host_kind pace_host_name_kind(const char *name) {
    if (strstr(name, "GraphLaunch") || pace_starts(name, "CUDAGraph") || pace_starts(name, "Graphed"))
        return PACE_HOST_GRAPH;
    if (runtime_prefix(name)) {
        if (strstr(name, "Memcpy")) return PACE_HOST_COPY;
        if (strstr(name, "Memset")) return PACE_HOST_MEMSET;
        return strstr(name, "Launch") ? PACE_HOST_LAUNCH : PACE_HOST_CALL;
    }
    if (pace_starts(name, "Optimizer.")) return PACE_HOST_OPTIMIZER;
    bool backward =
        pace_starts(name, "autograd::") || pace_starts(name, "torch::autograd::") || strstr(name, "Backward");
    return backward ? PACE_HOST_BACKWARD : PACE_HOST_FORWARD;
}

bool pace_host_name_is_typical(const char *name) {
    return pace_host_name_kind(name) != PACE_HOST_GRAPH && strcmp(name, "direct call") != 0;
}
