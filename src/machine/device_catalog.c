/* Loading catalog/devices.yaml, and files of the same form. */
#include "machine/device_entry.h"
#include "base/text.h"

static pace_status refuse_twin(const pace_device_catalog *catalog, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (pace_strcasecmp(catalog->devices[i].name, catalog->devices[index].name) == 0)
            return pace_yaml_fail(catalog->yaml, catalog->nodes[index], "a second device named \"%s\"",
                                  catalog->devices[index].name);
    return PACE_OK;
}

static pace_status read_devices(pace_device_catalog *catalog) {
    const pace_yaml_node *root = pace_yaml_root(catalog->yaml), *list = pace_yaml_get(root, "devices");
    if (!pace_yaml_is_list(list)) return pace_yaml_fail(catalog->yaml, root, "expected a list \"devices\"");
    size_t count = pace_yaml_count(list);
    if (!PACE_MAKE(catalog->devices, count) || !PACE_MAKE(catalog->nodes, count)) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        catalog->nodes[i] = pace_yaml_item(list, i);
        PACE_TRY(pace_device_entry_read(&catalog->devices[i], catalog->yaml, catalog->nodes[i],
                                        pace_yaml_get(root, "sources")));
        PACE_TRY(refuse_twin(catalog, i));
        catalog->count++;
    }
    return PACE_OK;
}

static pace_status take(pace_device_catalog *out, pace_device_catalog devices) {
    pace_status status = read_devices(&devices);
    return PACE_GIVE(out, devices, status, pace_device_catalog_free(&devices));
}

static void free_kept(void *value) { pace_device_catalog_free(value); }

static pace_status make_kept(void *value, pace_catalog *catalog) {
    pace_device_catalog *devices = value;
    devices->documents = catalog;
    PACE_TRY(pace_catalog_document(&devices->yaml, catalog, "devices.yaml"));
    return read_devices(devices);
}

/* Each has its own extras, and borrows the devices, which are read once. */
pace_status pace_device_catalog_load(pace_device_catalog *out, pace_catalog *catalog) {
    static const char *const files[] = {"devices.yaml", NULL};
    static const pace_catalog_kind kind = {sizeof *out, make_kept, free_kept, files};
    PACE_TRY(pace_catalog_copy(out, catalog, &kind));
    out->borrows = true;
    return PACE_OK;
}

pace_status pace_device_catalog_load_file(pace_device_catalog *out, const char *path) {
    pace_yaml *yaml;
    PACE_TRY(pace_yaml_load(&yaml, path));
    return take(out, (pace_device_catalog){.yaml = yaml, .own = yaml});
}

void pace_device_catalog_free(pace_device_catalog *catalog) {
    for (size_t i = 0; i < catalog->extras.count; i++) {
        pace_device_catalog_free(&catalog->extras.items[i]->file); /* a file has no extras: one level */
        pace_free(catalog->extras.items[i]);
    }
    PACE_VEC_FREE(&catalog->extras);
    pace_yaml_free(catalog->own);
    if (!catalog->borrows) pace_free(catalog->devices);
    if (!catalog->borrows) pace_free(catalog->nodes);
    *catalog = (pace_device_catalog){0};
}
