/*
 * The catalogue's files: from the directory PACELINE_CATALOG names, file by file, else as compiled in. A directory
 * that does not exist, or has none of them, is an error, so that a misspelt one is never silently ignored.
 */
#include "machine/catalog.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    char *name;
    pace_yaml *yaml; /* NULL: could not be read */
    size_t parses;
} document;

typedef struct {
    const pace_catalog_kind *kind;
    void *value;
} kept;

struct pace_catalog {
    char *directory; /* NULL: the files compiled in alone */
    atomic_uint more_owners;
    pthread_mutex_t lock;
    PACE_VEC(document *) documents; /* that were asked for */
    PACE_VEC(kept) kept;            /* made of them */
};

pace_status pace_catalog_open(pace_catalog **out) {
    const char *directory = getenv("PACELINE_CATALOG");
    pace_catalog *catalog = pace_alloc(1, sizeof *catalog);
    if (!catalog) return PACE_E_MEMORY;
    if (directory && *directory) {
        catalog->directory = pace_copy_text(directory, strlen(directory));
        if (!catalog->directory) {
            pace_free(catalog);
            return PACE_E_MEMORY;
        }
    }
    pthread_mutex_init(&catalog->lock, NULL);
    *out = catalog;
    return PACE_OK;
}

static bool is_made_of(const pace_catalog_kind *kind, const char *name) {
    for (const char *const *file = kind->files; *file; file++) {
        bool folder = pace_ends(*file, "/");
        if (folder ? pace_starts(name, *file) : strcmp(name, *file) == 0) return true;
    }
    return false;
}

static void free_value(const pace_catalog_kind *kind, void *value) {
    if (kind->release) kind->release(value);
    pace_free(value);
}

/* What was made of one file; NULL: all. */
static void forget_kept(pace_catalog *catalog, const char *name) {
    size_t stays = 0;
    PACE_ITEMS (kept, one, &catalog->kept) {
        if (!name || is_made_of(one->kind, name)) free_value(one->kind, one->value);
        else catalog->kept.items[stays++] = *one;
    }
    catalog->kept.count = stays;
}

pace_catalog *pace_catalog_share(pace_catalog *catalog) {
    atomic_fetch_add(&catalog->more_owners, 1);
    return catalog;
}

void pace_catalog_free(pace_catalog *catalog) {
    if (!catalog || atomic_fetch_sub(&catalog->more_owners, 1) > 0) return;
    forget_kept(catalog, NULL);
    PACE_VEC_FREE(&catalog->kept);
    for (size_t i = 0; i < catalog->documents.count; i++) {
        pace_yaml_free(catalog->documents.items[i]->yaml);
        PACE_FREE(catalog->documents.items[i]->name, catalog->documents.items[i]);
    }
    PACE_VEC_FREE(&catalog->documents);
    pthread_mutex_destroy(&catalog->lock);
    PACE_FREE(catalog->directory, catalog);
}

/* Files and folders of the catalogue that a directory has, "machines.yaml" or "models". */
static bool holds_any(const char *directory) {
    DIR *folder = opendir(directory);
    bool found = false;
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));)
        for (const pace_catalog_file *file = pace_catalog_files; file->name && !found; file++) {
            size_t length = strcspn(file->name, "/");
            found = strlen(entry->d_name) == length && strncmp(entry->d_name, file->name, length) == 0;
        }
    if (folder) closedir(folder);
    return found;
}

/* `*found` is false when the directory has no such file. */
static pace_status load_from_directory(pace_yaml **out, const char *directory, const char *name, bool *found) {
    struct stat entry;
    if (stat(directory, &entry) != 0 || !S_ISDIR(entry.st_mode))
        return pace_fail(PACE_E_MISSING, "%s: PACELINE_CATALOG names no directory", directory);
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = pace_alloc(size, 1);
    if (!path) return PACE_E_MEMORY;
    snprintf(path, size, "%s/%s", directory, name);
    *found = access(path, F_OK) == 0 || errno != ENOENT;
    pace_status status = *found ? pace_yaml_load(out, path) : PACE_OK;
    pace_free(path);
    if (*found || holds_any(directory)) return status;
    return pace_fail(PACE_E_MISSING, "%s: PACELINE_CATALOG names a folder without any file of the catalogue",
                     directory);
}

static pace_status load_compiled(pace_yaml **out, const char *name) {
    for (const pace_catalog_file *file = pace_catalog_files; file->name; file++)
        if (strcmp(file->name, name) == 0) return pace_yaml_of_tree(out, name, file->tree);
    return pace_fail(PACE_E_MISSING, "the catalogue has no file \"%s\"", name);
}

static pace_status parse(document *one, const pace_catalog *catalog) {
    bool found = false;
    one->parses++;
    if (catalog->directory) PACE_TRY(load_from_directory(&one->yaml, catalog->directory, one->name, &found));
    return found ? PACE_OK : load_compiled(&one->yaml, one->name);
}

static document *asked_before(const pace_catalog *catalog, const char *name) {
    for (size_t i = 0; i < catalog->documents.count; i++)
        if (strcmp(catalog->documents.items[i]->name, name) == 0) return catalog->documents.items[i];
    return NULL;
}

static pace_status add_document(document **out, pace_catalog *catalog, const char *name) {
    document *one = pace_alloc(1, sizeof *one);
    if (!one) return PACE_E_MEMORY;
    one->name = pace_copy_text(name, strlen(name));
    pace_status status = one->name ? PACE_PUSH(&catalog->documents, one) : PACE_E_MEMORY;
    return PACE_GIVE(out, one, status, (pace_free(one->name), pace_free(one)));
}

void pace_catalog_forget(pace_catalog *catalog, const char *name) {
    document *one = asked_before(catalog, name);
    forget_kept(catalog, name);
    if (!one) return;
    pace_yaml_free(one->yaml);
    one->yaml = NULL;
}

static pace_status find_document(const pace_yaml **out, pace_catalog *catalog, const char *name) {
    document *one = asked_before(catalog, name);
    if (!one) PACE_TRY(add_document(&one, catalog, name));
    if (!one->yaml) PACE_TRY(parse(one, catalog));
    *out = one->yaml;
    return PACE_OK;
}

pace_status pace_catalog_document(const pace_yaml **out, pace_catalog *catalog, const char *name) {
    pthread_mutex_lock(&catalog->lock);
    pace_status status = find_document(out, catalog, name);
    pthread_mutex_unlock(&catalog->lock);
    return status;
}

static void *find_kept(const pace_catalog *catalog, const pace_catalog_kind *kind) {
    for (size_t i = 0; i < catalog->kept.count; i++)
        if (catalog->kept.items[i].kind == kind) return catalog->kept.items[i].value;
    return NULL;
}

/* Keeps a value unless another thread was first; frees the one that is not kept. */
static pace_status keep(const void **out, pace_catalog *catalog, const pace_catalog_kind *kind, void *value) {
    pthread_mutex_lock(&catalog->lock);
    void *first = find_kept(catalog, kind);
    pace_status status = first ? PACE_OK : PACE_PUSH(&catalog->kept, ((kept){kind, value}));
    pthread_mutex_unlock(&catalog->lock);
    if (first || status != PACE_OK) free_value(kind, value);
    if (status == PACE_OK) *out = first ? first : value;
    return status;
}

pace_status pace_catalog_kept(const void **out, pace_catalog *catalog, const pace_catalog_kind *kind) {
    pthread_mutex_lock(&catalog->lock);
    void *value = find_kept(catalog, kind);
    pthread_mutex_unlock(&catalog->lock);
    if (value) {
        *out = value;
        return PACE_OK;
    }
    value = pace_alloc(1, kind->size);
    if (!value) return PACE_E_MEMORY;
    pace_status status = kind->make(value, catalog); /* without the lock: it asks for documents */
    if (status == PACE_OK) return keep(out, catalog, kind, value);
    free_value(kind, value);
    return status;
}

pace_status pace_catalog_copy(void *out, pace_catalog *catalog, const pace_catalog_kind *kind) {
    const void *value;
    PACE_TRY(pace_catalog_kept(&value, catalog, kind));
    memcpy(out, value, kind->size);
    return PACE_OK;
}

size_t pace_catalog_parses(pace_catalog *catalog, const char *name) {
    size_t parses = 0;
    pthread_mutex_lock(&catalog->lock);
    for (size_t i = 0; i < catalog->documents.count; i++)
        if (!name || strcmp(catalog->documents.items[i]->name, name) == 0)
            parses += catalog->documents.items[i]->parses;
    pthread_mutex_unlock(&catalog->lock);
    return parses;
}

void pace_catalog_names_free(pace_catalog_names *list) { pace_texts_free(&list->names); }

/* Keeps the list sorted. */
static pace_status add_name(pace_catalog_names *list, const char *folder, const char *file) {
    char name[512];
    snprintf(name, sizeof name, "%.128s%.256s", folder, file);
    size_t at = list->names.count;
    while (at > 0 && strcmp(list->names.items[at - 1], name) > 0) at--;
    if (at > 0 && strcmp(list->names.items[at - 1], name) == 0) return PACE_OK;
    PACE_TRY(pace_texts_add(&list->names, name));
    char *copy = list->names.items[list->names.count - 1];
    memmove(list->names.items + at + 1, list->names.items + at, (list->names.count - 1 - at) * sizeof copy);
    list->names.items[at] = copy;
    return PACE_OK;
}

/* A directory without the folder adds nothing. */
static pace_status list_directory(pace_catalog_names *list, const char *directory, const char *folder) {
    size_t size = strlen(directory) + strlen(folder) + 2;
    char *path = pace_alloc(size, 1);
    if (!path) return PACE_E_MEMORY;
    snprintf(path, size, "%s/%s", directory, folder);
    DIR *entries = opendir(path);
    pace_status status = PACE_OK;
    for (struct dirent *entry; entries && status == PACE_OK && (entry = readdir(entries));)
        if (pace_ends(entry->d_name, ".yaml")) status = add_name(list, folder, entry->d_name);
    if (entries) closedir(entries);
    pace_free(path);
    return status;
}

pace_status pace_catalog_list(pace_catalog_names *out, const pace_catalog *catalog, const char *folder) {
    pace_catalog_names list = {0};
    size_t length = strlen(folder);
    pace_status status = catalog->directory ? list_directory(&list, catalog->directory, folder) : PACE_OK;
    for (const pace_catalog_file *file = pace_catalog_files; status == PACE_OK && file->name; file++)
        if (pace_starts(file->name, folder)) status = add_name(&list, folder, file->name + length);
    return PACE_GIVE(out, list, status, pace_catalog_names_free(&list));
}
