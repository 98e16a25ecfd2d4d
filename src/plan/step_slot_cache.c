/* Slots that were priced before. Open addressing; when half is full all is forgotten, so that memory stays bounded. */
#include "plan/step_slots.h"

#include "model/pipeline_turns.h"

#include <string.h>

enum { SLOTS = 4096 };

/* What prices depend on: of a configuration all but the replicas and the stages. */
typedef struct {
    const pace_model *model;
    const pace_exchange *exchange;
    const pace_device *device;
    const pace_step_host *host;
    double numbers[17];
    int words[31];
} slot_key;

/* Slots and what they share with others, of which a batch and what runs again are no part. */
typedef struct {
    slot_key key;
    pace_step_slots *slots; /* NULL = none */
} alike_slots;

enum { ALIKE = 256 };

struct pace_slot_cache {
    slot_key keys[SLOTS];
    pace_step_slots *values[SLOTS]; /* NULL = free */
    unsigned count;
    struct {
        pace_step_slots *slots; /* NULL = none */
        slot_key key;
    } last[2]; /* of the question before: of parts, of all */
    alike_slots alike[2][ALIKE];
    unsigned next[2];
};

pace_status pace_slot_cache_create(pace_slot_cache **out) {
    pace_slot_cache *cache = pace_alloc(1, sizeof *cache);
    if (!cache) return PACE_E_MEMORY;
    *out = cache;
    return PACE_OK;
}

static void forget(pace_slot_cache *cache) {
    for (unsigned i = 0; i < SLOTS; i++) {
        pace_free(cache->values[i]);
        cache->values[i] = NULL;
    }
    cache->count = 0;
    cache->last[0].slots = cache->last[1].slots = NULL;
    memset(cache->alike, 0, sizeof cache->alike);
}

void pace_slot_cache_free(pace_slot_cache *cache) {
    if (!cache) return;
    forget(cache);
    pace_free(cache);
}

/* Which groups exchange gradients, as lowering asks, and whether micro-batches before the last leave some. */
static double who_shares(const pace_config *config) {
    bool experts = pace_config_group_size(config, PACE_GROUP_EXPERT_DATA) > 1, copies = pace_config_copies(config) > 1;
    bool again = pace_config_micro_batches(config) > 1,
         parts = pace_config_group_size(config, PACE_GROUP_EXPERT_SHARD) > 1;
    return pace_config_shares_gradients(config) + 2 * again + 4 * experts + 8 * copies + 16 * parts;
}

/* `rests`: of all; else of parts, which are the same whatever replicas share. */
static slot_key key_of(const pace_model *model, const pace_config *config, const pace_step_place *place, bool rests) {
    enum { OF_PARTS = -1 };
    slot_key key;
    memset(&key, 0, sizeof key); /* padding too: keys are compared and hashed as bytes */
    key.model = model;
    key.exchange = place->exchange;
    key.device = place->device;
    key.host = place->host;
    double numbers[] = {config->micro_batch,
                        config->sequence,
                        config->sample_tokens,
                        config->tp,
                        config->cp,
                        config->ep,
                        config->frozen,
                        config->sequence_parallel,
                        rests ? who_shares(config) : OF_PARTS,
                        rests ? config->zero_stage : OF_PARTS,
                        config->pp > 1 && pace_schedule_splits(config->schedule),
                        config->execution != PACE_EAGER && config->zero_stage >= 3,
                        config->keep_gradients,
                        config->imbalance,
                        config->expert_nodes,
                        config->bucket_bytes,
                        config->lora};
    int words[] = {
        config->mode,          config->precision,        config->execution,        config->attention,
        config->input,         config->recompute,        config->optimizer,        config->update,
        config->indices,       config->selects_products, config->keeps_fp8,        config->routes_inside,
        config->offload,       config->allow_tf32,       config->lora_layers,      config->read_loss,
        config->pair_indices,  config->tokens_once,      config->layout,           config->sums_in_convolutions,
        config->graphs,        config->fuses_norms,      config->quantized,        pace_config_parts_loss(config),
        config->sums_beside,   config->wide_adapters,    config->wide_softmax,     config->weights,
        config->whole_experts, config->pixels_as_laid,   config->recompute_modules};
    _Static_assert(sizeof numbers == sizeof key.numbers && sizeof words == sizeof key.words, "all have their places");
    memcpy(key.numbers, numbers, sizeof numbers);
    memcpy(key.words, words, sizeof words);
    return key;
}

static pace_status add(pace_step_slots **out, pace_slot_cache *cache, const slot_key *key,
                       const pace_step_slots *slots) {
    if (cache->count >= SLOTS / 2) forget(cache);
    unsigned at = (unsigned)(pace_hash(key, sizeof *key) % SLOTS);
    while (cache->values[at]) at = (at + 1) % SLOTS;
    cache->values[at] = pace_alloc(1, sizeof *slots);
    if (!cache->values[at]) return PACE_E_MEMORY;
    *cache->values[at] = *slots;
    cache->keys[at] = *key;
    cache->count++;
    *out = cache->values[at];
    return PACE_OK;
}

static pace_step_slots *find(pace_slot_cache *cache, const slot_key *key, bool rests) {
    pace_step_slots *found = cache->last[rests].slots;
    if (found && memcmp(&cache->last[rests].key, key, sizeof *key) == 0) return found;
    for (unsigned at = (unsigned)(pace_hash(key, sizeof *key) % SLOTS); cache->values[at]; at = (at + 1) % SLOTS)
        if (memcmp(&cache->keys[at], key, sizeof *key) == 0) return cache->values[at];
    return NULL;
}

/* The key without batch, sequence and recomputation; whether micro-batches follow each other stays. */
static slot_key alike_key(const pace_model *model, const pace_config *config, const pace_step_place *place,
                          bool rests) {
    pace_config plain = *config;
    plain.global_batch /= plain.micro_batch;
    plain.micro_batch = plain.sequence = 1;
    plain.sample_tokens = 0;
    plain.recompute = PACE_RECOMPUTE_NONE;
    plain.recompute_modules = 0;
    return key_of(model, &plain, place, rests);
}

static const pace_step_slots *find_alike(const pace_slot_cache *cache, const slot_key *key, bool rests) {
    for (unsigned i = 0; i < ALIKE && cache->alike[rests][i].slots; i++)
        if (memcmp(&cache->alike[rests][i].key, key, sizeof *key) == 0) return cache->alike[rests][i].slots;
    return NULL;
}

static void keep_alike(pace_slot_cache *cache, const slot_key *key, pace_step_slots *slots, bool rests) {
    if (find_alike(cache, key, rests)) return;
    cache->alike[rests][cache->next[rests]++ % ALIKE] = (alike_slots){*key, slots};
}

static pace_status get_parts(pace_step_slots **out, pace_slot_cache *cache, const pace_model *model,
                             const pace_config *config, const pace_step_place *place) {
    slot_key key = key_of(model, config, place, false);
    pace_step_slots slots, *found = find(cache, &key, false);
    if (!found) {
        PACE_TRY(pace_step_slots_size(&slots, model, config));
        PACE_TRY(add(&found, cache, &key, &slots));
    }
    cache->last[false].slots = *out = found;
    cache->last[false].key = key;
    return PACE_OK;
}

pace_status pace_step_slots_sized(const pace_step_slots **out, pace_slot_cache *cache, const pace_model *model,
                                  const pace_config *config, const pace_step_place *place) {
    pace_step_slots *slots;
    PACE_TRY(get_parts(&slots, cache, model, config, place));
    *out = slots;
    return PACE_OK;
}

pace_status pace_step_slots_passes(const pace_step_slots **out, pace_slot_cache *cache, const pace_model *model,
                                   const pace_config *config, const pace_step_place *place) {
    pace_step_slots *slots;
    PACE_TRY(get_parts(&slots, cache, model, config, place));
    PACE_TRY(pace_step_slots_price_parts(slots, model, config, place));
    *out = slots;
    return PACE_OK;
}

pace_status pace_step_slots_get(const pace_step_slots **out, pace_slot_cache *cache, const pace_model *model,
                                const pace_config *config, const pace_step_place *place) {
    slot_key key = key_of(model, config, place, true);
    pace_step_slots *parts, *found = find(cache, &key, true);
    if (!found) {
        const slot_key alike[2] = {alike_key(model, config, place, false), alike_key(model, config, place, true)};
        PACE_TRY(get_parts(&parts, cache, model, config, place));
        PACE_TRY(pace_step_slots_price_rests(parts, model, config, place, find_alike(cache, &alike[0], false)));
        keep_alike(cache, &alike[0], parts, false);
        pace_step_slots slots = *parts;
        PACE_TRY(pace_step_slots_price(&slots, model, config, place, find_alike(cache, &alike[1], true)));
        PACE_TRY(add(&found, cache, &key, &slots));
        keep_alike(cache, &alike[1], found, true);
    }
    cache->last[true].slots = found;
    cache->last[true].key = key;
    *out = found;
    return PACE_OK;
}
