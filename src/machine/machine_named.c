/* Machines by the names that tables and logs give them (catalog/system_names.yaml). */
#include "machine/machine.h"

#include <ctype.h>
#include <string.h>

/* "A100-SXM4-80GB" as "a100sxm480gb". */
static void plain(char out[128], const char *text) {
    size_t n = 0;
    for (; *text && n + 1 < 128; text++)
        if (isalnum((unsigned char)*text)) out[n++] = (char)tolower((unsigned char)*text);
    out[n] = '\0';
}

/* A name may not begin or end within a longer number or word: "b200" is not "gb200", nor "a100" "a1000". */
static bool holds(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(text, name); at && length > 0; at = strstr(at + 1, name)) {
        bool begins = at == text || !isalpha((unsigned char)at[-1]) || !isalpha((unsigned char)name[0]) ||
                      (at - text >= 6 && memcmp(at - 6, "nvidia", 6) == 0) ||
                      (at - text >= 5 && memcmp(at - 5, "tesla", 5) == 0);
        if (begins && !(isdigit((unsigned char)name[length - 1]) && isdigit((unsigned char)at[length]))) return true;
    }
    return false;
}

static size_t longest(const pace_yaml_node *list, const char *text) {
    size_t best = 0;
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const char *name = pace_yaml_text(pace_yaml_item(list, i));
        char word[128];
        plain(word, name ? name : "");
        if (strlen(word) > best && holds(text, word)) best = strlen(word);
    }
    return best;
}

pace_status pace_machine_named(pace_machine *out, const char *name, int nodes) {
    pace_yaml *yaml;
    char text[128];
    const char *machine = NULL;
    size_t best = 0;
    plain(text, name);
    PACE_TRY(pace_catalog_load(&yaml, "system_names.yaml"));
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "names");
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const pace_yaml_node *entry = pace_yaml_item(list, i);
        size_t whole = longest(pace_yaml_get(entry, "names"), text);
        size_t inside = nodes > 1 ? 0 : longest(pace_yaml_get(entry, "node"), text);
        size_t length = whole > inside ? whole : inside;
        if (length > best) best = length, machine = pace_yaml_text(pace_yaml_get(entry, "machine"));
    }
    pace_status status = machine ? pace_machine_parse(out, machine) : PACE_E_MISSING;
    pace_yaml_free(yaml);
    if (machine) return status;
    return pace_fail(PACE_E_MISSING, "%.60s: no machine of the catalogue%s: expected --on", name,
                     nodes > 1 ? ", or none whose network is known" : "");
}
