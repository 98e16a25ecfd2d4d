/* The configuration that a user's file runs on a machine: the file's fields, and what its program takes where it is
 * silent. */
#pragma once

#include "ask/plan/launcher_read.h"
#include "model/config.h"

/* What a file does not know. */
typedef struct {
    const pace_config *asked; /* has what the search does not choose */
    const char *framework;
    double devices, devices_of_node;
    double layers; /* that a pipeline may cut */
} pace_launcher_place;

/** The number that the file sets `key` to; `otherwise` where it does not. */
double pace_launcher_number(const pace_launcher_settings *file, const char *key, double otherwise);
/** Replicas on so many devices. */
double pace_launcher_replicas(const pace_launcher_settings *file, double devices);
/** Fields that a plan searches are the file's, 1 or none where it is silent. PACE_E_USAGE for a value that is none. */
pace_status pace_launcher_config(pace_config *out, const pace_launcher_settings *file,
                                 const pace_launcher_place *place) PACE_MUST_CHECK;
