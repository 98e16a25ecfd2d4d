/* Machines by the names that tables and logs give them (catalog/system_names.yaml). */
#include "machine/machine.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128 };

/* "A100-SXM4-80GB" as "a100sxm480gb", and where words begin. */
typedef struct {
    char text[MOST];
    bool begins[MOST];
} plain;

static void make_plain(plain *out, const char *text) {
    size_t n = 0;
    bool apart = true;
    for (; *text && n + 1 < MOST; text++) {
        if (pace_is_alnum(*text)) {
            out->begins[n] = apart;
            out->text[n++] = pace_lower(*text);
        }
        apart = !pace_is_alnum(*text);
    }
    out->text[n] = '\0';
    out->begins[n] = true;
}

/* A name begins where a word does, or after a count ("8xA100"), and ends in no longer number: "b200" is not in
 * "gb200", nor "a100" in "a1000". */
static bool holds(const plain *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(text->text, name); at && length > 0; at = strstr(at + 1, name)) {
        size_t i = (size_t)(at - text->text), end = i + length;
        bool counted = i > 0 && (pace_is_digit(at[-1]) || (i > 1 && at[-1] == 'x' && pace_is_digit(at[-2])));
        if (!text->begins[i] && !counted) continue;
        if (text->begins[end] || !pace_is_digit(text->text[end])) return true;
    }
    return false;
}

static size_t longest(const pace_yaml_node *list, const plain *text) {
    size_t best = 0;
    PACE_YAML_EACH (one, list) {
        const char *name = pace_yaml_text(one);
        plain word;
        make_plain(&word, name ? name : "");
        if (strlen(word.text) > best && holds(text, word.text)) best = strlen(word.text);
    }
    return best;
}

pace_status pace_machine_named(pace_machine *out, pace_catalog *catalog, const char *name, int nodes) {
    const pace_yaml *yaml;
    plain text;
    const char *machine = NULL;
    size_t best = 0;
    make_plain(&text, name);
    PACE_TRY(pace_catalog_document(&yaml, catalog, "system_names.yaml"));
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "names");
    PACE_YAML_EACH (entry, list) {
        size_t whole = longest(pace_yaml_get(entry, "names"), &text);
        size_t inside = nodes > 1 ? 0 : longest(pace_yaml_get(entry, "node"), &text);
        size_t length = whole > 0 ? whole + MOST : inside; /* a machine's name says more than a device's */
        if (length > best) best = length, machine = pace_yaml_text_of(entry, "machine");
    }
    pace_status status = machine ? pace_machine_parse(out, catalog, machine) : PACE_E_MISSING;
    if (machine) return status;
    return pace_fail(PACE_E_MISSING, "%.60s: no machine of the catalogue%s: expected " PACE_FIELD "on", name,
                     nodes > 1 ? ", or none whose network is known" : "");
}

/* "p4d.24xlarge*4 net=fat-tree:2": its name, its nodes and what is changed of it. False when it is no such text. */
static bool split(char name[MOST], int *nodes, const char **changes, const char *text) {
    size_t length = strcspn(text, "*=");
    char *end = NULL;
    *nodes = 1;
    *changes = "";
    if (strstr(text, ".yaml") || strstr(text, ".yml") || strstr(text, ".xml")) return false; /* a file */
    if (text[length] == '*') {
        long count = strtol(text + length + 1, &end, 10);
        if (end == text + length + 1 || count < 1 || count > 1 << 20 || (*end && !strchr(" ,", *end))) return false;
        *nodes = (int)count;
        *changes = end;
    } else if (text[length] == '=') {
        while (length > 0 && !strchr(" ,", text[length])) length--;
        *changes = text + length;
    }
    if (length == 0 || length >= MOST) return false;
    snprintf(name, MOST, "%.*s", (int)length, text);
    return true;
}

static bool lists(const pace_yaml_node *list, const char *plain_name) {
    PACE_YAML_EACH (one, list) {
        plain word;
        make_plain(&word, pace_yaml_text(one));
        if (strcmp(word.text, plain_name) == 0) return true;
    }
    return false;
}

/* Whether a text is a machine's name and no word more: what somebody types is not searched for something known. */
static pace_status is_name(bool *out, pace_catalog *catalog, const char *name) {
    const pace_yaml *yaml;
    plain text;
    *out = false;
    make_plain(&text, name);
    PACE_TRY(pace_catalog_document(&yaml, catalog, "system_names.yaml"));
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "names");
    PACE_YAML_EACH (one, list) *out |= lists(pace_yaml_get(one, "names"), text.text);
    return PACE_OK;
}

static pace_status by_its_name(pace_machine *out, pace_catalog *catalog, const char *text) {
    pace_machine machine;
    char name[MOST], known[512];
    const char *changes;
    int nodes;
    bool known_name;
    if (!split(name, &nodes, &changes, text)) return PACE_E_MISSING;
    PACE_TRY(is_name(&known_name, catalog, name));
    if (!known_name) return PACE_E_MISSING;
    PACE_TRY(pace_machine_named(&machine, catalog, name, nodes));
    snprintf(known, sizeof known, "%.63s*%d%.400s", machine.name, nodes, changes);
    PACE_TRY(pace_machine_parse(&machine, catalog, known));
    snprintf(machine.called, sizeof machine.called, "%.63s", name);
    *out = machine;
    return PACE_OK;
}

pace_status pace_machine_asked(pace_machine *out, pace_catalog *catalog, const char *text) {
    char refused[400];
    pace_status status = pace_machine_parse(out, catalog, text);
    if (status != PACE_E_MISSING) return status;
    snprintf(refused, sizeof refused, "%.399s", pace_message_marked());
    status = by_its_name(out, catalog, text);
    return status == PACE_E_MISSING ? pace_fail(PACE_E_MISSING, "%s", refused) : status;
}
