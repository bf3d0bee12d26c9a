// The list of runs in the browser: a click on a row opens it, one on a box ticks it, one on a heading sorts.
// The HTML comes finished and escaped from the server; here it is only put in its place.

const worth = row => column => {
  const text = row.children[column].textContent;
  const number = Number.parseFloat(text.replaceAll(',', ''));
  return Number.isNaN(number) || /^\d{4}-/.test(text) ? text : number;
};

function sort(table, head) {
  const column = [...head.parentElement.children].indexOf(head);
  const sign = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
  for (const other of head.parentElement.children) other.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', sign > 0 ? 'ascending' : 'descending');
  const body = table.tBodies[0];
  const order = (one, other) => {
    const [a, b] = [worth(one)(column), worth(other)(column)];
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1; // without a number last
    return sign * (typeof a === 'number' ? a - b : a.localeCompare(b));
  };
  body.append(...[...body.rows].sort(order));
}

export default function ({data, parentElement, setStateValue, setTriggerValue}) {
  const root = parentElement.querySelector('.cw-run-list');
  if (root.cwHtml !== data.html) {
    root.innerHTML = root.cwHtml = data.html;
    root.cwTicked = new Set(data.ticked);
    for (const head of root.querySelectorAll('thead th')) head.innerHTML = `<button type="button">${head.innerHTML}</button>`;
    for (const box of root.querySelectorAll('input')) box.checked = root.cwTicked.has(box.value);
  }
  root.onchange = event => {
    root.cwTicked[event.target.checked ? 'add' : 'delete'](event.target.value);
    setStateValue('ticked', [...root.cwTicked]);
  };
  root.onclick = event => {
    const head = event.target.closest('thead th');
    if (head) return sort(head.closest('table'), head);
    if (event.target.closest('.cw-tick') || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest('a') ?? event.target.closest('tbody tr')?.querySelector('a');
    if (!link) return;
    event.preventDefault();
    setTriggerValue('asked', link.getAttribute('href'));
  };
}
