// Deciding in the browser. Label, reason and decision are taken the moment a key goes down, for the item that is shown;
// a decision stays in an outbox until the server says that it is on the disk.
//
// The server's snapshot, the outbox and what was put off are the whole state.

const RESEND_MS = 2000;
const RESUME_MS = 5000;
const READS = new Set(['help', 'evidence', 'unfold']); // what needs no campaign that takes decisions
const HELP = 'Keys do nothing while you type in a field. A decision belongs to the item that is shown when the key is pressed.';

export default function (component) {
  const root = component.parentElement.querySelector('.cw-decide');
  const deciding = (root.cwDeciding ??= new Deciding(root));
  deciding.attach(component);
  return () => deciding.detach();
}

class Deciding {
  constructor(root) {
    this.root = root;
    this.client = [...crypto.getRandomValues(new Uint8Array(8))].map(byte => byte.toString(16).padStart(2, '0')).join('');
    this.outbox = [];
    this.refused = []; // decisions that the server does not take, each with why
    this.late = []; // items put off, in this order
    this.cards = new Map();
    this.evidence = new Map();
    this.drafts = new Map(); // item to the label and reason that are chosen and not yet saved
    this.mood = {evidence: true, unfolded: false};
    this.count = 0;
    this.keys = new Keymap(root, () => this.keys?.paint(), () => this.send());
    this.onKey = event => this.key(event);
    this.onLeave = event => this.outbox.length && event.preventDefault();
    root.addEventListener('click', event => this.click(event));
    root.querySelector('form').addEventListener('submit', event => event.preventDefault());
    this.field('by').addEventListener('change', () => (this.useKeys(), this.send()));
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  field(name) {
    return this.find(`input[name=${name}]`);
  }

  attach(component) {
    this.component = component;
    this.keys.attach();
    document.addEventListener('keydown', this.onKey);
    addEventListener('beforeunload', this.onLeave);
    clearInterval(this.timer);
    this.timer = setInterval(() => this.look(), 500);
    this.restored ??= this.restore(component.data?.desk);
    this.restored.then(() => this.receive(component.data));
  }

  detach() {
    this.keys.detach();
    document.removeEventListener('keydown', this.onKey);
    removeEventListener('beforeunload', this.onLeave);
    clearInterval(this.timer);
  }

  // What an earlier tab could not send.
  async restore(desk) {
    this.device = new Device(desk);
    try {
      this.storage = await Outbox.open();
      this.outbox = (await this.storage.acts(desk)).filter(act => act.made === desk.made);
      this.device.isPast(...this.outbox.map(act => act.number ?? 0));
    } catch (error) {
      console.warn('decisions are not kept in the browser:', error);
    }
  }

  async store(write) {
    try {
      if (this.storage) await write(this.storage);
    } catch (error) {
      console.warn('decisions are not kept in the browser:', error);
      this.storage = null;
    }
  }

  receive(data) {
    if (!data || data === this.received) return;
    const isFirst = !this.received;
    this.received = data;
    const arrived = this.outbox.filter(act => data.saved.includes(act.event) || act.event in data.refused);
    this.refused.push(...arrived.filter(act => act.event in data.refused).map(act => ({...act, why: data.refused[act.event]})));
    this.outbox = this.outbox.filter(act => !arrived.includes(act));
    this.hasSaved ||= arrived.length > 0;
    if (arrived.length) this.store(storage => storage.drop(arrived.map(act => act.event)));
    if (!this.outbox.length) this.waitingSince = null;
    for (const [item, html] of Object.entries(data.cards)) this.cards.set(item, html);
    for (const [item, html] of Object.entries(data.evidence)) this.evidence.set(item, html);
    this.root.removeAttribute('data-empty');
    if (data.by) this.field('by').parentElement.hidden = true;
    if (isFirst && !data.by) this.field('by').value = data.typed_by;
    this.paintChoices();
    this.useKeys();
    this.keys.sync(data.keys);
    if (isFirst && this.outbox.length) this.send();
    this.paint();
  }

  useKeys() {
    const {labels, reasons, by} = this.received;
    this.keys.use(by || this.field('by').value.trim(), [
      ...labels.map(({code, key, word}) => ({name: `label-${code}`, key, words: word})),
      ...reasons.map(({code, key, word}) => ({name: `why-${code}`, key, words: word})),
      {name: 'save', key: 'Enter', words: 'save the decision and show the next item'},
      {name: 'later', key: 's', words: 'put the item off: the next one first'},
      {name: 'evidence', key: 'd', words: 'show or hide the evidence'},
      {name: 'unfold', key: 'e', words: 'unfold all of the evidence, or fold it again'},
      {name: 'help', key: '?', words: 'show this list'},
    ]);
    this.keys.paint();
  }

  // What is to be decided now, in order, without what was decided a moment ago.
  queue() {
    const decided = new Set(this.outbox.map(act => act.item));
    const open = this.received.queue.filter(item => !decided.has(item));
    return [...open.filter(item => !this.late.includes(item)), ...this.late.filter(item => open.includes(item))];
  }

  draft() {
    if (!this.drafts.has(this.shown)) this.drafts.set(this.shown, {label: null, reason: null});
    return this.drafts.get(this.shown);
  }

  do(name) {
    if (!this.received) return;
    if (name === 'help') return this.keys.open(HELP);
    if (!READS.has(name) && !this.isTaken()) return;
    const [what, code] = name.split(/-(.*)/);
    if (what === 'label') return this.choose('label', code);
    if (what === 'why') return this.choose('reason', code);
    switch (name) {
      case 'save': return this.save();
      case 'later': return this.putOff();
      case 'evidence': return this.toggleEvidence();
      case 'unfold': return this.unfold();
    }
  }

  // Whether a key counts now; one that does not is said to be lost.
  isTaken() {
    if (this.received.locked) this.tell('The campaign is locked: nothing was decided.');
    else if (!this.shown) this.tell('');
    else if (!this.cards.has(this.shown)) this.tell('The item is still loading: that key did nothing.');
    else return true;
    return false;
  }

  choose(what, code) {
    this.draft()[what] = code;
    this.tell('');
    this.paintChosen();
  }

  save() {
    const {label, reason} = this.draft();
    const by = this.received.by || this.field('by').value.trim();
    if (!label || !reason || !by) return this.tell('A decision needs a label, a reason, and who decides.');
    const event = `${this.client}-${Date.now().toString(36)}-${(this.count++).toString(36).padStart(5, '0')}`;
    const note = this.field('note').value.trim();
    const made = {submitted_at: new Date().toISOString(), ...this.device.next()};
    const act = {event, item: this.shown, label, reason, by, note, ...made, ...this.received.desk};
    this.outbox.push(act);
    this.store(storage => storage.keep([act]));
    this.drafts.delete(this.shown);
    this.late = this.late.filter(item => item !== this.shown);
    this.tell('');
    this.send();
    this.paint();
  }

  putOff() {
    if (this.queue().length < 2) return this.tell('There is no other item to decide.');
    this.late = [...this.late.filter(item => item !== this.shown), this.shown];
    this.tell('');
    this.send();
    this.paint();
  }

  toggleEvidence() {
    this.mood.evidence = !this.mood.evidence;
    this.paintEvidence();
    if (this.mood.evidence) this.reveal();
  }

  unfold() {
    this.mood.unfolded = !this.mood.evidence || !this.mood.unfolded;
    this.mood.evidence = true;
    this.paintEvidence();
    this.reveal();
  }

  reveal() {
    const part = this.find('.cw-desk-evidence');
    if (part.getBoundingClientRect().top > innerHeight * 0.6) part.scrollIntoView({block: 'start'});
  }

  key(event) {
    const {target} = event;
    if (event.ctrlKey || event.metaKey || event.repeat || !this.root.isConnected || this.keys.isOpen()) return;
    const isField = target.closest?.('input, textarea, select, [contenteditable=true], [role=textbox]');
    const isOurs = isField && this.root.contains(target) && event.key === 'Enter';
    if (isField && !isOurs) return;
    if (['Enter', ' '].includes(event.key) && target.closest?.('button, a, summary')) return; // it presses that
    if (document.querySelector('[role=dialog]:not([data-testid=stDialog] *)')) return;
    const name = this.keys.named(event);
    if (!name) return;
    event.preventDefault();
    if (isField) target.blur();
    this.do(name);
  }

  click(event) {
    const button = event.target.closest('button[data-act]');
    if (!button) return;
    this.do(button.dataset.act);
    if (event.detail) button.blur(); // a click of the mouse; else Enter would press it again
  }

  // The whole outbox goes, every time: a message that never arrives costs nothing.
  send() {
    this.sentAt = Date.now();
    if (this.outbox.length) this.waitingSince ??= this.sentAt;
    this.component.setStateValue('sent', {
      client: this.client, n: this.count++, decisions: this.outbox, have: [...this.cards.keys()], late: this.late,
      evidence: [...this.evidence.keys()], by: this.field('by').value.trim(),
      keys: this.keys.unsent(),
    });
  }

  // A server that was started again knows this fragment only after a run of the whole page.
  look() {
    if (!this.received) return;
    const waits = this.outbox.length || this.keys.unsent();
    if (waits && Date.now() - this.sentAt > RESEND_MS) this.send();
    if (waits && Date.now() - Math.max(this.waitingSince ?? this.keys.since, this.resumedAt ?? 0) > RESUME_MS) {
      this.resumedAt = Date.now();
      document.querySelector('.st-key-decide_resume button')?.click();
    }
    this.paintSaved();
  }

  paint() {
    const item = this.queue()[0] ?? null;
    const html = item === null ? this.ending() : this.cards.get(item) ?? '<p class="cw-dim">Loading the next item …</p>';
    const card = this.find('.cw-desk-card');
    if (card.cwHtml !== html) card.innerHTML = card.cwHtml = html;
    if (item !== this.shown) this.show(item);
    this.root.dataset.item = item ?? '';
    this.find('.cw-decide-form').hidden = item === null || Boolean(this.received.locked);
    this.find('.cw-decide-before').textContent = this.received.decided[item] ?? '';
    this.paintCount();
    this.paintChosen();
    this.paintEvidence();
    this.paintSaved();
  }

  show(item) {
    const isFirst = this.shown === undefined;
    this.shown = item;
    this.field('note').value = '';
    const box = this.find('.cw-code');
    const crash = this.find('.cw-code .cw-crash');
    if (crash) box.scrollTop = crash.offsetTop - box.offsetTop - box.clientHeight / 2;
    if (isFirst) return;
    this.find('.cw-desk-live').textContent = item ? `Next item. ${this.find('.cw-error')?.textContent ?? ''}` : 'Nothing is left to decide.';
    this.root.closest('[data-testid=stMain]')?.scrollTo({top: 0});
  }

  ending() {
    return `<p class="cw-desk-end">${this.outbox.length ? 'Saving …' : 'No disagreements to resolve.'}</p>`;
  }

  paintCount() {
    const {n_waiting, n_all, waiting} = this.received;
    const now = this.outbox.filter(act => waiting.includes(act.item)).length;
    const words = this.received.locked || `${n_waiting - now} of ${n_all} wait for a decision`;
    if (this.find('.cw-decide-left').textContent !== words) this.find('.cw-decide-left').textContent = words;
  }

  paintChoices() {
    const {labels, reasons} = this.received;
    const told = JSON.stringify([labels, reasons]);
    if (told === this.choices) return;
    this.choices = told;
    const button = (what, {code, key, word, style = ''}) => `<button type="button" data-act="${what}-${escaped(code)}" aria-pressed="false"
      class="${style ? 'cw-answer' : ''}" style="${escaped(style)}"><kbd>${escaped(key)}</kbd> ${escaped(word)}</button>`;
    this.find('.cw-decide-labels').innerHTML = `<b>Label</b> ${labels.map(label => button('label', label)).join(' ')}`;
    this.find('.cw-decide-reasons').innerHTML = `<b>Reason</b> ${reasons.map(reason => button('why', reason)).join(' ')}`;
  }

  paintChosen() {
    const {label, reason} = this.drafts.get(this.shown) ?? {};
    for (const button of this.root.querySelectorAll('[data-act^=label-], [data-act^=why-]')) {
      const isChosen = [`label-${label}`, `why-${reason}`].includes(button.dataset.act);
      button.setAttribute('aria-pressed', String(isChosen));
    }
  }

  paintEvidence() {
    const place = this.find('.cw-desk-evidence');
    const {evidence, unfolded} = this.mood;
    place.hidden = !evidence || !this.shown;
    this.find('[data-act=evidence]').setAttribute('aria-expanded', String(evidence));
    this.find('[data-act=unfold]').setAttribute('aria-pressed', String(unfolded));
    const body = this.find('.cw-desk-evidence-body');
    const html = this.evidence.get(this.shown) ?? '<p class="cw-dim">Loading …</p>';
    if (body.cwHtml === html && body.cwUnfolded === unfolded) return;
    body.innerHTML = body.cwHtml = html;
    body.cwUnfolded = unfolded;
    if (unfolded) for (const part of body.querySelectorAll('details')) part.open = true;
  }

  paintSaved() {
    const place = this.find('.cw-desk-saved');
    const n = this.outbox.length;
    const late = n && Date.now() - this.waitingSince > 2 * RESEND_MS;
    const decisions = n === 1 ? '1 decision' : `${n} decisions`;
    const words = late ? `${decisions} waiting to be saved` : n ? 'saving …' : this.hasSaved ? 'saved' : '';
    if (place.textContent !== words) place.textContent = words;
    place.dataset.state = late ? 'late' : n ? 'saving' : 'saved';
    const whys = [...new Set(this.refused.map(act => act.why))];
    const told = [...(whys.length ? [`Not saved: ${whys.join(' ')}`] : []), ...(n && this.received.trouble ? [this.received.trouble] : [])].join(' ');
    const notice = this.find('.cw-desk-notice');
    notice.hidden = !told;
    if (notice.firstElementChild.textContent !== told) notice.firstElementChild.textContent = told;
  }

  tell(words) {
    this.find('.cw-decide-told').textContent = words;
  }
}
