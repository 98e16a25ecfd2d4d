#include "base/turns.h"

void pace_turns_init(pace_turns *turns) {
    turns->next = 0;
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->passed, NULL);
}

void pace_turns_free(pace_turns *turns) {
    pthread_mutex_destroy(&turns->lock);
    pthread_cond_destroy(&turns->passed);
}

void pace_turns_wait(pace_turns *turns, size_t number) {
    pthread_mutex_lock(&turns->lock);
    while (turns->next != number) pthread_cond_wait(&turns->passed, &turns->lock);
    pthread_mutex_unlock(&turns->lock);
}

void pace_turns_pass(pace_turns *turns) {
    pthread_mutex_lock(&turns->lock);
    turns->next++;
    pthread_cond_broadcast(&turns->passed);
    pthread_mutex_unlock(&turns->lock);
}
