/* What is done in order by threads that do the rest side by side: number i waits until all before it have passed. */
#pragma once

#include <pthread.h>
#include <stddef.h>

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t passed;
    size_t next;
} pace_turns;

void pace_turns_init(pace_turns *turns);
void pace_turns_free(pace_turns *turns);

/** Until it is this number's turn. Those before it must be under way on other threads, or have passed. */
void pace_turns_wait(pace_turns *turns, size_t number);

/** It is the next one's turn. */
void pace_turns_pass(pace_turns *turns);
