// Search, copy and glossary of the bar. A search is sent to the server, which knows where it leads.

const SHOWN_MS = 1500;

export default function (component) {
  const root = component.parentElement.querySelector('.cw-tools');
  const field = root.querySelector('input');
  fill(root.querySelector('datalist'), component.data.cases);
  explain(root.querySelector('dl'), component.data.terms);
  introduce(root, component.data.who);
  root.querySelector('.cw-help').href = component.data.help;
  root.querySelector('form').onsubmit = event => {
    event.preventDefault();
    const text = field.value.trim();
    if (text) component.setTriggerValue('search', text);
    field.value = '';
    field.blur();
  };
  root.querySelector('.cw-copy').onclick = event => copy(event.currentTarget);
  const toField = event => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
    event.preventDefault();
    field.focus();
  };
  document.addEventListener('keydown', toField);
  return () => document.removeEventListener('keydown', toField);
}

function isWriting(target) {
  return target.closest?.('input, textarea, select, [contenteditable=true]') != null;
}

function fill(list, cases) {
  if (list.dataset.n === String(cases.length)) return;
  list.dataset.n = cases.length;
  list.replaceChildren(...cases.map(([value, label]) => Object.assign(new Option(label, value), {label})));
}

function explain(list, terms) {
  const made = (name, text) => Object.assign(document.createElement(name), {textContent: text});
  list.replaceChildren(...terms.flatMap(([term, meaning]) => [made('dt', term), made('dd', meaning)]));
}

function introduce(root, who) {
  const button = root.querySelector('.cw-who');
  button.hidden = !who;
  if (!who) return;
  const [name, email, role] = who;
  button.textContent = name;
  root.querySelector('#cw-visitor p').textContent = `${email}, ${role}`;
}

async function copy(button) {
  const told = button.querySelector('span');
  try {
    await navigator.clipboard.writeText(location.href);
    told.textContent = 'Copied';
  } catch {
    told.textContent = 'Copy the address bar';
  }
  setTimeout(() => { told.textContent = 'Copy link'; }, SHOWN_MS);
}
