/* Rows whose cells nobody quoted, many at a time: where all cells end, then column by column what they hold. */
#include "base/decimal.h"
#include "base/each_cpu.h"
#include "source/jobs/job_cells.h"
#include "source/jobs/job_ids.h"
#include "source/jobs/job_lines.h"

#ifdef PACE_NEWEST_CPU
#include <immintrin.h>
#endif

#include <math.h>
#include <string.h>

enum { ROWS = 64, MOST_STOPS = 2048, TOGETHER = 64, AT_ONCE = 12, SLACK = 16 };

/* The first rows of a text. Cell c of row r ends before stops[1 + r * columns + c] and begins behind the one before. */
typedef struct {
    const char *text;
    size_t columns, rows;
    uint32_t stops[1 + MOST_STOPS + TOGETHER + SLACK];
} group;

/* ---- where cells end ---- */

/* Of 64 bytes a bit for each that ends a cell, that ends a line too, and that only quoted cells hold, or none. */
typedef struct {
    uint64_t cells, lines, others;
} marks;

/* What differs between processors. */
typedef struct {
    marks (*mark)(const char *at);
    uint32_t *(*write)(uint32_t *to, uint64_t bits, size_t base); /* the places of bits; returns the next one's */
} finder;

/* Up to `most` places where cells end, and those of them where lines do; up to a quote or a NUL. What is left behind
 * the last 64 bytes is not looked at. */
static inline __attribute__((always_inline)) size_t find_stops(finder f, uint32_t *stops, size_t most, uint32_t *lines,
                                                               size_t *line_count, const char *text, size_t length) {
    uint32_t *to = stops, *line = lines;
    for (size_t at = 0; at + TOGETHER <= length && to < stops + most && line < lines + ROWS; at += TOGETHER) {
        marks found = f.mark(text + at);
        if (PACE_UNLIKELY(found.others)) break;
        to = f.write(to, found.cells, at);
        line = f.write(line, found.lines, at);
    }
    *line_count = (size_t)(line - lines);
    return (size_t)(to - stops);
}

static inline uint64_t places_of(char byte, const char *at) {
    uint64_t places = 0;
#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi8(byte);
    for (int i = 0; i < TOGETHER; i += 16) {
        __m128i here = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(at + i)), wanted);
        places |= (uint64_t)(unsigned)_mm_movemask_epi8(here) << i;
    }
#else
    for (int i = 0; i < TOGETHER; i++) places |= (uint64_t)(at[i] == byte) << i;
#endif
    return places;
}

static inline marks mark_any(const char *at) {
    uint64_t lines = places_of('\n', at);
    return (marks){places_of(',', at) | lines, lines, places_of('"', at) | places_of('\0', at)};
}

/* So many at a time that how many there are need not be guessed. */
static inline uint32_t *write_any(uint32_t *to, uint64_t bits, size_t base) {
    uint32_t *end = to + __builtin_popcountll(bits);
    for (; to < end; to += AT_ONCE)
        for (size_t k = 0; k < AT_ONCE; k++, bits &= bits - 1)
            to[k] = (uint32_t)(base + (size_t)__builtin_ctzll(bits | UINT64_C(1) << 63));
    return end;
}

PACE_FOR_EACH_CPU
static size_t find_stops_any(uint32_t *stops, size_t most, uint32_t *lines, size_t *line_count, const char *text,
                             size_t length) {
    return find_stops((finder){mark_any, write_any}, stops, most, lines, line_count, text, length);
}

#ifdef PACE_NEWEST_CPU
PACE_NEWEST_CPU
static inline marks mark_newest(const char *at) {
    const __m512i bytes = _mm512_loadu_si512(at);
    uint64_t lines = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'));
    return (marks){_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(',')) | lines, lines,
                   _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')) | _mm512_testn_epi8_mask(bytes, bytes)};
}

PACE_NEWEST_CPU
static inline uint32_t *write_newest(uint32_t *to, uint64_t bits, size_t base) {
    __m512i places = _mm512_add_epi32(_mm512_set1_epi32((int)base),
                                      _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    for (int i = 0; i < TOGETHER; i += 16, bits >>= 16, places = _mm512_add_epi32(places, _mm512_set1_epi32(16))) {
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)bits, places));
        to += __builtin_popcount((unsigned)bits & 0xffff);
    }
    return to;
}

PACE_NEWEST_CPU
static size_t find_stops_newest(uint32_t *stops, size_t most, uint32_t *lines, size_t *line_count, const char *text,
                                size_t length) {
    return find_stops((finder){mark_newest, write_newest}, stops, most, lines, line_count, text, length);
}
#endif

static size_t find_stops_here(uint32_t *stops, size_t most, uint32_t *lines, size_t *line_count, const char *text,
                              size_t length) {
#ifdef PACE_NEWEST_CPU
    if (pace_cpu_is_newest()) return find_stops_newest(stops, most, lines, line_count, text, length);
#endif
    return find_stops_any(stops, most, lines, line_count, text, length);
}

/* The rows that `text` begins with, as long as they have as many cells as the header. */
static void find_rows(group *g, const char *text, const char *end, size_t columns) {
    uint32_t lines[ROWS + TOGETHER + SLACK];
    size_t rows = MOST_STOPS / columns < ROWS ? MOST_STOPS / columns : ROWS, line_count;
    size_t length = (size_t)(end - text) < UINT32_MAX ? (size_t)(end - text) : UINT32_MAX;
    size_t found = find_stops_here(g->stops + 1, rows * columns, lines, &line_count, text, length);
    if (found / columns < rows) rows = found / columns;
    if (line_count < rows) rows = line_count;
    g->stops[0] = UINT32_MAX; /* the one before the first */
    g->text = text;
    g->columns = columns;
    for (g->rows = 0; g->rows < rows && g->stops[(g->rows + 1) * columns] == lines[g->rows];) g->rows++;
}

/* ---- what they hold ---- */

static inline pace_job_text cell(const group *g, size_t row, size_t column) {
    const uint32_t *stop = g->stops + 1 + row * g->columns + column;
    const char *at = g->text + (uint32_t)(stop[-1] + 1), *end = g->text + *stop;
    if (column + 1 == g->columns && end > at && end[-1] == '\r') end--;
    return (pace_job_text){at, (size_t)(end - at)};
}

/* Without blanks around it. */
static inline pace_job_text text_of(const group *g, size_t row, size_t column) {
    pace_job_text text = cell(g, row, column);
    bool blank = text.length > 0 && (text.data[0] <= ' ' || text.data[text.length - 1] <= ' ');
    return PACE_UNLIKELY(blank) ? pace_job_trimmed(text.data, text.data + text.length) : text;
}

/* A number that is written in an unusual way, or none, where that may be. */
static bool read_other(double *out, pace_job_text text, int role) {
    const char *end = text.data + text.length;
    if (text.length > 0 && pace_decimal_read_padded(out, text.data, end) == end) return true;
    text = pace_job_trimmed(text.data, end);
    end = text.data + text.length;
    if (text.length > 0 && pace_decimal_read(out, text.data, end) == end) return true;
    *out = NAN;
    return role >= PACE_JOB_REQUIRED && pace_job_is_nothing(text);
}

static inline bool read_number(double *to, pace_job_text text, int role) {
    return PACE_LIKELY(pace_decimal_cell(to, text.data + text.length, text.length)) || read_other(to, text, role);
}

PACE_FOR_EACH_CPU
static bool read_numbers_any(double *restrict to, const group *g, size_t column, int role, size_t first) {
    bool good = true;
    for (size_t row = first; row < g->rows; row++) good &= read_number(&to[row], cell(g, row, column), role);
    return good;
}

#ifdef PACE_NEWEST_CPU
enum { FOUR = 4 };

/* Four numbers of 1 to 16 digits each as pace_decimal_cell() reads one; false for any others. */
PACE_NEWEST_CPU
static inline bool read_four(double *to, const pace_job_text texts[FOUR]) {
    __m512i bytes = _mm512_setzero_si512(), kept = bytes;
    size_t beyond = 0;
    for (int k = 0; k < FOUR; k++) beyond |= texts[k].length - 1;
    if (beyond > 15) return false;
#define TAKE(k)                                                                                                        \
    bytes =                                                                                                            \
        _mm512_inserti32x4(bytes,                                                                                      \
                           _mm_loadu_si128((const __m128i *)(const void *)(texts[k].data + texts[k].length - 16)), k); \
    kept =                                                                                                             \
        _mm512_inserti32x4(kept,                                                                                       \
                           _mm_loadu_si128((const __m128i *)(const void *)(pace_decimal_kept + texts[k].length)), k)
    TAKE(0);
    TAKE(1);
    TAKE(2);
    TAKE(3);
#undef TAKE
    __m512i digits = _mm512_and_si512(_mm512_xor_si512(bytes, _mm512_set1_epi8('0')), kept);
    if (_mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9))) return false;
    __m512i pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(1 << 8 | 10));
    __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(1 << 16 | 100));
    __m512i eights = _mm512_madd_epi16(_mm512_packus_epi32(fours, fours), _mm512_set1_epi32(1 << 16 | 10000));
    __m512i numbers =
        _mm512_add_epi64(_mm512_mul_epu32(eights, _mm512_set1_epi64(100000000)), _mm512_srli_epi64(eights, 32));
    _mm256_storeu_pd(to, _mm512_castpd512_pd256(_mm512_maskz_compress_pd(0x55, _mm512_cvtepi64_pd(numbers))));
    return true;
}

PACE_NEWEST_CPU
static bool read_numbers_newest(double *restrict to, const group *g, size_t column, int role) {
    bool good = true;
    size_t row = 0;
    for (; row + FOUR <= g->rows; row += FOUR) {
        pace_job_text texts[FOUR];
        for (size_t k = 0; k < FOUR; k++) texts[k] = cell(g, row + k, column);
        if (read_four(to + row, texts)) continue;
        for (size_t k = 0; k < FOUR; k++) good &= read_number(&to[row + k], texts[k], role);
    }
    return read_numbers_any(to, g, column, role, row) && good;
}
#endif

static bool read_numbers(double *restrict to, const group *g, size_t column, int role) {
#ifdef PACE_NEWEST_CPU
    if (pace_cpu_is_newest()) return read_numbers_newest(to, g, column, role);
#endif
    return read_numbers_any(to, g, column, role, 0);
}

/* Multiplies by the column's factor and finds the greatest; false where a number is not what nearly every one is. Sums
 * with 2^52 are whole; larger numbers are asked once more, one by one. Bits of numbers above 0 ascend with them. */
PACE_FOR_EACH_CPU
static bool check_numbers(double *restrict values, double *restrict greatest, size_t count, double factor,
                          const pace_job_limits *limits, int c) {
    double least = limits->least[c], most = limits->most[c], hinted = limits->hinted[c], whole = limits->whole[c];
    uint64_t bad = 0;
    int64_t found, bits;
    memcpy(&found, greatest, sizeof found);
    for (size_t i = 0; i < count; i++) {
        double value = values[i] * factor, broken = whole * (value - ((value + 0x1p52) - 0x1p52));
        bad |= (uint64_t)(value < least) | (uint64_t)(value > most) |
               ((uint64_t)(value > 0) & (uint64_t)(value < hinted)) | (uint64_t)(broken < 0) | (uint64_t)(broken > 0);
        values[i] = value;
        value = value > 0 ? value : 0; /* of NaN, too */
        memcpy(&bits, &value, sizeof bits);
        found = bits > found ? bits : found;
    }
    memcpy(greatest, &found, sizeof found);
    return bad == 0;
}

/* The first eight bytes of a text, and zeros where it has fewer. Eight bytes may be read. */
static inline uint64_t head_of(const char *text, size_t length) {
    uint64_t head;
    memcpy(&head, text, sizeof head);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return length < sizeof head ? head & ((UINT64_C(1) << 8 * length) - 1) : head;
#else
    return length < sizeof head ? head >> (64 - 8 * length) << (64 - 8 * length) : head;
#endif
}

/* The names as they are usually written. */
typedef struct {
    uint64_t head[PACE_JOB_ARCHITECTURES];
    size_t length[PACE_JOB_ARCHITECTURES];
} usual_names;

static usual_names find_usual_names(void) {
    usual_names usual;
    for (int i = 0; i < PACE_JOB_ARCHITECTURES; i++) {
        char name[32] = {0};
        usual.length[i] = strlen(pace_job_architecture_names[i]);
        memcpy(name, pace_job_architecture_names[i], usual.length[i]);
        usual.head[i] = head_of(name, usual.length[i]);
    }
    return usual;
}

/* Without a branch for each: rows name them in any order. */
static inline bool find_architecture(pace_job_architecture *out, const usual_names *usual, pace_job_text name) {
    uint64_t head = head_of(name.data, name.length);
    unsigned found = PACE_JOB_ARCHITECTURES;
    for (unsigned i = 0; i < PACE_JOB_ARCHITECTURES; i++)
        found = (head == usual->head[i]) & (name.length == usual->length[i]) ? i : found;
    *out = (pace_job_architecture)found;
    size_t same = sizeof head;
    while (found < PACE_JOB_ARCHITECTURES && same < name.length &&
           name.data[same] == pace_job_architecture_names[found][same])
        same++;
    if (found < PACE_JOB_ARCHITECTURES && same >= name.length) return true;
    return pace_job_find_architecture(out, name);
}

static bool read_architectures(uint8_t *to, const group *g, size_t column, const double *cnodes) {
    usual_names usual = find_usual_names();
    bool good = true;
    for (size_t row = 0; row < g->rows; row++) {
        pace_job_architecture found = PACE_JOB_1W1G;
        good &= find_architecture(&found, &usual, text_of(g, row, column));
        good &= (found != PACE_JOB_1W1G) | (cnodes[row] == 1);
        to[row] = (uint8_t)found;
    }
    return good;
}

/* Copies texts behind those there are, for which there is room, sixteen bytes at a time. */
static bool copy_texts(pace_jobs *jobs, size_t *offsets, const group *g, size_t column) {
    bool good = true;
    char *to = jobs->text.items + jobs->text.count;
    for (size_t row = 0; row < g->rows; row++) {
        pace_job_text text = text_of(g, row, column);
        good &= text.length > 0;
        offsets[row] = (size_t)(to - jobs->text.items);
        for (size_t at = 0; at < text.length; at += SLACK) memcpy(to + at, text.data + at, SLACK);
        to += text.length;
        *to++ = '\0';
    }
    jobs->text.count = (size_t)(to - jobs->text.items);
    return good;
}

/* ---- rows ---- */

static pace_status make_room(pace_job_block *block, const group *g) {
    pace_jobs *jobs = &block->jobs;
    size_t bytes = g->stops[g->rows * g->columns] + 2 * g->rows + SLACK;
    PACE_TRY(pace_jobs_reserve(jobs, g->rows));
    PACE_TRY(pace_grow(&block->id_keys.items, &block->id_keys.capacity, jobs->count + g->rows,
                       sizeof *block->id_keys.items));
    return pace_grow(&jobs->text.items, &jobs->text.capacity, jobs->text.count + bytes, 1);
}

PACE_FOR_EACH_CPU
static void fill(double *to, double value, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = value;
}

static bool read_columns(pace_job_block *block, double *greatest, const pace_job_layout *layout,
                         const pace_job_limits *limits, const group *g) {
    pace_jobs *jobs = &block->jobs;
    size_t first = jobs->count;
    for (int c = 0; c < PACE_JOB_COLUMNS; c++) {
        double *to = jobs->values[c] + first;
        int place = layout->place[c];
        if (place < 0 && jobs->holds[c]) fill(to, NAN, g->rows);
        jobs->holds[c] |= place >= 0;
        if (place < 0) continue;
        if (!read_numbers(to, g, (size_t)place, c) ||
            !check_numbers(to, &greatest[c], g->rows, layout->factor[place], limits, c))
            return false;
    }
    if (!read_architectures(jobs->architectures + first, g, (size_t)layout->place[PACE_JOB_ARCHITECTURE],
                            jobs->values[PACE_JOB_CNODES] + first))
        return false;
    int user = layout->place[PACE_JOB_USER];
    for (size_t row = 0; row < g->rows; row++) {
        jobs->lines[first + row] = block->lines + row;
        jobs->users[first + row] = SIZE_MAX;
    }
    if (user >= 0) (void)copy_texts(jobs, jobs->users + first, g, (size_t)user);
    return copy_texts(jobs, jobs->ids + first, g, (size_t)layout->place[PACE_JOB_ID]);
}

static void keep(pace_job_block *block, const double *greatest, size_t rows) {
    pace_jobs *jobs = &block->jobs;
    memcpy(block->greatest, greatest, sizeof block->greatest);
    pace_job_id_keys(block->id_keys.items + jobs->count, jobs->text.items, jobs->ids + jobs->count, rows,
                     jobs->text.count);
    jobs->count += rows;
    block->id_keys.count = jobs->count;
    block->lines += rows;
}

pace_status pace_job_block_add_plain(size_t *rows, const char **text, pace_job_block *block,
                                     const pace_job_layout *layout, const pace_job_limits *limits, const char *end) {
    group g;
    double greatest[PACE_JOB_COLUMNS];
    find_rows(&g, *text, end, layout->count);
    *rows = g.rows;
    if (g.rows == 0) return PACE_OK;
    PACE_TRY(make_room(block, &g));
    memcpy(greatest, block->greatest, sizeof greatest);
    size_t texts = block->jobs.text.count;
    if (!read_columns(block, greatest, layout, limits, &g)) {
        block->jobs.text.count = texts;
        return PACE_OK;
    }
    keep(block, greatest, g.rows);
    *text += g.stops[g.rows * g.columns] + 1;
    return PACE_OK;
}
