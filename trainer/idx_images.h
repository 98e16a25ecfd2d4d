/* Images and labels in the IDX files that MNIST and its kin are published in. */
#pragma once

#include "base/status.h"

#include <stddef.h>

typedef struct {
    char *image_file, *label_file;        /* their bytes; own */
    const unsigned char *pixels, *labels; /* in them: one byte a pixel, one a label */
    size_t count, rows, columns;
} pace_idx_images;

/** Reads train-images-idx3-ubyte and train-labels-idx1-ubyte of a folder, plain or with .gz behind. Errors: PACE_E_IO
 * with the path, PACE_E_INPUT for what is no such file and where both do not hold as many. Free with
 * pace_idx_images_close(). */
pace_status pace_idx_images_open(pace_idx_images *out, const char *folder) PACE_MUST_CHECK;
void pace_idx_images_close(pace_idx_images *images);
