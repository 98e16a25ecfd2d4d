/* Files dealt to processes: every row to exactly one of them, in order, wherever the cuts fall. */
#include "source/jobs/job_stretches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

enum { MOST = 4000 };

static uint64_t word = 11;

static uint64_t next_word(void) {
    word ^= word << 13;
    word ^= word >> 7;
    return word ^= word << 17;
}

typedef struct {
    char path[64], text[MOST];
    size_t length;
    bool plain;
} made_file;

static void make(made_file *file, int kind) {
    snprintf(file->path, sizeof file->path, "/tmp/paceline-stretch-XXXXXX");
    int descriptor = mkstemp(file->path);
    assert_true(descriptor >= 0);
    file->length = kind == 0 ? 0 : next_word() % (kind == 1 ? 5 : MOST);
    for (size_t i = 0; i < file->length; i++) file->text[i] = "abc,\n\n"[next_word() % (next_word() % 8 ? 4 : 6)];
    file->plain = kind != 3;
    if (!file->plain && file->length < 2) file->length = 2;
    if (!file->plain) memcpy(file->text, "\x1f\x8b", 2);
    assert_int_equal(write(descriptor, file->text, file->length), (ssize_t)file->length);
    close(descriptor);
}

/* The stretches of all processes, in order, are all bytes of all files, once; cuts are behind line ends. */
static void check(const made_file *files, const char *const *paths, size_t count, size_t processes) {
    size_t file = 0;
    uint64_t at = 0, lines = 0, found;
    for (size_t rank = 0; rank < processes; rank++) {
        pace_job_stretches mine = {0};
        assert_int_equal(pace_job_stretches_of(&mine, paths, count, rank, processes), PACE_OK);
        for (size_t i = 0; i < mine.count; i++) {
            const pace_job_stretch *s = &mine.items[i];
            if (s->begin == 0 && (at > 0 || file < s->file || rank + i > 0)) {
                if (!(s->file == 0 && at == 0)) {
                    assert_int_equal(at, files[file].length);
                    file++;
                }
                at = 0;
            }
            assert_int_equal(s->file, file);
            assert_int_equal(s->begin, at);
            assert_int_equal(s->size, files[file].length);
            assert_true(s->whole == (s->begin == 0 && s->end == s->size) || !files[file].plain);
            if (s->begin > 0) assert_true(files[file].text[s->begin - 1] == '\n');
            if (!files[file].plain) assert_true(s->whole && s->end == s->size);
            lines = 0;
            for (uint64_t k = s->begin; k < s->end; k++) lines += files[file].text[k] == '\n';
            assert_int_equal(pace_job_stretch_lines(&found, s, paths[file]), PACE_OK);
            assert_int_equal(found, lines);
            at = s->end;
        }
        PACE_VEC_FREE(&mine);
    }
    assert_int_equal(file, count - 1);
    assert_int_equal(at, files[file].length);
}

TEST(test_every_row_once) {
    static made_file files[5];
    const char *paths[5];
    for (int round = 0; round < 60; round++) {
        size_t count = 1 + next_word() % 5;
        for (size_t i = 0; i < count; i++) {
            make(&files[i], (int)(next_word() % 6));
            paths[i] = files[i].path;
        }
        for (size_t processes = 1; processes <= 9; processes++) check(files, paths, count, processes);
        for (size_t i = 0; i < count; i++) unlink(paths[i]);
    }
    assert_int_equal(pace_memory_live(), 0);
}

/* What comes once is read by one process; what is not there is somebody's to complain of. */
TEST(test_streams) {
    const char *const streams[] = {"/nonexistent/a", "-"}, *const absent[] = {"/nonexistent/a"};
    for (size_t rank = 0; rank < 3; rank++) {
        pace_job_stretches mine = {0};
        assert_int_equal(pace_job_stretches_of(&mine, streams, 2, rank, 3), PACE_OK);
        assert_int_equal(mine.count, rank == 0 ? 2 : 0);
        PACE_VEC_FREE(&mine);
        assert_int_equal(pace_job_stretches_of(&mine, absent, 1, rank, 3), PACE_OK);
        assert_int_equal(mine.count, rank == 2 ? 1 : 0);
        PACE_VEC_FREE(&mine);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
