/* Flame graphs: laid out to the width there is; a click on a box widens it over the whole, and says its figures below. */

function openFlame(svg) {
  const BOX = 20, LETTER = 7.8;
  const boxes = Array.from(svg.querySelectorAll('g'), (g) => {
    const rect = g.querySelector('rect'), title = rect.querySelector('title').textContent;
    const [from, to] = g.dataset.at.split(' ').map(Number);
    const name = title.slice(0, title.lastIndexOf(': ')).replace(/^.*\/(?=[^\/]+\(\d+\): )/, '').replace(/^nn\.Module: /, '');
    return {g, rect, title, from, to, name, row: Number(rect.getAttribute('y')) / BOX};
  });
  const rows = boxes.reduce((most, b) => Math.max(most, b.row + 1), 0);
  const said = document.createElement('p');
  let root = null, width = 0;

  const label = (box, pixels) => {
    const room = Math.floor((pixels - 6) / LETTER);
    let text = box.g.querySelector('text');
    if (room < 4) return text && text.remove();
    if (!text) {
      text = document.createElementNS(svg.namespaceURI, 'text');
      text.setAttribute('class', 'on');
      text.setAttribute('y', box.row * BOX + 14);
      box.g.append(text);
    }
    text.textContent = box.name.length <= room ? box.name : box.name.slice(0, Math.ceil(room * 0.6) - 1) + '…' + box.name.slice(box.name.length - Math.floor(room * 0.4));
    return text;
  };
  const place = (box, from, span) => {
    const left = Math.max(0, (box.from - from) / span * width), right = Math.min(width, (box.to - from) / span * width);
    const hidden = right - left < 0.5;
    box.g.style.display = hidden ? 'none' : '';
    if (hidden) return;
    box.rect.setAttribute('x', left);
    box.rect.setAttribute('width', Math.max(right - left - 1, 0.5));
    const text = label(box, right - left);
    if (text) text.setAttribute('x', (left + right) / 2);
  };
  const draw = () => {
    width = svg.clientWidth || 760;
    svg.setAttribute('viewBox', '0 0 ' + width + ' ' + rows * BOX);
    const from = root ? root.from : 0, span = root ? root.to - root.from : 1;
    boxes.forEach((box) => {
      place(box, from, span);
      box.g.classList.toggle('around', Boolean(root) && box.row < root.row);
    });
    said.textContent = root ? root.title + '. A click on it shows the whole again.' : 'A click on a box widens it; the boxes above it stay.';
  };

  said.className = 'note';
  svg.after(said);
  svg.addEventListener('click', (event) => {
    const g = event.target.closest('g'), box = boxes.find((b) => b.g === g);
    if (!box) return;
    root = box === root ? null : box;
    draw();
  });
  new ResizeObserver(() => { if (svg.clientWidth !== width) draw(); }).observe(svg);
  draw();
}

document.querySelectorAll('svg.flame').forEach(openFlame);
