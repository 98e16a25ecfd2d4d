/* What the catalogue's models are called: by themselves, and by tables, papers and hubs ("meta-llama/Llama-3.1-8B"). */
#pragma once

#include "machine/catalog.h"

/* One name of a model; a model has several. */
typedef struct {
    char plain[64]; /* pace_model_plain_name() of the name */
    char model[64]; /* what the catalogue calls it */
    char family[32];
    char sizes[400]; /* parameters that a row of a table may set: " hidden layers … " */
} pace_model_called;

typedef struct {
    PACE_VEC(pace_model_called) all;
    const pace_yaml *words; /* catalog/model_names.yaml */
    bool borrows;           /* names are those that the catalogue keeps */
} pace_model_names;

/** Reads the names of every model; builds none. Free with pace_model_names_free(). */
pace_status pace_model_names_load(pace_model_names *out, pace_catalog *catalog) PACE_MUST_CHECK;
void pace_model_names_free(pace_model_names *names);

/** The model that a text means: the name behind the last "/", words that change nothing (`around`) taken off its ends
 * until it is known. What stands in parentheses counts only where it is not known without. NULL when none is meant. */
const pace_model_called *pace_model_names_find(const pace_model_names *names, const char *text);

/** A model of just this name; NULL when there is none. */
const pace_model_called *pace_model_names_exact(const pace_model_names *names, const char *name);

/** The name that begins most like a text, else the one that shares the longest part with it; "" when no name begins
 * like it (three letters) and that part is less than half of either. */
const char *pace_model_names_closest(const pace_model_names *names, const char *text);

/** Why a model of this name is not in the catalogue (`refused`); NULL when nothing is known of it. */
const char *pace_model_names_refusal(const pace_model_names *names, const char *text);

/** The size of images that a model's name says ("vit_large_patch32_384"); 0 = it says none. */
double pace_model_name_image(const char *text);

/** Whether a parameter is one that a row may set. */
bool pace_model_called_takes(const pace_model_called *one, const char *parameter);
