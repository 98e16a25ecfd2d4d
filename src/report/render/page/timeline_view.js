/* What of a timeline is seen, and how keys and the pointer change it. */

const LEAST_SPAN = 20; /* ns across the plot */

class TimelineView {
  constructor(data, body) {
    this.data = data;
    this.body = body;
    this.names = body.querySelector('.tl-names');
    this.canvas = body.querySelector('canvas');
    this.context = this.canvas.getContext('2d');
    this.from = 0;
    this.to = data.span_ns;
    this.python = false;
    this.selected = null; /* {lane, i} */
    this.range = null;    /* [from, to] */
    this.hits = null;     /* what a search found */
    this.pointer = null;  /* x, or null when it is elsewhere */
    this.listeners = [];
    this.relayOut();
  }

  /* Called with "selected" or "range" when that changed. */
  listen(listener) { this.listeners.push(listener); }
  tell(what) { this.listeners.forEach((listener) => listener(what)); }

  effects() {
    if (!this.effectsFound) this.effectsFound = findEffects(this.data);
    return this.effectsFound;
  }

  /* --- layout --- */

  relayOut() {
    this.layout = layOut(this.data, this.python);
    this.places = new Map(this.layout.lanes.map((place) => [place.lane, place]));
    this.names.textContent = '';
    this.layout.groups.forEach((at) => this.nameGroup(at));
    this.layout.lanes.forEach((place) => {
      if (place.strip) return; /* its group is named */
      const name = document.createElement('div');
      name.textContent = name.title = place.lane.name;
      name.style.cssText = 'top:' + (RULER + place.y) + 'px;height:' + place.height + 'px;line-height:' + place.row + 'px';
      this.names.appendChild(name);
    });
    this.body.style.height = RULER + this.layout.height + 2 + 'px';
    this.resize();
  }

  nameGroup(at) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = button.title = at.group.name;
    button.setAttribute('aria-expanded', String(Boolean(at.group.open)));
    button.style.cssText = 'top:' + (RULER + at.y) + 'px;height:' + GROUP_HEIGHT + 'px';
    button.addEventListener('click', () => {
      at.group.open = !at.group.open;
      this.relayOut();
    });
    this.names.appendChild(button);
  }

  showPython(shown) {
    this.python = shown;
    this.data.lanes.forEach((lane) => { lane.rows = null; });
    this.relayOut();
  }

  resize(whole) {
    const total = RULER + this.layout.height, most = whole ? 6000 : window.innerHeight;
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.width = Math.max(50, this.canvas.parentNode.clientWidth - this.names.offsetWidth);
    this.height = Math.max(60, Math.min(total, most));
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.canvas.style.height = this.height + 'px';
    if (whole) this.paintNow();
    else this.repaint();
  }

  /* By how much lanes have moved up under the ruler, which stays in sight. */
  offset() {
    const most = RULER + this.layout.height - this.height;
    return Math.max(0, Math.min(most, -this.body.getBoundingClientRect().top));
  }

  top(y) { return RULER + y - this.scrolled; }

  paintNow() {
    this.colors = this.colors || readColors(this.data.classes);
    this.scrolled = this.offset();
    this.queued = false;
    paint(this);
  }

  repaint() {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => { if (this.queued) this.paintNow(); });
  }

  rowOf(slice) {
    const {lane, i} = slice, shown = this.places.get(lane);
    if (!lane.rows || !shown) return -1;
    const depth = lane.rows.findIndex((row) => row[firstAfter(lane, row, lane.starts[i])] === i || row.includes(i));
    return shown.strip && depth > 0 ? -1 : depth;
  }

  /* Where a slice is on the canvas; null when its lane is folded. */
  boxOf(slice) {
    const place = this.places.get(slice.lane), depth = place ? this.rowOf(slice) : -1;
    if (depth < 0) return null;
    const scale = this.width / (this.to - this.from);
    return {
      left: (slice.lane.starts[slice.i] - this.from) * scale, right: (slice.lane.ends[slice.i] - this.from) * scale,
      top: this.top(place.y + depth * place.row), height: place.row,
    };
  }

  /* --- time --- */

  show(from, to) {
    const all = this.data.to - this.data.from, span = Math.min(all, Math.max(LEAST_SPAN, to - from));
    this.from = Math.min(this.data.to - span, Math.max(this.data.from, from + (to - from - span) / 2));
    this.to = this.from + span;
    this.repaint();
  }

  at(x) { return this.from + x / this.width * (this.to - this.from); }

  zoom(factor, x) {
    const share = (x === null || x === undefined ? this.width / 2 : x) / this.width, span = this.to - this.from;
    const wide = Math.min(this.data.to - this.data.from, Math.max(LEAST_SPAN, span * factor));
    const left = this.from + share * (span - wide);
    this.show(left, left + wide);
  }

  pan(share) {
    const step = share * (this.to - this.from);
    this.show(this.from + step, this.to + step);
  }

  /* --- what is chosen --- */

  slice(x, y) {
    const place = this.layout.lanes.find((one) => y >= this.top(one.y) && y < this.top(one.y) + one.height);
    if (!place || y < RULER) return null;
    const row = place.lane.rows[Math.floor((y - this.top(place.y)) / place.row)], pixel = (this.to - this.from) / this.width;
    if (!row) return null;
    const k = firstAfter(place.lane, row, this.at(x) - pixel);
    return k < row.length && place.lane.starts[row[k]] <= this.at(x) + pixel ? {lane: place.lane, i: row[k]} : null;
  }

  select(slice) {
    this.selected = slice;
    if (slice) this.range = null;
    this.tell('selected');
    this.repaint();
  }

  /* Shows a slice wherever it is: unfolds its group, zooms out or in, scrolls the page. */
  reveal(slice) {
    const start = slice.lane.starts[slice.i], end = slice.lane.ends[slice.i], span = Math.max(end - start, LEAST_SPAN);
    const seen = start >= this.from && end <= this.to && (end - start) / (this.to - this.from) * this.width > 3;
    if (!slice.lane.group.open && !this.boxOf(slice)) {
      slice.lane.group.open = true;
      this.relayOut();
    }
    if (this.data.kindOf(slice.lane, slice.i) === PYTHON && !this.python) this.showPython(true);
    if (!seen) this.show(start - 6 * span, end + 6 * span);
    this.select(slice);
    const box = this.boxOf(slice), at = this.canvas.getBoundingClientRect();
    const y = box ? at.top + box.top : at.top;
    if (y < RULER || y > window.innerHeight * 0.5) window.scrollBy({top: y - window.innerHeight * 0.3});
  }

  setRange(range) {
    this.range = range && (range[0] <= range[1] ? range : [range[1], range[0]]);
    if (range) this.selected = null;
    this.tell('range');
    this.repaint();
  }

  /* The next (1) or previous (-1) slice of the selected one's row. */
  step(by) {
    if (!this.selected) return;
    const lane = this.selected.lane, row = lane.rows[this.rowOf(this.selected)], k = row ? row.indexOf(this.selected.i) + by : -1;
    if (k >= 0 && k < row.length) this.reveal({lane, i: row[k]});
  }

  focusSelection() {
    if (this.range) this.show(this.range[0], this.range[1]);
    if (!this.selected) return;
    const start = this.selected.lane.starts[this.selected.i], end = this.selected.lane.ends[this.selected.i];
    this.show(start - (end - start) * 0.1, end + (end - start) * 0.1);
  }

  markSelection() {
    if (this.selected) this.setRange([this.selected.lane.starts[this.selected.i], this.selected.lane.ends[this.selected.i]]);
  }
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

const ZOOM_STEP = 1.3, PAN_STEP = 0.12;

const TIMELINE_KEYS = {
  w: (view) => view.zoom(1 / ZOOM_STEP, view.pointer),
  s: (view) => view.zoom(ZOOM_STEP, view.pointer),
  a: (view) => view.pan(-PAN_STEP),
  d: (view) => view.pan(PAN_STEP),
  arrowleft: (view) => view.pan(-PAN_STEP),
  arrowright: (view) => view.pan(PAN_STEP),
  '+': (view) => view.zoom(1 / ZOOM_STEP, view.pointer),
  '-': (view) => view.zoom(ZOOM_STEP, view.pointer),
  f: (view) => view.focusSelection(),
  m: (view) => view.markSelection(),
  '.': (view) => view.step(1),
  ',': (view) => view.step(-1),
  0: (view) => view.show(0, view.data.span_ns),
  '/': (view) => view.body.parentNode.querySelector('input[type=search]').focus(),
  escape: (view) => {
    if (!view.selected && !view.range) view.body.blur(); /* the wheel is the page's again */
    view.selected = null;
    view.setRange(null);
  },
};

function handleKeys(view) {
  view.body.addEventListener('keydown', (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? null : TIMELINE_KEYS[event.key.toLowerCase()];
    if (!act || event.target.tagName === 'BUTTON' && event.key === 'Enter') return;
    event.preventDefault();
    act(view);
  });
}

/* --- pointer ------------------------------------------------------------------------------------------------------ */

function handleWheel(view) {
  view.canvas.addEventListener('wheel', (event) => {
    const focused = view.body.contains(document.activeElement);
    if (!event.ctrlKey && !focused) return; /* the page scrolls */
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      view.pan((event.deltaX || event.deltaY) / view.width);
      return;
    }
    view.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.005), event.offsetX);
  }, {passive: false});
}

function handleHover(view) {
  const tip = document.createElement('div');
  tip.className = 'tl-tip';
  tip.hidden = true;
  view.body.appendChild(tip);
  view.canvas.addEventListener('pointermove', (event) => {
    view.pointer = event.offsetX;
    const slice = view.drag || event.pointerType === 'touch' ? null : view.slice(event.offsetX, event.offsetY);
    tip.hidden = !slice;
    if (!slice) return;
    tip.textContent = view.data.nameOf(slice.lane, slice.i) + ' — ' + showTime(slice.lane.ends[slice.i] - slice.lane.starts[slice.i]);
    tip.style.left = Math.min(event.clientX + 14, window.innerWidth - Math.min(tip.offsetWidth, 460) - 8) + 'px';
    tip.style.top = event.clientY + 18 + 'px';
  });
  view.canvas.addEventListener('pointerleave', () => {
    view.pointer = null;
    tip.hidden = true;
  });
}

const CLICK_PIXELS = 4;

/* A drag pans; with Shift, or in the ruler, it selects a range. Two fingers zoom. A click selects a slice. */
function handleDrag(view) {
  const fingers = new Map();
  view.canvas.addEventListener('pointerdown', (event) => {
    fingers.set(event.pointerId, event.offsetX);
    view.canvas.setPointerCapture(event.pointerId);
    view.body.focus({preventScroll: true});
    view.drag = {
      x: event.offsetX, y: event.offsetY, from: view.from, to: view.to, moved: false,
      ranges: event.shiftKey || event.offsetY < RULER, fingers: Array.from(fingers.values()),
    };
  });
  view.canvas.addEventListener('pointermove', (event) => {
    const drag = view.drag;
    if (!drag) return;
    fingers.set(event.pointerId, event.offsetX);
    if (Math.abs(event.offsetX - drag.x) > CLICK_PIXELS || drag.fingers.length > 1) drag.moved = true;
    if (!drag.moved) return;
    view.canvas.classList.add('drags');
    if (drag.fingers.length === 2) pinch(view, drag, Array.from(fingers.values()));
    else if (drag.ranges) view.setRange([view.at(drag.x), view.at(event.offsetX)]);
    else {
      const moved = (event.offsetX - drag.x) / view.width * (drag.to - drag.from);
      view.show(drag.from - moved, drag.to - moved);
    }
  });
  const end = (event) => {
    fingers.delete(event.pointerId);
    view.canvas.classList.remove('drags');
    if (view.drag && !view.drag.moved && event.type === 'pointerup') {
      view.range = null;
      view.select(view.slice(event.offsetX, event.offsetY));
    }
    view.drag = null;
  };
  view.canvas.addEventListener('pointerup', end);
  view.canvas.addEventListener('pointercancel', end);
  view.canvas.addEventListener('dblclick', (event) => {
    if (view.slice(event.offsetX, event.offsetY)) view.focusSelection();
    else view.show(0, view.data.span_ns);
  });
}

function pinch(view, drag, now) {
  const apart = Math.max(10, Math.abs(now[0] - now[1])), before = Math.max(10, Math.abs(drag.fingers[0] - drag.fingers[1]));
  const span = (drag.to - drag.from) * before / apart, middle = (drag.fingers[0] + drag.fingers[1]) / 2;
  const held = drag.from + middle / view.width * (drag.to - drag.from), left = held - (now[0] + now[1]) / 2 / view.width * span;
  view.show(left, left + span);
}

function handleWindow(view) {
  const scheme = window.matchMedia('(prefers-color-scheme: dark)');
  window.addEventListener('resize', () => view.resize());
  window.addEventListener('scroll', () => view.repaint(), {passive: true});
  scheme.addEventListener('change', () => {
    view.colors = null;
    view.repaint();
  });
  const print = (whole) => () => {
    view.colors = null; /* paper is light */
    view.resize(whole);
  };
  window.addEventListener('beforeprint', print(true));
  window.addEventListener('afterprint', print(false));
}
