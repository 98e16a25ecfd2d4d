/* Search: part of a name, /an expression/ or =a whole name. */

function matcher(query) {
  if (query.startsWith('=')) return (name) => name === query.slice(1);
  if (query.length > 2 && query.startsWith('/') && query.endsWith('/')) {
    try {
      const expression = new RegExp(query.slice(1, -1), 'i');
      return (name) => expression.test(name);
    } catch (error) {
      return () => false; /* as long as it is being typed */
    }
  }
  const words = query.toLowerCase();
  return (name) => name.toLowerCase().includes(words);
}

/* Whether something that encloses the slice is a hit, too: then its time is in that one's. */
function insideHit(lane, i, labels) {
  for (let at = lane.parents[i]; at >= 0; at = lane.parents[at]) if (labels[lane.labels[at]]) return true;
  return false;
}

function search(data, query) {
  const match = matcher(query), names = data.names.map((name) => name !== '' && match(name));
  const labels = data.labels.map((label) => names[label[0]]), found = [];
  let device = 0, host = 0;
  data.lanes.forEach((lane) => {
    for (let i = 0; i < lane.count; i++) {
      if (!labels[lane.labels[i]]) continue;
      found.push({lane, i});
      const ns = lane.ends[i] - lane.starts[i];
      if (lane.kind === 'stream') device += ns;
      else if (lane.kind === 'thread' && !insideHit(lane, i, labels)) host += ns;
    }
  });
  found.sort((a, b) => a.lane.starts[a.i] - b.lane.starts[b.i]);
  return {labels, found, device, host, at: -1};
}

class TimelineSearch {
  constructor(view, input, label) {
    this.view = view;
    this.input = input;
    this.label = label;
    let timer = 0;
    input.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.run(), 120);
    });
    input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      clearTimeout(timer);
      if (this.query !== input.value.trim()) this.run();
      this.next(event.shiftKey ? -1 : 1);
    });
  }

  run() {
    this.query = this.input.value.trim();
    this.view.hits = this.query ? search(this.view.data, this.query) : null;
    this.tell();
    this.view.repaint();
  }

  tell() {
    const hits = this.view.hits, times = [];
    if (!hits) {
      this.label.textContent = '';
      return;
    }
    if (hits.device) times.push(showTime(hits.device) + ' on streams');
    if (hits.host) times.push(showTime(hits.host) + ' on threads');
    const at = hits.at < 0 ? '' : (hits.at + 1).toLocaleString('en-US') + ' of ';
    this.label.textContent = at + hits.found.length.toLocaleString('en-US') + ' found' + (times.length ? ', ' + times.join(', ') : '');
  }

  /* From what is selected or seen on, and round again. */
  next(by) {
    const hits = this.view.hits;
    if (!hits || !hits.found.length) return;
    if (hits.at < 0 && by > 0) {
      const first = hits.found.findIndex((slice) => slice.lane.starts[slice.i] >= this.view.from);
      hits.at = first < 0 ? 0 : first;
    } else hits.at = (Math.max(hits.at, 0) + by + hits.found.length) % hits.found.length;
    this.view.reveal(hits.found[hits.at]);
    this.tell();
  }

  /* All slices of a name, beginning with the longest that is seen. */
  only(name) {
    this.input.value = '=' + name;
    this.run();
    const hits = this.view.hits, view = this.view;
    let best = -1, longest = -1;
    hits.found.forEach((slice, k) => {
      const start = slice.lane.starts[slice.i], ns = slice.lane.ends[slice.i] - start;
      const weight = ns + (start >= view.from && start < view.to ? 1e15 : 0) + (slice.lane.group.open ? 1e16 : 0);
      if (weight > longest) {
        longest = weight;
        best = k;
      }
    });
    if (best < 0) return;
    hits.at = best;
    view.reveal(hits.found[best]);
    this.tell();
  }
}
