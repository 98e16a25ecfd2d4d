/*
 * Turns documents of YAML into one C file: an array TABLE of {name, tree}, which HEADER declares, closed by NULL.
 *
 * Usage: pack_yaml OUT DIR HEADER TABLE FILE...
 */
#include "base/yaml_tree.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    FILE *out;
    const char *folder;
} packer;

static pace_status read_all(char **out, size_t *length, const char *path) {
    FILE *file = fopen(path, "rb");
    PACE_VEC(char) bytes = {0};
    pace_status status = file ? PACE_OK : pace_fail(PACE_E_IO, "%s: cannot be read", path);
    for (size_t got = 1; status == PACE_OK && got > 0; bytes.count += got) {
        status = pace_grow(&bytes.items, &bytes.capacity, bytes.count + BUFSIZ, 1);
        got = status == PACE_OK ? fread(bytes.items + bytes.count, 1, BUFSIZ, file) : 0;
    }
    if (status == PACE_OK && ferror(file)) status = pace_fail(PACE_E_IO, "%s: cannot be read", path);
    if (file) fclose(file);
    *length = bytes.count;
    return PACE_GIVE(out, bytes.items, status, pace_free(bytes.items));
}

static void put_tree(const packer *p, int number, const pace_yaml *yaml) {
    enum { WORDS_A_LINE = 16 };
    size_t length;
    const char *tree = pace_yaml_tree(&length, yaml);
    if (length == 0) return;
    fprintf(p->out, "static const uint32_t tree%d[] = {", number);
    for (size_t i = 0; i < length / sizeof(uint32_t); i++) {
        uint32_t word;
        memcpy(&word, tree + i * sizeof word, sizeof word);
        fprintf(p->out, "%s%u,", i % WORDS_A_LINE ? "" : "\n", word);
    }
    fprintf(p->out, "};\n");
}

/* *empty: the document has no tree. */
static pace_status put_file(const packer *p, bool *empty, int number, const char *name) {
    char path[4096];
    char *bytes;
    size_t length;
    pace_yaml *yaml;
    if (snprintf(path, sizeof path, "%s/%s", p->folder, name) >= (int)sizeof path)
        return pace_fail(PACE_E_INPUT, "%s: the path is too long", name);
    PACE_TRY(read_all(&bytes, &length, path));
    pace_status status = pace_yaml_parse(&yaml, path, bytes, length);
    pace_free(bytes);
    PACE_TRY(status);
    *empty = !pace_yaml_root(yaml);
    put_tree(p, number, yaml);
    pace_yaml_free(yaml);
    return PACE_OK;
}

static pace_status put_all(const packer *p, const char *table, char *const *names, int count) {
    bool *empty = pace_alloc((size_t)count, sizeof *empty);
    pace_status status = empty ? PACE_OK : PACE_E_MEMORY;
    for (int i = 0; status == PACE_OK && i < count; i++) status = put_file(p, &empty[i], i, names[i]);
    if (status == PACE_OK) fprintf(p->out, "const pace_catalog_file %s[] = {\n", table);
    for (int i = 0; status == PACE_OK && i < count; i++)
        if (empty[i]) fprintf(p->out, "    {\"%s\", NULL},\n", names[i]);
        else fprintf(p->out, "    {\"%s\", tree%d},\n", names[i], i);
    if (status == PACE_OK) fprintf(p->out, "    {NULL, NULL},\n};\n");
    pace_free(empty);
    return status;
}

int main(int count, char **words) {
    enum { OUT = 1, FOLDER, HEADER, TABLE, FILES };
    if (count < FILES) {
        fprintf(stderr, "usage: pack_yaml OUT DIR HEADER TABLE FILE...\n");
        return 2;
    }
    packer p = {fopen(words[OUT], "w"), words[FOLDER]};
    if (!p.out) {
        fprintf(stderr, "%s: cannot be written\n", words[OUT]);
        return 1;
    }
    fprintf(p.out, "/* Generated from %s. */\n#include <stdint.h>\n#include \"%s\"\n", words[FOLDER], words[HEADER]);
    pace_status status = put_all(&p, words[TABLE], words + FILES, count - FILES);
    bool written = !ferror(p.out);
    written &= fclose(p.out) == 0;
    if (status == PACE_OK && written) return 0;
    fprintf(stderr, "%s\n", status == PACE_OK ? "the file cannot be written" : pace_message());
    remove(words[OUT]);
    return 1;
}
