// The bar: finder, copied link, help, who is logged in. The finder asks the server at each pause of typing.

const SHOWN_MS = 1500;
const TYPING_MS = 120;
const EVERYWHERE = [
  ['Ctrl K', 'find a page, case, run or campaign (⌘ K on a Mac, or /)'],
  ['?', 'show this list'],
  ['R', 'run the page again'],
  ['Tab', 'next control; Enter or Space uses it'],
];
const PRINTED = {escape: 'Esc', ' ': 'Space'};

export default function (component) {
  const root = component.parentElement.querySelector('.cw-tools');
  const help = root.querySelector('#cw-help');
  const finder = (root.cwFinder ??= new Finder(root));
  finder.receive(component);
  explain(root.querySelector('.cw-terms'), component.data.terms);
  introduce(root, component.data.who);
  drawViews(root, component);
  root.querySelector('.cw-docs').href = component.data.help;
  root.querySelector('.cw-copy').onclick = event => copy(event.currentTarget);
  root.querySelector('.cw-find').onclick = () => finder.open();
  help.onbeforetoggle = event => event.newState === 'open' && explain(help.querySelector('.cw-keys'), keysOfPage());
  const onKey = event => {
    const isFind = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k';
    const isAlone = !event.ctrlKey && !event.metaKey && !event.altKey && !isWriting(event.target);
    if (isFind || (isAlone && event.key === '/')) {
      event.preventDefault();
      finder.open();
    } else if (isAlone && event.key === '?' && !hasOwnList()) {
      event.preventDefault();
      help.togglePopover();
    }
  };
  namePage();
  // Streamlit draws the bar again on each page and does not always end the one before.
  document.removeEventListener('keydown', window.craneBarKey);
  window.craneBarKey = onKey;
  document.addEventListener('keydown', onKey);
}

// A narrow screen folds the menu away, or its end: the button there says which page is open.
function namePage() {
  const name = location.pathname.split('/').pop().replace(/[^a-z_]/g, '').replaceAll('_', ' ') || 'overview';
  const shown = `${name[0].toUpperCase()}${name.slice(1)}`;
  document.documentElement.style.setProperty('--cw-page', JSON.stringify(shown));
}

function isWriting(target) {
  return target.closest?.('input, textarea, select, [contenteditable=true]') != null;
}

// Where people label and decide, "?" opens the list in which the keys can be changed.
function hasOwnList() {
  return document.querySelector('dialog.cw-desk-keys') != null;
}

// Every control of the page that has a key prints it or names it: they are the list.
function keysOfPage() {
  const found = new Map();
  for (const control of document.querySelectorAll('[data-testid=stMain] :is(button:has(kbd), [aria-keyshortcuts], [data-keys])')) {
    if (control.closest('.cw-tools') || control.disabled || !control.checkVisibility()) continue;
    const kbd = control.querySelector('kbd');
    const key = control.dataset.keys ?? kbd?.textContent.trim() ?? control.getAttribute('aria-keyshortcuts');
    if (key && !found.has(key)) found.set(PRINTED[key.toLowerCase()] ?? key, wordsOf(control));
  }
  return [...found, ...EVERYWHERE];
}

function wordsOf(control) {
  const said = control.dataset.keysFor ?? control.getAttribute('aria-label');
  if (said) return said;
  const copied = control.cloneNode(true);
  // Icons are words to the font that draws them.
  for (const part of copied.querySelectorAll('kbd, [data-testid=stIconMaterial], svg')) part.remove();
  return copied.textContent.trim();
}

function made(name, text, attributes = {}) {
  const element = Object.assign(document.createElement(name), {textContent: text});
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function explain(list, terms) {
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

// The server keeps the list; a name that is being typed stays when the list is drawn again.
function drawViews(root, {data, setTriggerValue}) {
  const place = root.querySelector('#cw-saved');
  const [form, field, list] = ['form', 'input', 'ul'].map(name => place.querySelector(name));
  const save = form.querySelector('button');
  const ask = (act, values) => setTriggerValue('asked', {view: act, ...values});
  const beginWith = (name, renamed) => {
    field.value = name;
    form.dataset.renamed = renamed;
    save.textContent = renamed ? 'Rename' : 'Save this view';
  };
  form.hidden = !data.views.canSave;
  form.onsubmit = event => {
    event.preventDefault();
    const name = field.value.trim();
    const {renamed} = form.dataset;
    if (!name) return;
    if (renamed) ask('rename', {name: renamed, title: name});
    else ask('save', {name});
    beginWith(name, '');
  };
  place.onbeforetoggle = event => event.newState === 'open' && beginWith(document.title.split(' · ')[0], '');
  place.querySelector('p').textContent = data.views.said || (data.views.saved.length ? '' : 'No view is saved yet.');
  list.replaceChildren(...data.views.saved.map(([name, address]) => {
    const item = document.createElement('li');
    const link = made('a', name, {href: `./${address}`});
    link.onclick = event => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // its own link: another tab
      event.preventDefault();
      place.hidePopover();
      setTriggerValue('asked', {address});
    };
    item.append(link);
    if (!data.views.canSave) return item;
    const rename = made('button', 'Rename', {type: 'button', 'aria-label': `Rename ${name}`});
    rename.onclick = () => (beginWith(name, name), field.focus(), field.select());
    const remove = made('button', 'Remove', {type: 'button', 'aria-label': `Remove ${name}`});
    remove.onclick = () => ask('remove', {name});
    item.append(rename, remove);
    return item;
  }));
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

class Finder {
  constructor(root) {
    this.dialog = root.querySelector('.cw-finder');
    this.field = this.dialog.querySelector('input');
    this.list = this.dialog.querySelector('[role=listbox]');
    this.status = this.dialog.querySelector('[role=status]');
    this.chosen = -1;
    this.field.oninput = () => this.type();
    this.field.onkeydown = event => this.key(event);
    this.list.onclick = event => this.click(event);
    this.dialog.onclick = event => event.target === this.dialog && this.dialog.close();
  }

  // hits: {of: the words, groups: [[kind, [[name, about, address], ...]], ...]}; of other words than those typed: late.
  receive({data, setTriggerValue}) {
    this.send = value => setTriggerValue('asked', value);
    if (data.hits.of === '') this.atRest = data.hits;
    if (data.hits.of === this.text()) this.draw(data.hits);
    // A run of the page that began meanwhile took the place of the one that would have answered.
    else if (this.dialog.open && this.text()) this.type();
  }

  text() {
    return this.field.value.trim();
  }

  open() {
    if (this.dialog.open) return;
    this.field.value = '';
    this.draw(this.atRest);
    this.dialog.showModal();
    this.field.focus();
  }

  type() {
    clearTimeout(this.timer);
    if (!this.text()) return this.draw(this.atRest);
    this.timer = setTimeout(() => this.send({text: this.text()}), TYPING_MS);
  }

  draw(hits) {
    this.drawn = hits.of;
    this.list.replaceChildren(...hits.groups.map(([kind, places], place) => {
      const group = made('div', '', {role: 'group', 'aria-labelledby': `cw-hits-${place}`});
      group.append(made('div', kind, {id: `cw-hits-${place}`, class: 'cw-hits-kind'}));
      for (const [name, about, address] of places) {
        const option = made('a', '', {role: 'option', href: `./${address}`, tabindex: '-1', 'aria-selected': 'false'});
        option.append(made('span', name), ' ', made('span', about, {class: 'cw-dim'}));
        group.append(option);
      }
      return group;
    }));
    this.options().forEach((option, place) => { option.id = `cw-hit-${place}`; });
    this.choose(hits.of && this.options().length ? hits.best : -1);
    const n = this.options().length;
    this.status.textContent = n ? '' : 'Nothing has this name.';
  }

  options() {
    return [...this.list.querySelectorAll('[role=option]')];
  }

  choose(place) {
    const options = this.options();
    options[this.chosen]?.setAttribute('aria-selected', 'false');
    this.chosen = place;
    const option = options[place];
    option?.setAttribute('aria-selected', 'true');
    option?.scrollIntoView({block: 'nearest'});
    if (option) this.field.setAttribute('aria-activedescendant', option.id);
    else this.field.removeAttribute('aria-activedescendant');
  }

  key(event) {
    const n = this.options().length;
    const steps = {ArrowDown: 1, ArrowUp: -1};
    if (event.key in steps && n) {
      event.preventDefault();
      const from = this.chosen < 0 && event.key === 'ArrowUp' ? 0 : this.chosen;
      this.choose((from + steps[event.key] + n) % n);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      this.enter();
    }
  }

  // Before the answer is there, the server chooses what is meant.
  enter() {
    clearTimeout(this.timer);
    const option = this.drawn === this.text() ? this.options()[this.chosen] : null;
    if (option) this.go(option);
    else if (this.text() && this.drawn !== this.text()) {
      this.send({text: this.text(), open: true});
      this.dialog.close();
    }
  }

  click(event) {
    const option = event.target.closest('[role=option]');
    if (!option || event.ctrlKey || event.metaKey || event.shiftKey) return; // its own link: another tab
    event.preventDefault();
    this.go(option);
  }

  go(option) {
    this.dialog.close();
    this.send({address: option.getAttribute('href').slice(2)});
  }
}
