/* Unpacks the data of a timeline. docs/page.md describes the format. */

/* Numbers of seven bits a byte, the lowest first, in base64. Products instead of shifts: they may pass 32 bits. */
function unpack(text, count) {
  const bytes = atob(text), numbers = new Float64Array(count);
  for (let at = 0, i = 0; i < count; i++) {
    let value = 0, scale = 1, byte;
    do {
      byte = bytes.charCodeAt(at++);
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    numbers[i] = value;
  }
  return numbers;
}

/* 0, -1, 1, -2, … from 0, 1, 2, 3, … */
function signed(value) { return value % 2 ? -(value + 1) / 2 : value / 2; }

function unpackTimes(packed) {
  const starts = unpack(packed.starts, packed.count), ends = unpack(packed.durations, packed.count);
  let at = 0;
  for (let i = 0; i < packed.count; i++) {
    at += signed(starts[i]);
    starts[i] = at;
    ends[i] += at;
  }
  return {starts, ends};
}

/* Numbers of slices over the whole timeline, from 1; 0 = none. */
function unpackCauses(packed) {
  const causes = unpack(packed.causes, packed.count);
  let last = 0;
  for (let i = 0; i < packed.count; i++) {
    if (causes[i] === 0) continue;
    last += signed(causes[i] - 1);
    causes[i] = last;
  }
  return causes;
}

function unpackLane(packed, group, first) {
  const times = unpackTimes(packed);
  return {
    name: packed.name, kind: packed.kind, group, count: packed.count,
    first,                              /* the number of its first slice */
    starts: times.starts, ends: times.ends, /* ns from where the view begins */
    labels: unpack(packed.labels, packed.count),
    counts: packed.counts ? unpack(packed.counts, packed.count) : null, /* tasks beyond the first */
    causes: packed.causes ? unpackCauses(packed) : null,
    details: packed.details ? unpack(packed.details, packed.count) : null,
    parents: null, rows: null,
  };
}

const LANE_ORDER = ['summary', 'stream', 'thread'];
const PYTHON = 'Python frame';

/* Which slice encloses each one directly, -1 = none; those that overlap without enclosing count as enclosed. */
function findParents(lane) {
  const parents = new Int32Array(lane.count), open = [];
  for (let i = 0; i < lane.count; i++) {
    while (open.length && lane.ends[open[open.length - 1]] <= lane.starts[i]) open.pop();
    parents[i] = open.length ? open[open.length - 1] : -1;
    open.push(i);
  }
  return parents;
}

/* Rows of a lane: slices by depth. Python frames are left out unless asked for. */
function findRows(data, lane, python) {
  const rows = [], depths = new Int32Array(lane.count);
  for (let i = 0; i < lane.count; i++) {
    const parent = lane.parents[i], depth = parent < 0 ? 0 : depths[parent];
    const hidden = !python && data.kindOf(lane, i) === PYTHON;
    depths[i] = hidden ? depth : depth + 1;
    if (hidden) continue;
    if (rows.length <= depth) rows.push([]);
    rows[depth].push(i);
  }
  return rows.map((row) => Int32Array.from(row));
}

function readTimeline(text) {
  const data = JSON.parse(text);
  let first = 1, from = 0, to = data.span_ns;
  data.lanes = [];
  data.groups.forEach((group) => {
    group.lanes = group.lanes.map((packed) => {
      const lane = unpackLane(packed, group, first);
      first += lane.count;
      for (let i = 0; i < lane.count; i++) {
        if (lane.starts[i] < from) from = lane.starts[i];
        if (lane.ends[i] > to) to = lane.ends[i];
      }
      data.lanes.push(lane);
      return lane;
    });
    group.lanes.sort((a, b) => LANE_ORDER.indexOf(a.kind) - LANE_ORDER.indexOf(b.kind));
  });
  data.from = from;
  data.to = to;
  data.nameOf = (lane, i) => data.names[data.labels[lane.labels[i]][0]];
  data.classOf = (lane, i) => data.classes[data.labels[lane.labels[i]][1]];
  data.kindOf = (lane, i) => data.kinds[data.labels[lane.labels[i]][2]];
  data.stageOf = (lane, i) => data.names[data.labels[lane.labels[i]][3]];
  data.details.forEach((detail) => ['shapes', 'launch', 'module', 'collective', 'dtype', 'group'].forEach((key) => {
    if (detail && detail[key]) detail[key] = data.names[detail[key]];
  }));
  data.detailOf = (lane, i) => lane.details && data.details[lane.details[i]] || {};
  data.lanes.forEach((lane) => { lane.parents = findParents(lane); });
  /* The slice of a number. */
  data.find = (number) => {
    let low = 0, high = data.lanes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (data.lanes[middle].first <= number) low = middle;
      else high = middle - 1;
    }
    return {lane: data.lanes[low], i: number - data.lanes[low].first};
  };
  return data;
}

/* What each slice launched: slice number → numbers. */
function findEffects(data) {
  const effects = new Map();
  data.lanes.forEach((lane) => {
    if (!lane.causes || lane.kind !== 'stream') return;
    for (let i = 0; i < lane.count; i++) {
      if (!lane.causes[i]) continue;
      const list = effects.get(lane.causes[i]);
      if (list) list.push(lane.first + i);
      else effects.set(lane.causes[i], [lane.first + i]);
    }
  });
  return effects;
}

function enclosing(lane, i) {
  const list = [];
  for (let at = lane.parents[i]; at >= 0; at = lane.parents[at]) list.push(at);
  return list;
}
