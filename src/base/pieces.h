/* A text in pieces: items between separators, without the blanks around them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *at;
    size_t length;
} pace_piece;

/** Cuts the next piece off `*text`, up to one of `ends` or `stop`. False at the end. */
bool pace_piece_cut(pace_piece *out, const char **text, const char *stop, const char *ends);

/** "4096", "64K", "8M", "1G": of 1024. */
bool pace_piece_bytes(uint64_t *out, pace_piece piece);
