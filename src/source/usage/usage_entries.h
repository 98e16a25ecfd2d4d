/*
 * Resources as JSON has them, an array of objects such as {"type": "gres", "name": "gpu:a100", "count": 8}, written as
 * the list that tables have: "gres/gpu:a100=8".
 */
#pragma once

#include "base/json_reader.h"
#include "base/texts.h"
#include "base/yaml.h"

enum { PACE_ENTRY_MEMBERS = 4 };

/** Reads the array whose opening bracket is the last token. Of `members` the last is the count, the others make up its
 * key. Leaves out entries without a count, and keys that a list cannot hold. Returns ARRAY_END, ERROR or TRUNCATED;
 * `*status` says where memory lacks. */
pace_json_token pace_usage_entries_read(pace_text *out, pace_status *status, pace_json *json,
                                        const pace_yaml_node *members);
