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

#endif
