#include "source/model_inputs.h"
#include "base/text.h"
#include "source/traces/onnx.h"

bool pace_model_is_file(const char *name) { return pace_has_suffix(name, ".onnx") || pace_model_path_length(name) > 0; }

pace_status pace_model_open(pace_model *out, pace_catalog *catalog, const char *name,
                            const pace_model_setting *settings, size_t setting_count) {
    if (!pace_has_suffix(name, ".onnx")) return pace_model_load(out, catalog, name, settings, setting_count);
    if (setting_count)
        return pace_fail(PACE_E_USAGE, "%s: an ONNX graph has no parameter \"%.80s\"", name, settings[0].key);
    return pace_onnx_read(out, name);
}
