/* The settings in a file that starts a training: "tensor_model_parallel_size" and "8", whatever the file's form. */
#pragma once

#include "base/memory.h"

typedef struct {
    char *name;    /* without leading dashes, "_" for "-"; behind its sections: "zero_optimization.stage" */
    char *value;   /* "" of a flag that stands alone; words of a list with a blank between two */
    bool assigned; /* to a variable of a shell, which may mean nothing to the program */
    bool doubtful; /* it stands in a branch of a script of which nobody knows whether it is taken */
} pace_launch_word;

typedef struct {
    PACE_VEC(pace_launch_word) items; /* as they stand in the file: the last of a name counts */
} pace_launch_words;

/** Reads the text of a script with flags ("--flag value", "--flag=value", and "section.key=value" of Hydra), whose
 * shell variables and arithmetic of them are replaced where the script sets them, of TOML, YAML (with "${a.b}" of
 * OmegaConf) or JSON; `name` tells YAML and is for messages, the text is written over. PACE_E_INPUT for what is no
 * text. A variable that the file does not set, or sets to several values, stays as it is written. Free `out`, which
 * begins as zeros, after a failure too. */
pace_status pace_launch_words_parse(pace_launch_words *out, const char *name, char *text,
                                    size_t length) PACE_MUST_CHECK;
/** The same of a file of at most 1 MiB. */
pace_status pace_launch_words_read(pace_launch_words *out, const char *path) PACE_MUST_CHECK;
void pace_launch_words_free(pace_launch_words *words);
