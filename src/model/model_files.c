#include "model/model_files.h"

#include "machine/catalog.h"
#include "model/model_read.h"
#include "base/text.h"

/* The next letter or digit, or a point between digits; the end of the name when there is none. */
static const char *next_letter(const char *name, const char *at) {
    for (; *at && *at != '('; at++) {
        if (pace_is_alnum(*at)) return at;
        if (*at == '.' && at > name && pace_is_digit(at[-1]) && pace_is_digit(at[1])) return at;
    }
    return "";
}

void pace_model_plain_name(char *out, size_t size, const char *name) {
    size_t used = 0;
    for (const char *c = next_letter(name, name); *c && used + 1 < size; c = next_letter(name, c + 1))
        out[used++] = pace_lower(*c);
    out[used] = '\0';
}

bool pace_model_same_name(const char *a, const char *b) {
    for (const char *x = a, *y = b;; x++, y++) {
        x = next_letter(a, x);
        y = next_letter(b, y);
        if (!*x && !*y) return true;
        if (!*x || pace_lower(*x) != pace_lower(*y)) return false;
    }
}

static pace_status visit_file(pace_catalog *catalog, const char *file, pace_description_visit visit, void *context,
                              bool *stop) {
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, catalog, file));
    pace_status status = PACE_OK;
    const char *name;
    for (size_t i = 0; status == PACE_OK && !*stop && (name = pace_model_variant(yaml, i)); i++)
        status = visit(context, yaml, name, stop);
    return status;
}

pace_status pace_model_each_description(pace_catalog *catalog, pace_description_visit visit, void *context) {
    pace_catalog_names files = {0};
    PACE_TRY(pace_catalog_list(&files, catalog, "models/"));
    pace_status status = PACE_OK;
    bool stop = false;
    for (size_t i = 0; status == PACE_OK && !stop && i < files.names.count; i++)
        status = visit_file(catalog, files.names.items[i], visit, context, &stop);
    pace_catalog_names_free(&files);
    return status;
}
