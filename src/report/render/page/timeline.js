/* Puts timelines into the page: their controls, and links from the rows of tables to what they name. */

function chooseSteps(view) {
  const select = element('select'), steps = [];
  select.setAttribute('aria-label', 'Step to show');
  select.append(new Option('Everything', 'all'), new Option('Reported step', 'first'));
  view.data.groups.forEach((group) => group.lanes.forEach((lane) => {
    if (!group.open || !lane.count || view.data.kindOf(lane, 0) !== 'step') return;
    for (let i = 0; i < lane.count; i++) {
      select.append(new Option(view.data.nameOf(lane, i) + ', ' + showTime(lane.ends[i] - lane.starts[i]), String(steps.length)));
      steps.push({from: lane.starts[i], to: lane.ends[i]});
    }
  }));
  select.value = 'first';
  select.addEventListener('change', () => {
    const step = steps[Number(select.value)];
    if (select.value === 'all') view.show(view.data.from, view.data.to);
    else if (step) view.show(step.from, step.to);
    else view.show(0, view.data.span_ns);
  });
  return select;
}

function pressable(text, title, act) {
  const button = element('button', text);
  button.type = 'button';
  button.title = title;
  button.setAttribute('aria-label', title);
  button.addEventListener('click', act);
  return button;
}

function hasPython(data) { return data.labels.some((label) => data.kinds[label[2]] === PYTHON && data.names[label[0]]); }

function pythonSwitch(view) {
  const label = element('label'), box = element('input');
  box.type = 'checkbox';
  box.addEventListener('change', () => view.showPython(box.checked));
  label.append(box, ' Python frames');
  return label;
}

function makeBar(view, bar) {
  const input = element('input'), found = element('span', '', 'tl-found');
  input.type = 'search';
  input.placeholder = 'Search: name, /regex/, =name';
  input.setAttribute('aria-label', 'Search slices');
  found.setAttribute('role', 'status');
  const finder = new TimelineSearch(view, input, found);
  const steps = chooseSteps(view);
  if (steps.options.length > 2) bar.append(steps);
  bar.append(input, pressable('‹', 'Previous hit', () => finder.next(-1)),
    pressable('›', 'Next hit', () => finder.next(1)), pressable('+', 'Zoom in', () => view.zoom(0.5)),
    pressable('−', 'Zoom out', () => view.zoom(2)), pressable('Fit', 'Show what was shown at first', () => view.show(0, view.data.span_ns)));
  if (hasPython(view.data)) bar.append(pythonSwitch(view));
  bar.append(found);
  return finder;
}

const CLASS_WORDS = {wait: 'waiting', path: 'critical path', other: 'other', communication: 'communication', input: 'input'};

function makeLegend(view, legend) {
  const used = new Set();
  view.data.lanes.forEach((lane) => { for (let i = 0; i < lane.count; i++) used.add(view.data.labels[lane.labels[i]][1]); });
  view.data.classes.forEach((name, k) => {
    if (!used.has(k)) return;
    const item = element('li', undefined, 'c-' + name);
    item.append(element('i'), CLASS_WORDS[name] || name);
    legend.append(item);
  });
}

function makeHint() {
  const hint = element('p', undefined, 'tl-hint');
  [['W', 'S', ' zoom at the pointer, '], ['A', 'D', ' move, '], ['F', ' zoom to what is selected, '], ['M', ' mark its range, '],
    [',', '.', ' neighbours, '], ['0', ' back, '], ['/', ' search, '], ['Esc', ' clear, then leave the plot.']].forEach((keys) => {
    keys.forEach((key, k) => hint.append(k < keys.length - 1 ? element('kbd', key) : key));
  });
  hint.append(' Drag to move; drag in the ruler, or with Shift, to add up a range. Click a slice for details. The wheel zooms with Ctrl, or once the plot was clicked.');
  return hint;
}

/* Rows whose first texts are names of slices get a button that shows these. */
function linkTables(data, finder) {
  const names = new Set(), words = ['stage', 'device time', 'critical path'];
  data.labels.forEach((label) => { if (!words.includes(data.kinds[label[2]])) names.add(data.names[label[0]]); });
  names.delete('');
  document.querySelectorAll('main .table td.t').forEach((cell) => {
    const name = cell.title || cell.textContent;
    if (!names.has(name) || cell.closest('.tl-panel')) return;
    const button = pressable('', 'Show in the timeline', () => finder.only(name));
    button.className = 'goto';
    cell.prepend(button);
  });
}

/* Cells of a heat map and bars of steps lead to their step. */
function linkCells(view) {
  document.querySelectorAll('.grid rect[data-column]').forEach((cell) => {
    const rank = cell.getAttribute('data-row'), label = cell.getAttribute('data-column');
    const groups = view.data.groups.filter((group) => rank === null ? group.open : group.name === rank);
    cell.classList.add('leads');
    cell.addEventListener('click', () => groups.forEach((group) => group.lanes.forEach((lane) => {
      if (lane.kind !== 'summary' || !lane.count || view.data.kindOf(lane, 0) !== 'step') return;
      for (let i = 0; i < lane.count; i++) if (view.data.nameOf(lane, i) === label) view.reveal({lane, i});
    })));
  });
}

function makeTimeline(root) {
  const data = readTimeline(document.getElementById(root.getAttribute('data-of')).textContent);
  if (!data.lanes.length) return;
  const bar = element('div', undefined, 'tl-bar'), legend = element('ul', undefined, 'legend');
  const body = element('div', undefined, 'tl-body'), panel = element('div', undefined, 'tl-panel');
  const canvas = element('canvas');
  body.tabIndex = 0;
  body.setAttribute('role', 'application');
  body.setAttribute('aria-label', 'Timeline');
  canvas.setAttribute('role', 'img');
  body.append(element('div', undefined, 'tl-names'), canvas);
  panel.hidden = true;
  panel.setAttribute('aria-live', 'polite');
  root.append(bar, legend, body, panel, makeHint());
  const view = new TimelineView(data, body);
  const finder = makeBar(view, bar);
  makeLegend(view, legend);
  view.listen(() => showPanel(view, panel));
  handleKeys(view);
  handleWheel(view);
  handleHover(view);
  handleDrag(view);
  handleWindow(view);
  linkTables(data, finder);
  linkCells(view);
  root.timelineView = view;
}

document.querySelectorAll('.timeline').forEach(makeTimeline);
