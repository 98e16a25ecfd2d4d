/*
 * CMocka with the headers that it wants before it, and tests that list themselves, in the order of their file:
 *
 *     TEST(zero_is_even) { assert_true(is_even(0)); }
 *
 *     int main(void) { return run_tests_of_file(NULL, NULL); }
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct CMUnitTest tests_of_file[64];
static size_t test_count;

/* A test between its own setup and teardown, functions of `state`; either may be NULL. */
#define TEST_WITH(name, setup, teardown)                                                       \
    static void name(void **state);                                                            \
    __attribute__((constructor)) static void list_##name(void) {                               \
        if (test_count == sizeof tests_of_file / sizeof *tests_of_file) abort();               \
        tests_of_file[test_count++] = (struct CMUnitTest){#name, name, setup, teardown, NULL}; \
    }                                                                                          \
    static void name(void **state __attribute__((unused)))
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Runs the tests of the file between the setup and the teardown of all; what main() returns. */
static inline int run_tests_of_file(CMFixtureFunction setup, CMFixtureFunction teardown) {
    return _cmocka_run_group_tests("tests", tests_of_file, test_count, setup, teardown);
}
