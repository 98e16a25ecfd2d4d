#include "source/graphs/graph_builder.h"

#include <string.h>

pace_status pace_graph_rename(pace_name *out, pace_graph_builder *b, pace_name name) {
    if (!b->renamed[name]) {
        const char *text = pace_names_text(&b->step->names, name);
        PACE_TRY(pace_names_add(out, &b->graph->names, text, strlen(text)));
        b->renamed[name] = *out + 1;
    }
    *out = b->renamed[name] - 1;
    return PACE_OK;
}
