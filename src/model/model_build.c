#include "model/model_build.h"

#include "base/print.h"

static void list_settings(char *out, size_t size, const pace_model_setting *settings, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const pace_model_setting *one = &settings[i];
        if (one->text && *one->text) pace_list(out, size, ", ", "%.40s=%.40s", one->key, one->text);
        else pace_list(out, size, ", ", "%.40s=%g", one->key, one->value);
    }
}

pace_status pace_model_build_as_set(pace_model *out, const pace_yaml *yaml, const char *name,
                                    const pace_model_setting *settings, size_t setting_count) {
    pace_status status = pace_model_build(out, yaml, name, settings, setting_count);
    pace_model plain;
    char list[160] = "", message[400];
    if (status != PACE_E_INPUT || setting_count == 0) return status;
    pace_snprintf(message, sizeof message, "%s", pace_message_marked());
    if (pace_model_build(&plain, yaml, name, NULL, 0) != PACE_OK) return pace_fail(status, "%s", message);
    pace_model_free(&plain);
    list_settings(list, sizeof list, settings, setting_count);
    return pace_fail(PACE_E_USAGE, "no such model can be built with %s: %s", list, message);
}
