#include "base/memory.h"
#include "base/print.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, LARGE = 4 << 20 };

static atomic_uint_fast64_t fail_countdown;
static atomic_int_fast64_t live_blocks;
static _Thread_local uint64_t failures;

uint64_t pace_memory_failures(void) { return failures; }

void pace_memory_add_failures(uint64_t count) { failures += count; }

void pace_memory_fail_at(uint64_t n) { atomic_store(&fail_countdown, n); }

int64_t pace_memory_live(void) { return atomic_load(&live_blocks); }

static bool must_fail(void) {
    uint64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    if (PACE_LIKELY(left == 0)) return false;
    if (left == 1) return true;
    atomic_store(&fail_countdown, left - 1);
    return false;
}

static void *out_of_memory(size_t count, size_t size) {
    failures++;
    pace_fail(PACE_E_MEMORY, "out of memory (%zu elements of %zu bytes)", count, size);
    return NULL;
}

/* Large blocks are touched nearly whole: in pages of 2 MiB that costs a tenth of the faults, and most look-ups of
 * addresses. All pages of a block are advised alike: the kernel does not grow a mapping in place or elsewhere that is
 * part advised and part not, and realloc() would copy it. */
static void prefer_huge_pages(void *block, size_t bytes) {
    if (PACE_LIKELY(bytes < LARGE)) return;
    uintptr_t begin = (uintptr_t)block / PAGE * PAGE;
    uintptr_t end = ((uintptr_t)block + bytes + PAGE - 1) / PAGE * PAGE;
    (void)!madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

void *pace_alloc(size_t count, size_t size) {
    void *block = must_fail() ? NULL : calloc(count ? count : 1, size ? size : 1);
    if (!block) return out_of_memory(count, size);
    prefer_huge_pages(block, count * size);
    atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
    return block;
}

void *pace_resize(void *block, size_t count, size_t size) {
    if (size && count > SIZE_MAX / size) return out_of_memory(count, size);
    size_t bytes = count * size;
    void *resized = must_fail() ? NULL : realloc(block, bytes ? bytes : 1);
    if (!resized) return out_of_memory(count, size);
    prefer_huge_pages(resized, bytes);
    if (!block) atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
    return resized;
}

char *pace_copy_text(const char *text, size_t length) {
    char *copy = pace_alloc(length + 1, 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

char *pace_format_text(const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = pace_vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) length = 0;
    char *text = pace_alloc((size_t)length + 1, 1);
    if (text) pace_vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

void pace_free(void *block) {
    if (!block) return;
    atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
    free(block);
}

size_t pace_slots_for(size_t count, size_t most) {
    size_t slots = 16;
    while (slots < count && slots < most) slots *= 2;
    return slots;
}

pace_status pace_grow(void *data, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity) return PACE_OK;
    size_t grown = *capacity < 8 ? 16 : *capacity * 2;
    if (grown < need) grown = need;
    void *old;
    memcpy(&old, data, sizeof old);
    void *block = pace_resize(old, grown, size);
    if (!block) return PACE_E_MEMORY;
    memcpy(data, &block, sizeof block);
    *capacity = grown;
    return PACE_OK;
}

int pace_word_number(const char *const *words, size_t count, const char *word) {
    for (size_t i = 0; word && i < count; i++)
        if (words[i] && strcmp(words[i], word) == 0) return (int)i;
    return -1;
}

void *pace_row_named(const void *rows, size_t count, size_t size, size_t at, bool within, const char *name) {
    for (size_t i = 0; name && i < count; i++) {
        const char *row = (const char *)rows + i * size, *text = row + at;
        if (!within) memcpy(&text, row + at, sizeof text);
        if (strcmp(text, name) == 0) return (void *)row;
    }
    return NULL;
}
