"""Nsight Systems exports made of events in Kineto's form, with the tables and columns that NVIDIA documents ("SQLite Export Schema
Reference", 2021.5) and those of 2026.1.
"""
import json
import os
import sqlite3
from decimal import Decimal

OFFSET = 7_123_456_789  # an export counts from the start of its session
WALL_NS = 1_712_345_678_000_000_000
COMMON = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "ThreadNames": "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER",
    "PROCESSES": "globalPid INTEGER, pid INTEGER, name TEXT",
    "META_DATA_EXPORT": "name TEXT NOT NULL, value TEXT",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT",
}
SCHEMAS = {
    "2021": {
        **COMMON,
        "TARGET_INFO_GPU": "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER,"
                           " l2CacheSize INTEGER, totalMemory INTEGER, smCount INTEGER, uuid TEXT, cuDevice INTEGER",
        "CUPTI_ACTIVITY_KIND_RUNTIME": "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,"
                                       " globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,"
                                       " returnValue INTEGER NOT NULL, callchainId INTEGER",
        "CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
                                      " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,"
                                      " globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL,"
                                      " gridX INTEGER",
        "CUPTI_ACTIVITY_KIND_MEMCPY": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId"
                                      " INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid"
                                      " INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId"
                                      " INTEGER, srcKind INTEGER, dstKind INTEGER, virtualAddress INTEGER",
        "CUPTI_ACTIVITY_KIND_MEMSET": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId"
                                      " INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid"
                                      " INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER",
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
                                               " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId"
                                               " INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL, eventId INTEGER"
                                               " NOT NULL",
        "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
                                          " correlationId INTEGER, globalPid INTEGER, eventId INTEGER NOT NULL",
        "NVTX_EVENTS": "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,"
                       " color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId"
                       " INTEGER, uint64Value INTEGER, doubleValue REAL",
    },
    "2026": {
        **COMMON,
        "TARGET_INFO_GPU": "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, totalMemory INTEGER, smCount INTEGER",
        "TARGET_INFO_CUDA_DEVICE": "gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT",
        "CUPTI_ACTIVITY_KIND_RUNTIME": "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,"
                                       " globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,"
                                       " returnValue INTEGER NOT NULL, callchainId INTEGER",
        "CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId"
                                      " INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId"
                                      " INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT"
                                      " NULL, mangledName INTEGER, graphNodeId INTEGER, graphId INTEGER",
        "CUPTI_ACTIVITY_KIND_MEMCPY": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId"
                                      " INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId"
                                      " INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,"
                                      " srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER",
        "CUPTI_ACTIVITY_KIND_MEMSET": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId"
                                      " INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId"
                                      " INTEGER, globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL,"
                                      " graphNodeId INTEGER, memKind INTEGER",
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
                                               " contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT"
                                               " NULL, correlationId INTEGER, globalPid INTEGER, deprecatedSyncType"
                                               " INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, eventSyncId"
                                               " INTEGER",
        "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "timestamp INTEGER, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,"
                                          " greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER,"
                                          " globalPid INTEGER, eventId INTEGER NOT NULL, eventSyncId INTEGER",
        "NVTX_EVENTS": "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,"
                       " color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId"
                       " INTEGER, jsonText TEXT",
    },
}
MEMORY = ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Unknown"]
COPIES = ["Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"]
SYNCS = ["", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"]
ORDER = ["cuda_runtime", "user_annotation", "cpu_op", "kernel", "gpu_memcpy", "gpu_memset", "cuda_sync"]


def ns(us):
    return int(Decimal(str(us)) * 1000)


class Export:
    """Rows for a version's tables; columns that the version does not have are left out, others default to 0."""

    def __init__(self, path, version):
        self.path = path
        self.schema = SCHEMAS[version]
        self.new = version != "2021"
        self.strings = {}
        if os.path.exists(self.path):
            os.remove(self.path)
        self.db = sqlite3.connect(self.path)
        for table, columns in self.schema.items():
            self.db.execute(f"CREATE TABLE {table} ({columns})")

    def row(self, table, **values):
        columns = [c.split()[0] for c in self.schema[table].split(",")]
        needed = {c.split()[0] for c in self.schema[table].split(",") if "NOT NULL" in c}
        values = {c: values.get(c, 0 if c in needed else None) for c in columns}
        self.db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(columns))})", list(values.values()))

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.row("StringIds", id=self.strings[text], value=text)
        return self.strings[text]

    def done(self):
        self.db.commit()
        self.db.close()
        return self.path


def global_id(pid, tid=0):
    return (1 << 56) | (int(pid) << 24) | int(tid)  # hardware, virtual machine, process, thread


def nvtx_text(event):
    """As torch.autograd.profiler.emit_nvtx writes an operator."""
    args, text = event.get("args", {}), event["name"]
    if event["cat"] != "cpu_op":
        return text
    if args.get("Sequence number", -1) >= 0:
        text += ", seq = %d" % args["Sequence number"]
    text += ", op_id = %d" % args.get("External id", 1)
    if args.get("Input Dims"):
        text += ", sizes = " + json.dumps(args["Input Dims"])
    return text


def export(path, version, events, devices, host_pid, **more):
    made = Export(path, version)
    made.row("TARGET_INFO_SESSION_START_TIME", utcEpochNs=WALL_NS - OFFSET)
    for device in devices:
        made.row("TARGET_INFO_GPU", id=device["id"], name=device["name"], totalMemory=device["totalGlobalMem"])
        if made.new:
            made.row("TARGET_INFO_CUDA_DEVICE", gpuId=device["id"], cudaId=device["id"], pid=host_pid)
    for number, e in enumerate(events):
        args = e.get("args", {})
        start = ns(e["ts"]) + OFFSET
        row = {"start": start, "end": start + ns(e["dur"]), "correlationId": args.get("correlation"), "contextId": 1,
               "deviceId": args.get("device"), "streamId": args.get("stream"), "globalPid": global_id(host_pid)}
        if e["cat"] == "cuda_runtime":
            versioned = e["name"] + ("_v7000" if e["name"].startswith("cuda") else "")
            made.row("CUPTI_ACTIVITY_KIND_RUNTIME", **row, globalTid=global_id(e["pid"], e["tid"]),
                     nameId=made.string(versioned))
        elif e["cat"] in ("user_annotation", "cpu_op"):
            text = nvtx_text(e)
            kept = {"textId": made.string(text)} if made.new else {"text": text}
            made.row("NVTX_EVENTS", **row, **kept, eventType=59 + number % 2, globalTid=global_id(e["pid"], e["tid"]))
        elif e["cat"] == "kernel":
            made.row("CUPTI_ACTIVITY_KIND_KERNEL", **row, demangledName=made.string(e["name"]),
                     shortName=made.string(e["name"].split("<")[0]))
        elif e["cat"] == "gpu_memcpy":
            kind, memory = e["name"][7:].split(" (")
            source, target = memory[:-1].split(" -> ")
            made.row("CUPTI_ACTIVITY_KIND_MEMCPY", **row, bytes=args["bytes"], copyKind=COPIES.index(kind),
                     srcKind=MEMORY.index(source), dstKind=MEMORY.index(target))
        elif e["cat"] == "gpu_memset":
            made.row("CUPTI_ACTIVITY_KIND_MEMSET", **row, bytes=args["bytes"], memKind=MEMORY.index(e["name"][8:-1]))
        else:
            waits = "wait_on_stream" in args
            made.row("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", **row, syncType=SYNCS.index(e["name"]),
                     eventId=number if waits else 0xFFFFFFFF)
            if waits:
                made.row("CUPTI_ACTIVITY_KIND_CUDA_EVENT", **{**row, "streamId": args["wait_on_stream"], "correlationId":
                         args["wait_on_cuda_event_record_corr_id"]}, eventId=number)
    made.row("NVTX_EVENTS", start=OFFSET, eventType=34, text="a mark", globalTid=global_id(host_pid, 1))
    made.row("NVTX_EVENTS", start=OFFSET, eventType=75, text="a domain", globalTid=global_id(host_pid, 1))
    for table, rows in more.items():
        for values in rows:
            made.row(table, **values)
    return made.done()
