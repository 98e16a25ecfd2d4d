/* Tables: sorted by a click on a heading, filtered where they are long, shown as cards on narrow screens. */

document.documentElement.classList.add('js');

function sortKey(cell) {
  const value = parseFloat(cell.getAttribute('data-v'));
  return isNaN(value) ? -Infinity : value;
}

function sortTable(table, column, heading) {
  const body = table.tBodies[0], rows = Array.from(body.rows);
  const shown = rows.filter((row) => !row.classList.contains('more')).length;
  const numeric = heading.classList.contains('n'), was = heading.getAttribute('aria-sort');
  const down = was ? was === 'ascending' : numeric, sign = down ? -1 : 1;
  rows.sort((a, b) => {
    const x = a.cells[column], y = b.cells[column];
    if (!numeric) return sign * x.textContent.localeCompare(y.textContent);
    return sortKey(x) === sortKey(y) ? 0 : sortKey(x) < sortKey(y) ? -sign : sign;
  });
  rows.forEach((row, i) => {
    row.classList.toggle('more', i >= shown);
    body.appendChild(row);
  });
  table.querySelectorAll('th').forEach((other) => other.removeAttribute('aria-sort'));
  heading.setAttribute('aria-sort', down ? 'descending' : 'ascending');
}

function makeSortable(table) {
  table.querySelectorAll('thead th').forEach((heading, column) => {
    heading.classList.add('sorts');
    heading.tabIndex = 0;
    heading.addEventListener('click', () => sortTable(table, column, heading));
    heading.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      sortTable(table, column, heading);
    });
  });
}

/* A filter looks at all rows, those that are folded away too. */
const LONG_TABLE = 40;

function makeFilterable(table) {
  const rows = Array.from(table.tBodies[0].rows);
  if (rows.length < LONG_TABLE) return;
  const input = document.createElement('input'), block = table.closest('.table');
  const all = block && block.querySelector('input.all');
  input.type = 'search';
  input.className = 'filter';
  input.placeholder = 'Filter ' + rows.length + ' rows';
  input.setAttribute('aria-label', input.placeholder);
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase();
    if (all && words) all.checked = true;
    rows.forEach((row) => {
      const text = row.textContent + ' ' + Array.from(row.cells, (cell) => cell.title).join(' ');
      row.classList.toggle('filtered', words !== '' && !text.toLowerCase().includes(words));
    });
  });
  table.parentNode.parentNode.insertBefore(input, table.parentNode);
}

/* From so many columns on a narrow screen shows a card a row. */
const WIDE_TABLE = 3;

function makeCards(table) {
  const titles = Array.from(table.querySelectorAll('thead th'), (heading) => heading.textContent);
  if (titles.length < WIDE_TABLE) return;
  table.parentNode.classList.add('cards');
  Array.from(table.rows).forEach((row) => {
    Array.from(row.cells).forEach((cell, column) => {
      if (cell.tagName === 'TD') cell.setAttribute('data-label', titles[column] || '');
      if (/^\d+$/.test(cell.textContent.trim())) cell.classList.add('number');
    });
  });
}

document.querySelectorAll('main table').forEach((table) => {
  if (!table.tBodies.length) return;
  makeSortable(table);
  makeFilterable(table);
  makeCards(table);
});
