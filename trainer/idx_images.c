#include "idx_images.h"

#include "base/input.h"
#include "base/memory.h"

#include <unistd.h>

enum { MOST_BYTES = 1 << 30, BYTES_OF_ONE = 8 }; /* type 8: unsigned bytes */

static size_t number_at(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

/* Two zeros, the type, how many dimensions, then each of them in four bytes, the highest first. */
static pace_status check_head(size_t *dims, const char *path, const char *bytes, size_t length, size_t rank) {
    size_t elements = 1, head = 4 + 4 * rank;
    if (length < head || bytes[0] || bytes[1] || bytes[2] != BYTES_OF_ONE || (size_t)bytes[3] != rank)
        return pace_fail(PACE_E_INPUT, "%s: expected an IDX file of bytes in %zu dimensions", path, rank);
    for (size_t i = 0; i < rank; i++) {
        dims[i] = number_at(bytes + 4 + 4 * i);
        if (dims[i] == 0 || dims[i] > MOST_BYTES || elements > MOST_BYTES / dims[i])
            return pace_fail(PACE_E_INPUT, "%s: byte %zu: %zu is no size of a dimension", path, 4 + 4 * i, dims[i]);
        elements *= dims[i];
    }
    if (length - head == elements) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: expected %zu bytes behind the head, found %zu", path, elements, length - head);
}

static pace_status read_file(char **out, size_t *dims, const char *folder, const char *name, size_t rank) {
    char path[4096];
    pace_input *input;
    size_t length = 0;
    char *bytes = NULL;
    pace_snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, R_OK) != 0) pace_snprintf(path, sizeof path, "%s/%s.gz", folder, name);
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_input_read_all(&bytes, &length, input, MOST_BYTES);
    pace_input_free(input);
    if (status == PACE_OK) status = check_head(dims, path, bytes, length, rank);
    return PACE_GIVE(out, bytes, status, pace_free(bytes));
}

static pace_status open_both(pace_idx_images *i, const char *folder) {
    size_t dims[3], labels[1];
    PACE_TRY(read_file(&i->image_file, dims, folder, "train-images-idx3-ubyte", 3));
    PACE_TRY(read_file(&i->label_file, labels, folder, "train-labels-idx1-ubyte", 1));
    i->count = dims[0], i->rows = dims[1], i->columns = dims[2];
    i->pixels = (const unsigned char *)i->image_file + 16;
    i->labels = (const unsigned char *)i->label_file + 8;
    if (dims[0] == labels[0]) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: %zu images, but %zu labels", folder, dims[0], labels[0]);
}

pace_status pace_idx_images_open(pace_idx_images *out, const char *folder) {
    pace_idx_images images = {0};
    pace_status status = open_both(&images, folder);
    return PACE_GIVE(out, images, status, pace_idx_images_close(&images));
}

void pace_idx_images_close(pace_idx_images *images) {
    pace_free(images->image_file);
    pace_free(images->label_file);
    *images = (pace_idx_images){0};
}
