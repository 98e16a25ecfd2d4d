/*
 * Runs the tests of one file of a room, named like the file without "test_": build/release/tests/unit_base sort.
 * PACE_PARTS lists the files as PART(name), and main_of_NAME is what each calls main (tests/CMakeLists.txt).
 */
#include <stdio.h>
#include <string.h>

#define PART(name) int main_of_##name(void);
PACE_PARTS
#undef PART

int main(int argc, char **argv) {
#define PART(name) \
    if (argc == 2 && strcmp(argv[1], #name) == 0) return main_of_##name();
    PACE_PARTS
#undef PART
#define PART(name) " " #name
    fprintf(stderr, "expected one of" PACE_PARTS "\n");
    return 2;
}
