#include "ask/context.h"

pace_status pace_context_open(pace_context **out) {
    pace_context *context = pace_alloc(1, sizeof *context);
    if (!context) return PACE_E_MEMORY;
    pace_status status = pace_catalog_open(&context->catalog);
    return PACE_GIVE(out, context, status, pace_free(context));
}

void pace_context_free(pace_context *context) {
    if (!context) return;
    pace_catalog_free(context->catalog);
    pace_free(context);
}
