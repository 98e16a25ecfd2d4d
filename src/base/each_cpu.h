/* Loops compiled once for each generation of processors; the program picks at its start what it runs on. For static
 * functions: of others gcc would export the clones. */
#pragma once

/* Sanitizers cannot follow clones: their builds define PACE_NO_CLONES. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(PACE_NO_CLONES)
#define PACE_FOR_EACH_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PACE_FOR_EACH_CPU
#endif

/* For what no loop says to the compiler: a function in the newest generation's instructions, to be called where
 * pace_cpu_is_newest() alone. Without PACE_NEWEST_CPU there is none. Sanitizers follow it. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PACE_NEWEST_CPU __attribute__((target("arch=x86-64-v4")))
static inline int pace_cpu_is_newest(void) { return __builtin_cpu_supports("x86-64-v4"); }
#endif
