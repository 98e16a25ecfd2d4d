/* Paints a timeline on its canvas. */

const RULER = 26, GROUP_HEIGHT = 24, LANE_GAP = 5;
const ROW_HEIGHT = {summary: 18, stream: 20, thread: 16};

/* 812 ns, 12.34 ms; digits grow until `step` shows. */
function showTime(ns, step) {
  const units = ['ns', 'µs', 'ms', 's'];
  let u = 0, size = Math.max(Math.abs(ns), step || 0);
  while (u < 3 && size >= 1000) {
    ns /= 1000;
    size /= 1000;
    if (step) step /= 1000;
    u++;
  }
  const digits = step ? (step >= 1 ? 0 : Math.min(9, Math.ceil(-Math.log10(step) - 1e-9))) : u === 0 ? 0 : 2;
  return ns.toFixed(digits) + ' ' + units[u];
}

function niceStep(span) {
  const power = Math.pow(10, Math.floor(Math.log10(span))), factor = span / power;
  return power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
}

/* What a folded group shows beside its name. */
function stripOf(data, group) {
  return group.lanes.find((lane) => lane.count && data.kindOf(lane, 0) === 'device time') || group.lanes.find((lane) => lane.count);
}

/* Where groups and lanes lie, from 0 below the ruler. */
function layOut(data, python) {
  const groups = [], lanes = [];
  let y = 0;
  data.groups.forEach((group) => {
    if (data.groups.length > 1) {
      groups.push({group, y});
      y += GROUP_HEIGHT;
    }
    if (!group.open) {
      const lane = stripOf(data, group);
      if (!lane) return;
      lane.rows = lane.rows || findRows(data, lane, python);
      lanes.push({lane, y: y - GROUP_HEIGHT + 4, row: GROUP_HEIGHT - 7, height: GROUP_HEIGHT - 7, strip: true});
      return;
    }
    group.lanes.forEach((lane) => {
      if (!lane.rows) lane.rows = findRows(data, lane, python);
      if (!lane.rows.length) return;
      const row = ROW_HEIGHT[lane.kind], height = row * lane.rows.length;
      lanes.push({lane, y: y + 2, row, height});
      y += height + LANE_GAP;
    });
    y += LANE_GAP;
  });
  return {groups, lanes, height: y};
}

/* The first slice of a row that ends after `at`. */
function firstAfter(lane, row, at) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.ends[row[middle]] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function readColors(classes) {
  const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue('--' + name).trim();
  return {
    of: classes.map(get),
    text: get('text'), soft: get('soft'), line: get('line'), panel: get('panel'), bg: get('bg'), accent: get('accent'),
    on: get('on'), onPale: get('on-idle'),
  };
}

/* A C++ kernel without result type and namespaces. */
function bareName(name) {
  return /^void |^[\w:]+[<]/.test(name) ? name.replace(/^void /, '').replace(/(\(anonymous namespace\)|\b\w+)::/g, '') : name;
}

function fitText(name, width) {
  const most = Math.floor(width / 6.1);
  if (most < 2) return '';
  const text = name.length <= most ? name : bareName(name);
  return text.length <= most ? text : text.slice(0, most - 1) + '…';
}

/* Of slices that share a pixel the longest gives it its colour; so many are looked at. */
const LOOKED_AT = 16;

function longestInPixel(lane, row, k, end) {
  let best = row[k];
  for (let n = 1; n < LOOKED_AT && k + n < row.length && lane.starts[row[k + n]] < end; n++) {
    const i = row[k + n];
    if (lane.ends[i] - lane.starts[i] > lane.ends[best] - lane.starts[best]) best = i;
  }
  return best;
}

/* One row; slices closer than a pixel are drawn as one. */
function paintRow(g, view, lane, row, y, height) {
  const scale = view.width / (view.to - view.from), labels = view.data.labels, colors = view.colors, hits = view.hits;
  for (let k = firstAfter(lane, row, view.from); k < row.length;) {
    const i = row[k];
    if (lane.starts[i] >= view.to) break;
    const left = Math.max(-1, (lane.starts[i] - view.from) * scale);
    const right = Math.min(view.width + 1, (lane.ends[i] - view.from) * scale), wide = Math.max(right - left, 1);
    const pixelEnd = view.from + (Math.floor(left) + 1) / scale, narrow = wide < 1.5;
    const number = lane.labels[narrow ? longestInPixel(lane, row, k, pixelEnd) : i], label = labels[number];
    g.globalAlpha = hits && !hits.labels[number] ? 0.22 : 1;
    g.fillStyle = colors.of[label[1]];
    g.fillRect(left, y, wide > 3 ? wide - 0.6 : wide, height - 1);
    if (wide > 26) {
      g.fillStyle = view.data.classes[label[1]] === 'idle' ? colors.onPale : colors.on;
      g.fillText(fitText(view.data.names[label[0]], wide - 6), left + 3, y + height / 2);
    }
    k++;
    if (narrow) k = Math.max(k, firstAfter(lane, row, pixelEnd));
  }
  g.globalAlpha = 1;
}

/* Hits that are too short to be seen get two pixels. */
function paintHits(g, view, place) {
  const scale = view.width / (view.to - view.from), lane = place.lane;
  g.fillStyle = view.colors.accent;
  place.lane.rows.forEach((row, depth) => {
    if (place.strip && depth) return;
    let last = -9;
    for (let k = firstAfter(lane, row, view.from); k < row.length; k++) {
      const i = row[k];
      if (lane.starts[i] >= view.to) break;
      if (!view.hits.labels[lane.labels[i]]) continue;
      const left = (lane.starts[i] - view.from) * scale;
      if ((lane.ends[i] - lane.starts[i]) * scale > 3 || left - last < 2) continue;
      g.fillRect(left - 0.5, view.top(place.y + depth * place.row), 2, place.row - 1);
      last = left;
    }
  });
}

function paintLane(g, view, place) {
  place.lane.rows.forEach((row, depth) => {
    if (place.strip && depth) return;
    const y = view.top(place.y + depth * place.row);
    if (y + place.row > RULER && y < view.height) paintRow(g, view, place.lane, row, y, place.row);
  });
  if (view.hits) paintHits(g, view, place);
}

function outline(g, view, slice, color) {
  const box = view.boxOf(slice);
  if (!box) return null;
  g.strokeStyle = color;
  g.lineWidth = 2;
  g.strokeRect(box.left, box.top, Math.max(box.right - box.left, 2), box.height - 1);
  return box;
}

function paintArrow(g, view, from, to) {
  const a = view.boxOf(from), b = view.boxOf(to);
  if (!a || !b) return;
  const y0 = a.top + a.height / 2, y1 = b.top + b.height / 2, bend = Math.max(20, Math.abs(b.left - a.left) / 3);
  g.strokeStyle = view.colors.text;
  g.lineWidth = 1.2;
  g.beginPath();
  g.moveTo(a.left, y0);
  g.bezierCurveTo(a.left + bend, y0, b.left - bend, y1, b.left, y1);
  g.stroke();
}

const ARROWS = 50;

function paintSelection(g, view) {
  if (!view.selected) return;
  const number = view.selected.lane.first + view.selected.i;
  const cause = view.selected.lane.causes ? view.selected.lane.causes[view.selected.i] : 0;
  outline(g, view, view.selected, view.colors.text);
  if (cause) {
    outline(g, view, view.data.find(cause), view.colors.accent);
    if (view.selected.lane.kind === 'stream') paintArrow(g, view, view.data.find(cause), view.selected);
  }
  (view.effects().get(number) || []).slice(0, ARROWS).forEach((effect) => {
    outline(g, view, view.data.find(effect), view.colors.accent);
    paintArrow(g, view, view.selected, view.data.find(effect));
  });
}

function paintRange(g, view) {
  if (!view.range) return;
  const scale = view.width / (view.to - view.from);
  const left = (view.range[0] - view.from) * scale, right = (view.range[1] - view.from) * scale;
  g.fillStyle = view.colors.accent;
  g.globalAlpha = 0.14;
  g.fillRect(left, 0, right - left, view.height);
  g.globalAlpha = 1;
  g.fillRect(left, 0, 1, view.height);
  g.fillRect(right - 1, 0, 1, view.height);
}

function eachTick(view, act) {
  const span = view.to - view.from, step = niceStep(span / Math.max(1, view.width / 120));
  for (let k = Math.ceil(view.from / step); k * step <= view.to; k++)
    act((k * step - view.from) * view.width / span, k * step, step);
}

function paintGrid(g, view) {
  g.fillStyle = view.colors.line;
  eachTick(view, (x) => g.fillRect(x, RULER, 1, view.height));
}

/* Ticks as far apart as their texts need; zero is where the timeline's step begins. */
function paintRuler(g, view) {
  g.fillStyle = view.colors.bg;
  g.fillRect(0, 0, view.width, RULER);
  g.fillStyle = view.colors.line;
  g.fillRect(0, RULER - 1, view.width, 1);
  eachTick(view, (x, at, step) => {
    const text = showTime(at, step), half = g.measureText(text).width / 2;
    g.fillStyle = view.colors.line;
    g.fillRect(x, RULER - 6, 1, 6);
    g.fillStyle = view.colors.soft;
    g.fillText(text, Math.min(Math.max(x, half + 2), view.width - half - 2) - half, 11);
  });
  const all = view.data.to - view.data.from; /* where in the whole this is */
  g.fillStyle = view.colors.accent;
  g.fillRect((view.from - view.data.from) / all * view.width, 0, Math.max(2, (view.to - view.from) / all * view.width), 2);
}

function paint(view) {
  const g = view.context;
  g.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  g.clearRect(0, 0, view.width, view.height);
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  paintGrid(g, view);
  g.fillStyle = view.colors.panel;
  view.layout.groups.forEach((at) => g.fillRect(0, view.top(at.y), view.width, GROUP_HEIGHT));
  view.layout.lanes.forEach((place) => {
    const y = view.top(place.y);
    if (y + place.height > 0 && y < view.height) paintLane(g, view, place);
  });
  g.save();
  paintRange(g, view);
  paintSelection(g, view);
  g.restore();
  paintRuler(g, view);
  if (view.range) {
    const scale = view.width / (view.to - view.from);
    g.fillStyle = view.colors.accent;
    g.fillRect((view.range[0] - view.from) * scale, RULER - 4, (view.range[1] - view.range[0]) * scale, 4);
  }
}
