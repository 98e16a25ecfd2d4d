/*
 * The catalogue: YAML files about the world, compiled into the library, or read from the directory that the
 * environment variable PACELINE_CATALOG names.
 */
#ifndef PACE_MACHINE_CATALOG_H
#define PACE_MACHINE_CATALOG_H

#include "base/yaml.h"

typedef struct {
    const char *name;
    const unsigned char *bytes;
    size_t length;
} pace_catalog_file;

/** All compiled-in files; the last has name NULL. */
extern const pace_catalog_file pace_catalog_files[];

/** Parses a catalogue file ("devices.yaml"). PACE_E_MISSING when there is none. */
pace_status pace_catalog_load(pace_yaml **out, const char *name) PACE_MUST_CHECK;

/** Parses a YAML file of the user's. PACE_E_IO when it cannot be opened. */
pace_status pace_catalog_load_file(pace_yaml **out, const char *path) PACE_MUST_CHECK;

/** The names of the catalogue's files in a folder ("models/"): compiled in, and those of the directory. */
typedef struct {
    PACE_VEC(char *) names; /* sorted, each once */
} pace_catalog_names;

pace_status pace_catalog_list(pace_catalog_names *out, const char *folder) PACE_MUST_CHECK;
void pace_catalog_names_free(pace_catalog_names *list);

#endif
