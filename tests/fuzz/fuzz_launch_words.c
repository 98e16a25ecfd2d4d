/*
 * Fuzz target of files that start a training: any bytes, as a script and as YAML, either fail with a message or give
 * words whose names hold no "-"; and so of lists of layers.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/plan/launch_words.h"
#include "ask/plan/layer_pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(const char *name, const uint8_t *data, size_t size) {
    pace_launch_words words = {0};
    char *text = malloc(size + 1);
    if (!text) return;
    memcpy(text, data, size);
    text[size] = '\0';
    pace_status status = pace_launch_words_parse(&words, name, text, size);
    if (status != PACE_OK && (status == PACE_E_INTERNAL || !pace_message()[0])) {
        fprintf(stderr, "fuzz_launch_words: status %d: %s\n", (int)status, pace_message());
        abort();
    }
    for (size_t i = 0; i < words.items.count; i++)
        if (strchr(words.items.items[i].name, '-') || !words.items.items[i].value) abort();
    pace_layer_pattern pattern;
    if (pace_layer_pattern_read(&pattern, text) && (pattern.dense < 0 || pattern.every < 1)) abort();
    pace_launch_words_free(&words);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_as("fuzz.sh", data, size);
    read_as("fuzz.yaml", data, size);
    return 0;
}
