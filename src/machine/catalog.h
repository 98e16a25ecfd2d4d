/*
 * The catalogue: YAML files about the world, compiled into the library, or read from the directory that the
 * environment variable PACELINE_CATALOG names. One object holds it: it is opened once, and everything that needs a
 * figure of the world takes it. Documents of the directory are parsed when they are first asked for and stay parsed, so
 * that a question parses each at most once; those compiled in were parsed when the library was built. Threads may share
 * it.
 */
#pragma once

#include "base/texts.h"
#include "base/yaml.h"

typedef struct {
    const char *name;
    const void *tree; /* parsed when the program was built (base/yaml_tree.h) */
} pace_catalog_file;

/** All compiled-in files; the last has name NULL. */
extern const pace_catalog_file pace_catalog_files[];

typedef struct pace_catalog pace_catalog;

/** Looks at PACELINE_CATALOG; reads no file yet. */
pace_status pace_catalog_open(pace_catalog **out) PACE_MUST_CHECK;
/** One owner more, who frees it, too. */
pace_catalog *pace_catalog_share(pace_catalog *catalog);
/** Of its last owner: frees the documents with it. */
void pace_catalog_free(pace_catalog *catalog);

/** A file of the catalogue ("devices.yaml"), parsed; borrowed. PACE_E_MISSING when there is none, or when
 * PACELINE_CATALOG names no directory. */
pace_status pace_catalog_document(const pace_yaml **out, pace_catalog *catalog, const char *name) PACE_MUST_CHECK;

/** A kind of thing that is made of the catalogue once and kept with it. */
typedef struct {
    size_t size;
    pace_status (*make)(void *value, pace_catalog *catalog); /* fills what is zero */
    void (*release)(void *value); /* frees what it owns, also of one that was not made whole; NULL: it owns nothing */
    const char *const *files;     /* of which it is made, up to NULL; "models/" stands for every file of the folder */
} pace_catalog_kind;

/** The thing of a kind: made when it is first asked for, borrowed from the catalogue. Errors: those of make(). */
pace_status pace_catalog_kept(const void **out, pace_catalog *catalog, const pace_catalog_kind *kind) PACE_MUST_CHECK;
/** A copy of it, which borrows what the thing owns. */
pace_status pace_catalog_copy(void *out, pace_catalog *catalog, const pace_catalog_kind *kind) PACE_MUST_CHECK;

/** Forgets one file, which has changed, and all that was made of it; other files stay parsed. What was borrowed from
 * either is gone. Not while other threads use the catalogue. */
void pace_catalog_forget(pace_catalog *catalog, const char *name);

/** How often the file was parsed, well or not; NULL: all files together. */
size_t pace_catalog_parses(pace_catalog *catalog, const char *name);

/** The names of the catalogue's files in a folder ("models/"): compiled in, and those of the directory. */
typedef struct {
    pace_texts names; /* sorted, each once */
} pace_catalog_names;

pace_status pace_catalog_list(pace_catalog_names *out, const pace_catalog *catalog, const char *folder) PACE_MUST_CHECK;
void pace_catalog_names_free(pace_catalog_names *list);
