#include "machine/doubts.h"
#include "base/yaml_member.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    pace_doubt_kind kind;
} rows[PACE_DOUBTS] = {
#define PACE_DOUBT_ROW(id, name, kind) {name, PACE_DOUBT_##kind},
    PACE_DOUBT_LIST(PACE_DOUBT_ROW)
#undef PACE_DOUBT_ROW
};

/* The member of an entry that holds its figure, and the range it must lie in. */
static const struct {
    const char *key;
    double least, most;
} kinds[PACE_DOUBT_KINDS] = {[PACE_DOUBT_SPREAD] = {"spread", 0, 3},
                             [PACE_DOUBT_GROWTH] = {"growth", 0, 1},
                             [PACE_DOUBT_TIMES] = {"times", 1, 10},
                             [PACE_DOUBT_VALUE] = {"value", -1e15, 1e15}};

const char *pace_doubt_beyond(pace_doubt doubt) {
    switch (doubt) {
    case PACE_DOUBT_CURVE_BEYOND:
    case PACE_DOUBT_CURVE_RANKS: return "number of ranks";
    case PACE_DOUBT_CURVE_TIER: return "one node or several";
    case PACE_DOUBT_CURVE_COLLECTIVE: return "collective";
    case PACE_DOUBT_KERNEL_BEYOND: return "kernels";
    default: return NULL;
    }
}

void pace_doubts_used_rest(pace_doubts_used *used, pace_doubt doubt, double spread) {
    double rest = spread * spread;
    for (int i = 0; i < PACE_DOUBTS; i++) rest -= used->added[i] * used->added[i];
    used->added[doubt] = sqrt(fmax(rest, 0));
}

const char *pace_doubts_beyond(const pace_doubts_used *used) {
    for (int i = 0; i < PACE_DOUBTS; i++)
        if (used->added[i] > 0 && pace_doubt_beyond((pace_doubt)i)) return pace_doubt_beyond((pace_doubt)i);
    return used->beyond_sizes ? "sizes" : NULL;
}

const char *pace_doubt_name(pace_doubt doubt) { return rows[doubt].name; }

pace_doubt_kind pace_doubt_kind_of(pace_doubt doubt) { return rows[doubt].kind; }

static pace_status find(int *out, const pace_yaml *yaml, const pace_yaml_node *entry) {
    const pace_yaml_node *node;
    PACE_TRY(pace_yaml_member(&node, yaml, entry, "name"));
    const char *name = pace_yaml_text(node);
    for (int i = 0; name && i < PACE_DOUBTS; i++)
        if (strcmp(rows[i].name, name) == 0) {
            *out = i;
            return PACE_OK;
        }
    return pace_yaml_fail(yaml, node, "nothing uses a doubt \"%.60s\"", name ? name : "");
}

static pace_status read_entry(pace_doubt_catalog *out, bool *seen, const pace_yaml_node *entry) {
    const pace_yaml *yaml = out->yaml;
    int i = 0;
    PACE_TRY(find(&i, yaml, entry));
    if (seen[i]) return pace_yaml_fail(yaml, entry, "a second doubt \"%s\"", rows[i].name);
    seen[i] = true;
    pace_doubt_kind kind = rows[i].kind;
    if (kinds[kind].key)
        PACE_TRY(
            pace_yaml_real(&out->doubts.figure[i], yaml, entry, kinds[kind].key, kinds[kind].least, kinds[kind].most));
    pace_doubt_words *words = &out->words[i];
    PACE_TRY(pace_yaml_word(&words->says, yaml, entry, "says"));
    PACE_TRY(pace_yaml_word(&words->removed_by, yaml, entry, "removed_by"));
    PACE_TRY(pace_yaml_word(&words->source, yaml, entry, "source"));
    return pace_yaml_word(&words->confidence, yaml, entry, "confidence");
}

static pace_status read_all(pace_doubt_catalog *out) {
    bool seen[PACE_DOUBTS] = {false};
    const pace_yaml_node *root = pace_yaml_root(out->yaml), *list;
    PACE_TRY(pace_yaml_list(&list, out->yaml, root, "doubts"));
    PACE_YAML_EACH (one, list) PACE_TRY(read_entry(out, seen, one));
    for (int i = 0; i < PACE_DOUBTS; i++)
        if (!seen[i]) return pace_yaml_fail(out->yaml, list, "expected a doubt \"%s\", found none", rows[i].name);
    return PACE_OK;
}

static pace_status make_kept(void *value, pace_catalog *catalog) {
    pace_doubt_catalog *kept = value;
    PACE_TRY(pace_catalog_document(&kept->yaml, catalog, "doubts.yaml"));
    return read_all(kept);
}

pace_status pace_doubt_catalog_load(pace_doubt_catalog *out, pace_catalog *catalog) {
    static const char *const files[] = {"doubts.yaml", NULL};
    static const pace_catalog_kind kind = {sizeof *out, make_kept, NULL, files};
    return pace_catalog_copy(out, catalog, &kind);
}

pace_status pace_doubts_load(pace_doubts *out, pace_catalog *catalog) {
    pace_doubt_catalog all;
    PACE_TRY(pace_doubt_catalog_load(&all, catalog));
    *out = all.doubts;
    return PACE_OK;
}
