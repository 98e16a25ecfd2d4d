/* What to tell the program that trains, so that it runs a configuration (catalog/launchers.yaml). */
#pragma once

#include "machine/catalog.h"
#include "model/config.h"

/* What a launcher's lines may name besides fields of the configuration. */
typedef struct {
    const pace_config *config;
    const char *framework;
    double nodes, devices_of_node, layers, sequence;
    bool tables; /* a recommender: ep is over how many devices its tables lie */
} pace_launching;

enum { PACE_LAUNCHERS_MOST = 8 };

/** The framework that each launcher which is offered is for, the first where it is for several; borrowed from the
 * catalogue. */
pace_status pace_launch_frameworks(const char *names[PACE_LAUNCHERS_MOST], size_t *count,
                                   pace_catalog *catalog) PACE_MUST_CHECK;

/** The launcher's name, borrowed from the catalogue, and its lines for a configuration; NULL and none of a framework
 * that no launcher is for. Errors: PACE_E_INPUT for a catalogue that cannot be, with the place. Free `lines` with
 * pace_texts_free(), also after a failure. */
pace_status pace_launch_lines(const char **name, pace_texts *lines, pace_catalog *catalog,
                              const pace_launching *launch) PACE_MUST_CHECK;
