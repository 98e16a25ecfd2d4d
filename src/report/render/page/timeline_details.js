/* The panel below a timeline: what a slice is, or what a range holds. All texts are set as text, never as markup. */

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/* 1.234 G with a unit behind. */
function showAmount(value, unit) {
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  let p = 0;
  while (Math.abs(value) >= 1000 && p < prefixes.length - 1) {
    value /= 1000;
    p++;
  }
  return Number(value.toPrecision(4)) + ' ' + prefixes[p] + unit;
}

function showExactly(ns) {
  const exact = ns.toLocaleString('en-US') + ' ns';
  return Math.abs(ns) < 1000 ? exact : showTime(ns) + ' (' + exact + ')';
}

/* --- links between slices ----------------------------------------------------------------------------------------- */

function linkTo(view, slice, text) {
  const link = element('a', text || view.data.nameOf(slice.lane, slice.i));
  link.tabIndex = 0;
  link.title = link.textContent;
  link.setAttribute('role', 'button');
  link.addEventListener('click', () => view.reveal(slice));
  link.addEventListener('keydown', (event) => { if (event.key === 'Enter') view.reveal(slice); });
  return link;
}

function addFact(list, name, value) {
  if (value === undefined || value === null || value === '') return;
  const cell = element('dd');
  cell.append(...(Array.isArray(value) ? value : [value]));
  list.append(element('dt', name), cell);
}

/* The slice itself when it is a host's, else what launched it. */
function hostSlice(view, slice) {
  if (slice.lane.kind === 'thread') return slice;
  const cause = slice.lane.causes ? slice.lane.causes[slice.i] : 0;
  return cause ? view.data.find(cause) : null;
}

/* The nearest slice of a kind from a host slice outwards. */
function outwards(view, host, accept) {
  const found = [host.i, ...enclosing(host.lane, host.i)].find((i) => accept(view.data, host.lane, i));
  return found === undefined ? null : {lane: host.lane, i: found};
}

const isOperator = (data, lane, i) => data.kindOf(lane, i) === 'operator';
const isModule = (data, lane, i) => data.kindOf(lane, i) === PYTHON && data.nameOf(lane, i).startsWith('nn.Module: ');
const isAnnotation = (data, lane, i) => data.kindOf(lane, i) === 'annotation' && !data.nameOf(lane, i).startsWith('ProfilerStep#');
const isFrame = (data, lane, i) => data.kindOf(lane, i) === PYTHON;

/* What a host slice and all it encloses launched. */
function launchedBy(view, host) {
  const list = [];
  for (let i = host.i; i < host.lane.count && host.lane.starts[i] < Math.max(host.lane.ends[host.i], host.lane.starts[host.i] + 1); i++)
    list.push(...(view.effects().get(host.lane.first + i) || []));
  return list.map((number) => view.data.find(number));
}

function sumTimes(slices) { return slices.reduce((sum, slice) => sum + slice.lane.ends[slice.i] - slice.lane.starts[slice.i], 0); }

/* --- facts -------------------------------------------------------------------------------------------------------- */

function addWhere(view, list, slice) {
  const {lane, i} = slice, stage = view.data.stageOf(lane, i), kind = view.data.kindOf(lane, i);
  const group = view.data.groups.length > 1 ? ', ' + lane.group.name : '';
  addFact(list, 'Kind', kind + (stage ? (kind === 'critical path' ? ', limited by ' : ', ') + stage : ''));
  addFact(list, 'On', lane.name + group);
  addFact(list, 'Duration', showExactly(lane.ends[i] - lane.starts[i]));
  addFact(list, 'Start', showExactly(Math.abs(lane.starts[i])) + (lane.starts[i] < 0 ? ' before' : ' after') + ' the reported step began');
  if (lane.counts && lane.counts[i])
    addFact(list, 'Stands for', (lane.counts[i] + 1).toLocaleString('en-US') + ' neighbours, of which this is the longest');
  addStep(view, list, slice);
}

function addStep(view, list, slice) {
  const at = slice.lane.starts[slice.i], data = view.data;
  slice.lane.group.lanes.forEach((lane) => {
    if (lane.kind !== 'summary' || !lane.count || data.kindOf(lane, 0) !== 'step' || lane === slice.lane) return;
    for (let i = 0; i < lane.count; i++)
      if (lane.starts[i] <= at && at < lane.ends[i]) addFact(list, 'Step', linkTo(view, {lane, i}));
  });
}

function addLaunch(view, list, slice) {
  const cause = slice.lane.causes ? slice.lane.causes[slice.i] : 0;
  if (!cause) return;
  const call = view.data.find(cause);
  if (slice.lane.kind === 'summary') {
    addFact(list, 'Task', linkTo(view, call));
    return;
  }
  if (slice.lane.kind === 'thread') {
    addFact(list, 'Backward of', linkTo(view, call));
    return;
  }
  const delay = slice.lane.starts[slice.i] - call.lane.starts[call.i];
  addFact(list, 'Launched by', [linkTo(view, call), ', ' + showTime(delay) + ' earlier on ' + call.lane.name]);
}

function addSurroundings(view, list, slice) {
  const host = hostSlice(view, slice);
  if (!host || slice.lane.kind === 'summary') return;
  const operator = outwards(view, host, isOperator), module = outwards(view, host, isModule);
  const outer = operator && enclosing(operator.lane, operator.i).filter((i) => isOperator(view.data, operator.lane, i)).pop();
  if (operator && operator.i !== slice.i) addFact(list, 'Operator', linkTo(view, operator));
  if (outer !== undefined && outer !== null) addFact(list, 'Outer operator', linkTo(view, {lane: operator.lane, i: outer}));
  const backward = view.data.detailOf(slice.lane, slice.i).module;
  if (!module && backward) addFact(list, 'Module', 'backward of ' + backward.replace('nn.Module: ', ''));
  if (module) addFact(list, 'Module', linkTo(view, module, view.data.nameOf(module.lane, module.i).slice('nn.Module: '.length)));
  const annotation = outwards(view, host, isAnnotation);
  if (annotation && annotation.i !== slice.i) addFact(list, 'Annotation', linkTo(view, annotation));
  if (operator) addWork(view, list, operator, slice);
}

/* Shapes, and what the operator computes and moves against the time of its kernels. */
function addWork(view, list, operator, slice) {
  const detail = view.data.detailOf(operator.lane, operator.i), kernels = launchedBy(view, operator), ns = sumTimes(kernels);
  if (detail.shapes) {
    const [dims, types, values] = detail.shapes.split('\n');
    addFact(list, 'Shapes', dims);
    addFact(list, 'Types', types);
    if (slice.i === operator.i) addFact(list, 'Values', values);
  }
  const rate = (amount, unit) => showAmount(amount, unit) + (ns ? ', ' + showAmount(amount / ns * 1e9, unit + '/s') + ' over its kernels' : '');
  if (detail.flop) addFact(list, 'Arithmetic', rate(detail.flop, 'FLOP'));
  if (detail.bytes) addFact(list, 'Memory, at least', rate(detail.bytes, 'B'));
}

function addGrid(view, list, slice) {
  const launch = view.data.detailOf(slice.lane, slice.i).launch;
  if (!launch) return;
  const [grid, block, occupancy, blocks] = launch.split('\n');
  addFact(list, 'Grid', grid && block ? grid + ' blocks of ' + block + ' threads' : grid);
  addFact(list, 'Occupancy', occupancy && occupancy + ' % (estimated)' + (blocks ? ', ' + blocks + ' blocks per multiprocessor' : ''));
}

function addOwnBytes(view, list, slice) {
  const detail = view.data.detailOf(slice.lane, slice.i), ns = slice.lane.ends[slice.i] - slice.lane.starts[slice.i];
  if (slice.lane.kind === 'thread' && isOperator(view.data, slice.lane, slice.i) && !detail.collective) return;
  addFact(list, 'Collective', detail.collective);
  if (detail.group_size) addFact(list, 'Group', detail.group_size + ' ranks' + (detail.group ? ', ' + detail.group : ''));
  addFact(list, 'Elements of', detail.dtype);
  if (detail.bytes && ns) addFact(list, 'Bytes', showAmount(detail.bytes, 'B') + ', ' + showAmount(detail.bytes / ns * 1e9, 'B/s'));
}

const SHOWN_KERNELS = 12;

function addLaunched(view, list, slice) {
  if (slice.lane.kind !== 'thread') return;
  const kernels = launchedBy(view, slice), shown = kernels.slice(0, SHOWN_KERNELS), cell = element('ol');
  if (!kernels.length) return;
  shown.forEach((kernel) => {
    const item = element('li');
    item.append(linkTo(view, kernel), showTime(kernel.lane.ends[kernel.i] - kernel.lane.starts[kernel.i]));
    cell.append(item);
  });
  const more = kernels.length > shown.length ? ' The first ' + shown.length + ':' : '';
  addFact(list, 'Device work', [kernels.length.toLocaleString('en-US') + ' launched, ' + showTime(sumTimes(kernels)) + ' in all.' + more, cell]);
}

function addStack(view, list, slice) {
  const host = hostSlice(view, slice);
  if (!host || slice.lane.kind === 'summary') return;
  const frames = [host.i, ...enclosing(host.lane, host.i)].filter((i) => isFrame(view.data, host.lane, i));
  if (!frames.length) return;
  const fold = element('details'), cell = element('ol');
  fold.append(element('summary', frames.length + ' frames, innermost first'), cell);
  frames.forEach((i) => {
    const item = element('li');
    item.append(linkTo(view, {lane: host.lane, i}));
    cell.append(item);
  });
  addFact(list, 'Python stack', fold);
}

/* The slice among those of its name, of its kind of lane, on all ranks; merged ones are left out. */
function addAlike(view, list, slice) {
  const name = view.data.labels[slice.lane.labels[slice.i]][0], lengths = [], kind = slice.lane.kind;
  view.data.lanes.forEach((lane) => {
    if (lane.kind !== kind) return;
    for (let i = 0; i < lane.count; i++)
      if (view.data.labels[lane.labels[i]][0] === name && !(lane.counts && lane.counts[i])) lengths.push(lane.ends[i] - lane.starts[i]);
  });
  if (kind === 'summary' || lengths.length < 2) return;
  lengths.sort((a, b) => a - b);
  const own = slice.lane.ends[slice.i] - slice.lane.starts[slice.i], sum = lengths.reduce((all, ns) => all + ns, 0);
  const below = lengths.filter((ns) => ns < own).length;
  addFact(list, 'Of this name', lengths.length.toLocaleString('en-US') + ' slices, ' + showTime(sum) + ' in all; from ' + showTime(lengths[0]) +
    ' over ' + showTime(lengths[lengths.length >> 1]) + ' (median) to ' + showTime(lengths[lengths.length - 1]) + '; ' +
    Math.round(100 * below / lengths.length) + ' % are shorter than this one');
}

function describeSlice(view, slice) {
  const list = element('dl');
  addWhere(view, list, slice);
  addAlike(view, list, slice);
  addOwnBytes(view, list, slice);
  addGrid(view, list, slice);
  addLaunch(view, list, slice);
  addSurroundings(view, list, slice);
  addLaunched(view, list, slice);
  addStack(view, list, slice);
  return [element('h4', view.data.nameOf(slice.lane, slice.i)), list];
}

/* --- ranges ------------------------------------------------------------------------------------------------------- */

/* Time inside a range by name, of the outermost slices that `accept` lets pass. */
function sumInside(view, lane, range, accept, sums) {
  for (let i = 0; i < lane.count; i++) {
    if (lane.starts[i] >= range[1]) break;
    if (lane.ends[i] <= range[0] || !accept(i)) continue;
    const name = view.data.nameOf(lane, i), sum = sums.get(name) || {ns: 0, count: 0};
    sum.ns += Math.min(lane.ends[i], range[1]) - Math.max(lane.starts[i], range[0]);
    sum.count += lane.counts ? lane.counts[i] + 1 : 1;
    sums.set(name, sum);
  }
}

function bySum(sums) { return Array.from(sums).sort((a, b) => b[1].ns - a[1].ns); }

function sumTable(titles, rows) {
  const table = element('table'), head = table.createTHead().insertRow(), body = table.createTBody();
  titles.forEach((title, k) => head.append(element('th', title, k ? 'n' : '')));
  rows.forEach((cells) => {
    const row = body.insertRow();
    cells.forEach((cell, k) => row.append(element('td', cell, k ? 'n' : 't')));
  });
  return table;
}

const SHOWN_NAMES = 10, SHOWN_GROUPS = 16;

function describeGroup(view, group, range) {
  const data = view.data, resources = new Map(), work = new Map(), parts = [], span = range[1] - range[0];
  group.lanes.forEach((lane) => {
    if (!lane.count) return;
    const kind = data.kindOf(lane, 0);
    if (kind === 'device time') sumInside(view, lane, range, () => true, resources);
    if (lane.kind === 'stream') sumInside(view, lane, range, (i) => data.kindOf(lane, i) !== 'wait', work);
    if (kind === 'work') sumInside(view, lane, range, () => true, work);
  });
  if (data.groups.length > 1) parts.push(element('h4', group.name));
  if (resources.size)
    parts.push(sumTable(['Device time', 'time', 'share of the range'], bySum(resources).map(([name, sum]) =>
      [name, showTime(sum.ns), (100 * sum.ns / span).toFixed(1) + ' %'])));
  if (work.size)
    parts.push(sumTable(['Most time on streams', 'time', 'tasks'], bySum(work).slice(0, SHOWN_NAMES).map(([name, sum]) =>
      [name, showTime(sum.ns), sum.count.toLocaleString('en-US')])));
  return parts;
}

function describeRange(view, range) {
  const parts = [element('h4', 'Range of ' + showExactly(Math.round(range[1] - range[0])) + ', from ' + showTime(range[0]) + ' to ' + showTime(range[1]))];
  const open = view.data.groups.filter((group) => group.open);
  (open.length ? open : view.data.groups.slice(0, SHOWN_GROUPS)).forEach((group) => parts.push(...describeGroup(view, group, range)));
  return parts;
}

/* --- the panel ---------------------------------------------------------------------------------------------------- */

function showPanel(view, panel) {
  const parts = view.selected ? describeSlice(view, view.selected) : view.range ? describeRange(view, view.range) : null;
  panel.hidden = !parts;
  panel.textContent = '';
  if (!parts) return;
  const close = element('button', 'Close', 'close');
  close.type = 'button';
  close.addEventListener('click', () => {
    view.selected = null;
    view.setRange(null);
  });
  panel.append(close, ...parts);
}
