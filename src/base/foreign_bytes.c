#include "base/foreign_bytes.h"
#include "base/memory.h"
#include "base/text.h"

#include <string.h>

/* Such as torch.cuda.memory._dump_snapshot() writes. */
#define PICKLE                                                                            \
    "a pickle of Python (a memory snapshot of PyTorch is one)",                           \
        "reading one may run code hidden in it, so it is never read: record memory with " \
        "torch.profiler.profile(profile_memory=True), or look at a snapshot of your own at pytorch.org/memory_viz"

#define UTF_16 "text in UTF-16", "write it as UTF-8 (iconv -f UTF-16 -t UTF-8)"
#define UTF_32 "text in UTF-32", "write it as UTF-8 (iconv -f UTF-32 -t UTF-8)"
#define AS_CSV "write it as CSV, in Python with pandas' to_csv()"
#define WEIGHTS "weights have no times: record a step with torch.profiler, or name the model"
#define NO_DATA "expected the data that it shows"

/* Longer beginnings stand before shorter ones. */
static const struct {
    unsigned char length;
    const char *bytes, *what, *todo;
} beginnings[] = {
    {4, "\xff\xfe\0\0", UTF_32},
    {4, "\0\0\xfe\xff", UTF_32},
    {2, "\xff\xfe", UTF_16},
    {2, "\xfe\xff", UTF_16},
    {2, "{\0", UTF_16},
    {2, "[\0", UTF_16},
    {5,
     "\xfd"
     "7zXZ",
     "compressed by xz", "decompress it: xz -d"},
    {3, "BZh", "compressed by bzip2", "decompress it: bzip2 -d"},
    {4, "\x04\x22\x4d\x18", "compressed by lz4", "decompress it: lz4 -d"},
    {2, "\x1f\x9d", "compressed by compress", "decompress it: uncompress"},
    {4, "7z\xbc\xaf", "a 7z archive", "unpack it: 7z x"},
    {4, "Rar!", "a rar archive", "unpack it: unrar x"},
    {4, "PK\x03\x04", "a zip archive", "unpack it: unzip"},
    {4, "PK\x05\x06", "a zip archive that holds nothing", "pack it again"},
    {4, "PAR1", "a table in Parquet", AS_CSV},
    {6, "<table", "a table in HTML", AS_CSV},
    {6, "ARROW1", "a table in Arrow's format", AS_CSV},
    {4, "FEA1", "a table in Feather's format", AS_CSV},
    {4, "Obj\x01", "a table in Avro's format", AS_CSV},
    {4, "\x89HDF", "a file in HDF5", AS_CSV},
    {6, "\x93NUMPY", "an array of NumPy", AS_CSV},
    {4, "GGUF", "a file of weights (GGUF)", WEIGHTS},
    {5, "%PDF-", "a document in PDF", NO_DATA},
    {4, "\x89PNG", "a picture", NO_DATA},
    {3, "\xff\xd8\xff", "a picture", NO_DATA},
    {4, "GIF8", "a picture", NO_DATA},
    {4,
     "\x7f"
     "ELF",
     "a program", "run it under torch.profiler or Nsight Systems, and give what they record"},
    {7, "PERFILE", "a profile of Linux perf",
     "record the step with torch.profiler, or the program with Nsight Systems"},
    {15, "/annex/objects/", "a pointer of git-annex, whose file is not here", "fetch it: git annex get"},
};

static bool has_bytes(const unsigned char *bytes, size_t length, size_t at, const char *wanted, size_t count) {
    return length >= at + count && memcmp(bytes + at, wanted, count) == 0;
}

/* From protocol 2 on; a Chakra trace may begin with the first two, the length of a message whose fields have low
 * tags. */
static bool is_pickle(const unsigned char *bytes, size_t length) {
    return length > 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5 && bytes[2] >= 0x20;
}

/* A length of less than 4 GiB in eight bytes, and the object that long. */
static bool is_safetensors(const unsigned char *bytes, size_t length) {
    return has_bytes(bytes, length, 4, "\0\0\0\0{\"", 6);
}

/* A zip archive whose first file has that name. */
static bool is_of_office(const unsigned char *bytes, size_t length) {
    return has_bytes(bytes, length, 0, "PK\x03\x04", 4) && has_bytes(bytes, length, 30, "[Content_Types].xml", 19);
}

/* Records begin with their length in eight bytes; the first says its version. */
static bool is_log_of_events(const unsigned char *bytes, size_t length) {
    enum { FIRST = 64 };
    return has_bytes(bytes, length, 4, "\0\0\0\0", 4) &&
           pace_span_holds((const char *)bytes, length < FIRST ? length : FIRST, "brain.Event:2");
}

/* Its first file's name fills a hundred bytes, with zeros behind it. */
static bool is_tar(const unsigned char *bytes, size_t length) {
    enum { NAME = 100, MAGIC = 257 };
    return has_bytes(bytes, length, MAGIC, "ustar", 5) && memchr(bytes, 0, NAME);
}

static bool is_page(const unsigned char *bytes, size_t length) {
    static const char *const begin[] = {"<!doctype html", "<html"};
    size_t at = 0;
    while (at < length && pace_is_space((char)bytes[at])) at++;
    for (size_t i = 0; i < PACE_COUNT(begin); i++) {
        size_t k = 0;
        while (begin[i][k] && at + k < length && pace_lower((char)bytes[at + k]) == begin[i][k]) k++;
        if (!begin[i][k]) return true;
    }
    return false;
}

static const char *said_of(const char **todo, const unsigned char *bytes, size_t length, bool unpacked) {
    enum { HEAD = 128 };
    const size_t head = length < HEAD ? length : HEAD;
    const struct {
        bool is;
        const char *what, *todo;
    } known[] = {
        {is_pickle(bytes, length), PICKLE},
        {is_safetensors(bytes, length), "a file of weights (safetensors)", WEIGHTS},
        {is_page(bytes, length), "a page in HTML",
         "expected the file itself, which a page for downloads or logins may stand for"},
        {has_bytes(bytes, length, 0, "version https://git-lfs", 23), "a pointer of Git LFS, whose file is not here",
         "fetch it: git lfs pull"},
        {is_of_office(bytes, length), "a workbook or document of an office program", "save its table as CSV"},
        {is_tar(bytes, length), "a tar archive", "unpack it: tar -xf"},
        {unpacked && has_bytes(bytes, length, 0, "SQLite format 3", 15), "a compressed database",
         "decompress it first"},
        {unpacked && (has_bytes(bytes, length, 0, "\x1f\x8b", 2) || has_bytes(bytes, length, 0, "\x28\xb5\x2f\xfd", 4)),
         "compressed twice", "decompress it once"},
        {is_log_of_events(bytes, length), "a log of TensorBoard", "record the step with torch.profiler"},
        {has_bytes(bytes, length, 0, "PK\x03\x04", 4) && pace_span_holds((const char *)bytes, head, "/data.pkl"),
         "a checkpoint of PyTorch", WEIGHTS},
        {has_bytes(bytes, length, 0, "PK\x03\x04", 4) && pace_span_holds((const char *)bytes, head, ".npy"),
         "an archive of NumPy", AS_CSV},
    };
    for (size_t i = 0; i < PACE_COUNT(known); i++)
        if (known[i].is) return *todo = known[i].todo, known[i].what;
    for (size_t i = 0; i < PACE_COUNT(beginnings); i++)
        if (has_bytes(bytes, length, 0, beginnings[i].bytes, beginnings[i].length))
            return *todo = beginnings[i].todo, beginnings[i].what;
    return NULL;
}

pace_status pace_foreign_bytes_refuse(const char *name, const unsigned char *bytes, size_t length, bool unpacked) {
    const char *todo, *what = said_of(&todo, bytes, length, unpacked);
    return what ? pace_fail(PACE_E_INPUT, "%s: is %s: %s", name, what, todo) : PACE_OK;
}
