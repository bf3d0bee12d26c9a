// One person's keys: which key does what, as chosen in a dialog, or that none does (WCAG 2.1.4).
//
// It knows actions by name, and keys as the browser tells them. What an action does is the page's. The server keeps the
// choice for the person's other browsers; this one has a copy, which holds while the server is away and is sent later.

const OF_THE_APP = {r: 'runs the page again', c: 'clears the cache'};
const OF_BUTTONS = new Set(['Enter', ' ', 'Tab', 'Escape']);
const ACTION = /^[a-z]{1,12}(-[a-z0-9-]{1,40})?$/;
const MODIFIERS = new Set(['Shift', 'Control', 'Alt', 'AltGraph', 'Meta', 'CapsLock', 'Dead', 'Process', 'Unidentified']);

class Keymap {
  // actions: {name, key, words}, the key being the default; `changed` is called when a hint is out of date, `send` when
  // `unsent` has something for the server.
  constructor(root, changed, send) {
    this.root = root;
    this.changed = changed;
    this.send = send;
    this.actions = [];
    this.person = '';
    this.chosen = {isOff: false, keys: {}};
    this.isUnsent = false; // the server does not have this choice yet
    this.n = 0; // which choice of this page it is
    this.since = 0; // when it was made
    this.kept = null; // what the server said last
    this.onStorage = event => event.key === this.place() && (this.load(), this.settle());
    this.notice = document.createElement('p');
    this.notice.className = 'cw-keys-notice';
    this.notice.setAttribute('role', 'status');
    this.notice.hidden = true;
    root.querySelector('.cw-desk-bar').after(this.notice);
    this.dialog = root.appendChild(document.createElement('dialog'));
    this.dialog.className = 'cw-desk-keys';
    this.dialog.setAttribute('aria-label', 'Keys');
    this.dialog.addEventListener('click', event => this.click(event));
    this.dialog.addEventListener('keydown', event => this.hear(event));
    this.dialog.addEventListener('cancel', event => this.asked && (event.preventDefault(), this.ask(null)));
    this.dialog.addEventListener('close', () => (this.asked = null));
  }

  attach() {
    addEventListener('storage', this.onStorage);
  }

  detach() {
    removeEventListener('storage', this.onStorage);
  }

  place() {
    return `crane-keys ${this.person}`;
  }

  // Whose keys, and what there is to do on this page.
  use(person, actions) {
    const told = JSON.stringify([person, actions]);
    if (told === this.told) return;
    this.told = told;
    const isOther = this.person !== person || !this.isLoaded;
    this.person = person;
    this.actions = actions;
    if (isOther) this.isUnsent = this.load()?.isUnsent === true;
    if (isOther) this.since = Date.now();
    this.isLoaded = true;
    this.settle();
  }

  // The choice as this browser has it; what cannot be read counts as none, and that is said.
  load() {
    let kept = null;
    this.say('');
    try {
      kept = JSON.parse(localStorage.getItem(this.place()) ?? 'null');
    } catch (error) {
      kept = error;
    }
    if (kept !== null && !isChoice(kept)) {
      console.warn('chosen keys cannot be read:', kept);
      this.say('The keys kept in this browser cannot be read, so the standard keys are on.');
      kept = null;
    }
    this.chosen = kept ? {isOff: kept.isOff, keys: kept.keys} : {isOff: false, keys: {}};
    return kept;
  }

  store() {
    try {
      localStorage.setItem(this.place(), JSON.stringify({...this.chosen, isUnsent: this.isUnsent}));
    } catch (error) {
      this.tell('This browser keeps nothing (a private window?): the keys hold until the page is closed.');
    }
  }

  keep() {
    this.isUnsent = true;
    this.n += 1;
    this.since = Date.now();
    this.say('');
    this.store();
    this.settle();
    if (this.unsent()) this.send();
  }

  // What the server does not have yet, to go with the next message.
  unsent() {
    return this.isUnsent && this.kept?.person === this.person ? {person: this.person, n: this.n, ...this.chosen} : null;
  }

  // What the server keeps: {person, chosen, trouble}, and of what was sent {n, refused}; nothing where it keeps none.
  // A choice that it does not have yet goes before; so does one from before servers kept them.
  sync(kept) {
    this.kept = kept ?? null;
    if (kept?.person !== this.person) return this.where();
    if (kept.refused && kept.n === this.n) this.say(kept.refused);
    if (this.isUnsent && kept.n === this.n && (kept.refused || isSame(kept.chosen, this.chosen))) {
      this.isUnsent = false;
      this.store();
    } else if (!this.isUnsent && !kept.refused) {
      this.adopt(kept);
    }
    this.where();
    if (this.isUnsent && kept.n !== this.n) this.send();
  }

  adopt({chosen, trouble}) {
    if (trouble) this.say(trouble);
    if (!chosen && !trouble) {
      this.isUnsent = !isSame(this.chosen, NOTHING);
      return;
    }
    if (chosen) this.say('');
    const now = isChoice(chosen) ? {isOff: chosen.isOff, keys: chosen.keys} : {isOff: false, keys: {}};
    if (isSame(now, this.chosen)) return;
    this.chosen = now;
    this.store();
    this.settle();
  }

  say(words) {
    this.notice.hidden = !words;
    if (this.notice.textContent !== words) this.notice.textContent = words;
  }

  // Where the keys are kept, in the dialog.
  where() {
    const place = this.dialog.querySelector('.cw-keys-where');
    if (place) place.textContent = this.whereInWords();
  }

  whereInWords() {
    const whose = `Keys are kept for ${this.person || 'everybody'}`;
    if (this.kept?.person !== this.person) return `${whose} in this browser.`;
    return this.isUnsent ? `${whose} in this browser; the server has not stored them yet.` : `${whose} on the server, for every browser.`;
  }

  // Action to key: a chosen key goes before a default.
  settle() {
    this.keys = new Map();
    const taken = new Set();
    const give = (name, key) => key && !taken.has(key) && this.keys.set(name, key) && taken.add(key);
    for (const {name} of this.actions) give(name, this.chosen.keys[name]);
    for (const {name, key} of this.actions) if (!(name in this.chosen.keys)) give(name, key);
    if (this.dialog.open) this.draw();
    this.changed();
  }

  works(key) {
    return Boolean(key) && (!this.chosen.isOff || key.length > 1);
  }

  // The key of an action as it is printed; nothing if it has none now.
  hint(name) {
    const key = this.keys.get(name);
    return this.works(key) ? printed(key) : '';
  }

  named(event) {
    const key = keyOf(event);
    if (!this.works(key)) return undefined;
    return [...this.keys].find(([, held]) => held === key)?.[0];
  }

  // Every button of the page says the key that it has now.
  paint() {
    for (const kbd of this.root.querySelectorAll('button[data-act] > kbd')) {
      const {act} = kbd.parentElement.dataset;
      if (!this.actions.some(({name}) => name === act)) continue;
      const hint = this.hint(act);
      if (kbd.textContent !== hint) kbd.textContent = hint;
      kbd.hidden = !hint;
      if (hint) kbd.parentElement.setAttribute('aria-keyshortcuts', hint);
      else kbd.parentElement.removeAttribute('aria-keyshortcuts');
    }
  }

  isOpen() {
    return this.dialog.open;
  }

  open(words = '') {
    this.words = words;
    this.draw();
    this.dialog.showModal();
  }

  close() {
    this.dialog.close();
  }

  draw() {
    const focused = this.dialog.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const {isOff} = this.chosen;
    this.dialog.innerHTML = `<h2>Keys</h2>
      <label class="cw-keys-all"><input type="checkbox" data-key="all"${isOff ? '' : ' checked'}> Single keys are on</label>
      <table><tbody>${this.actions.map(action => this.row(action)).join('')}</tbody></table>
      <p class="cw-keys-told" role="status"></p>
      <p class="cw-dim">${escaped(this.words ?? '')} <span class="cw-keys-where">${escaped(this.whereInWords())}</span></p>
      <div class="cw-keys-end"><button type="button" data-key="reset">Reset to default</button>
      <button type="button" data-key="close">Close</button></div>`;
    if (focused) this.dialog.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  row({name, words}) {
    const key = this.keys.get(name);
    const asks = this.asked === name;
    const now = key ? `now ${printed(key)}` : 'now off';
    return `<tr><th scope="row">${escaped(words)}</th>
      <td>${key ? `<kbd>${escaped(printed(key))}</kbd>` : '<span class="cw-dim">off</span>'}</td>
      <td><button type="button" data-key="change ${escaped(name)}" aria-label="${escaped(`Change the key: ${words}, ${now}`)}">
        ${asks ? 'Press a key …' : 'Change'}</button>
      <button type="button" data-key="off ${escaped(name)}" aria-pressed="${!key}"
        aria-label="${escaped(`Switch off the key: ${words}`)}">Off</button></td></tr>`;
  }

  tell(words) {
    const place = this.dialog.querySelector('.cw-keys-told');
    if (place) place.textContent = words;
  }

  click(event) {
    const [what, name] = (event.target.closest('[data-key]')?.dataset.key ?? '').split(' ');
    if (what === 'close') return this.close();
    if (what === 'reset') return this.reset();
    if (what === 'change') return this.ask(name);
    if (what === 'off') return this.set(name, this.keys.has(name) ? null : this.defaultOf(name));
    if (what !== 'all') return;
    this.chosen.isOff = !event.target.checked;
    this.keep();
  }

  defaultOf(name) {
    return this.actions.find(action => action.name === name)?.key;
  }

  reset() {
    this.asked = null;
    this.chosen = {isOff: false, keys: {}};
    this.keep();
    this.tell('All keys are as they were at first.');
  }

  ask(name) {
    this.asked = name;
    this.draw();
    this.tell(name ? 'Press the new key, alone or with Alt. Esc keeps the old one.' : '');
  }

  hear(event) {
    event.stopPropagation(); // while the dialog is open no key does anything else
    if (!this.asked || MODIFIERS.has(event.key)) return;
    event.preventDefault();
    const name = this.asked;
    if (event.key === 'Escape') return this.ask(null);
    const refusal = this.refusal(event, name);
    if (refusal) return this.tell(refusal);
    this.asked = null;
    this.set(name, keyOf(event));
  }

  refusal(event, name) {
    const key = keyOf(event);
    if (!key || !(isKey(key) || OF_BUTTONS.has(key) || OF_THE_APP[key])) return 'Choose a letter, a digit or a sign, alone or with Alt.';
    if (OF_BUTTONS.has(key) && key !== this.defaultOf(name)) return `${printed(key)} moves between buttons or presses one. Choose another key.`;
    if (OF_THE_APP[key]) return `${printed(key)} ${OF_THE_APP[key]} in this app. Choose another key.`;
    return this.taken(key, name);
  }

  taken(key, name) {
    const [other] = [...this.keys].find(([held, its]) => its === key && held !== name) ?? [];
    const words = this.actions.find(action => action.name === other)?.words;
    return other ? `${printed(key)} is the key of “${words}”. Choose another key, or change that one first.` : '';
  }

  set(name, key) {
    const refusal = key ? this.taken(key, name) : '';
    if (refusal) return this.tell(refusal);
    if (key === this.defaultOf(name)) delete this.chosen.keys[name];
    else this.chosen.keys[name] = key;
    this.keep();
    const {words} = this.actions.find(action => action.name === name);
    this.tell(key ? `${printed(key)} is now the key of “${words}”.` : `“${words}” has no key now; its button works.`);
  }
}

const NOTHING = {isOff: false, keys: {}};

// Whether this is a choice as this file makes it: the server checks the same (chosen_keys.py).
function isChoice(kept) {
  if (typeof kept?.isOff !== 'boolean' || !(kept.keys instanceof Object) || Array.isArray(kept.keys)) return false;
  return Object.entries(kept.keys).every(([name, key]) => ACTION.test(name) && (key === null || isKey(key)));
}

function isKey(key) {
  return typeof key === 'string' && (/^alt\+[a-z0-9]$/.test(key) || (/^\S$/u.test(key) && key === key.toLowerCase() && !OF_THE_APP[key]));
}

function isSame(one, other) {
  const told = choice => choice && JSON.stringify([choice.isOff, Object.entries(choice.keys).sort()]);
  return told(one) === told(other);
}

// A key by the name under which it is kept; with Alt by its place on the keyboard, where Alt writes other signs.
function keyOf(event) {
  if (event.ctrlKey || event.metaKey) return undefined;
  const digit = digitOf(event);
  if (event.altKey) {
    const [, placed] = /^(?:Key|Digit)([A-Z0-9])$/.exec(event.code ?? '') ?? [];
    return placed ? `alt+${placed.toLowerCase()}` : undefined;
  }
  return digit ?? (event.key.length === 1 ? event.key.toLowerCase() : event.key);
}

// The digit of a key, on keyboards too whose row of digits needs Shift.
function digitOf({key, code, shiftKey}) {
  return /^[1-9]$/.test(key) ? key : shiftKey ? undefined : /^Digit([1-9])$/.exec(code)?.[1];
}

function printed(key) {
  if (key === ' ') return 'Space';
  return key.startsWith('alt+') ? `Alt+${key.slice(4).toUpperCase()}` : key.length === 1 ? key.toUpperCase() : key;
}

function escaped(text) {
  return String(text).replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);
}
