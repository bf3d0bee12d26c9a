// The labelling desk in the browser. It paints the next card the moment a key goes down and keeps every act in an
// outbox until the server says that it is on the disk, so no key waits for a save and none is lost on the way.
//
// The server's snapshot and the outbox together are the whole state: `view` plays the outbox on top of the snapshot.
// The outbox is in the browser's storage, too (outbox.js): the next tab sends what this one could not.

const IDLE_CAP_S = 300;
const RESEND_MS = 2000;
const LATE_MS = 4000;
const RESUME_MS = 5000;
const REASON_KEYS = {4: 'a', 5: 'b', 6: 'c', 7: 'd', 8: 'e', 9: 'f'};
const LABELS = {1: 'correct', 2: 'partial', 3: 'wrong'};
const SIGNS = {correct: '✓', partial: '◐', wrong: '✗'};
const STAYS = new Set(['flag', 'evidence', 'help', 'close']); // acts that leave a half-written note open
const LETTERS = {d: 'evidence', n: 'note', f: 'flag', s: 'skip', u: 'undo', '?': 'help'};

// Event to act, until it is acknowledged: when the page draws another desk, that one sends it, whatever the storage does.
const OF_THIS_TAB = (window.craneActs ??= new Map());

export default function (component) {
  const root = component.parentElement.querySelector('.cw-desk');
  const desk = (root.cwDesk ??= new Desk(root));
  desk.attach(component);
  return () => desk.detach();
}

class Desk {
  constructor(root) {
    this.root = root;
    this.client = [...crypto.getRandomValues(new Uint8Array(8))].map(byte => byte.toString(16).padStart(2, '0')).join('');
    this.outbox = [];
    this.left = []; // acts that cannot be saved: refused, or of an earlier campaign of this name
    this.unkept = new Set(); // events that are in no storage: with this tab they would be lost
    this.cards = new Map();
    this.evidence = new Map();
    this.snapshot = null;
    this.shown = undefined; // nothing yet; null is the end
    this.mood = {evidence: false};
    this.marks = []; // practice: {id, word, right} of each answer
    this.count = 0;
    this.onKey = event => this.key(event);
    this.onSign = () => this.accrue();
    this.onLeave = event => this.outbox.some(act => this.unkept.has(act.event)) && event.preventDefault();
    root.addEventListener('click', event => this.click(event));
    this.find('textarea').addEventListener('keydown', event => this.noteKey(event));
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  attach(component) {
    this.component = component;
    document.addEventListener('keydown', this.onKey);
    for (const sign of ['pointermove', 'pointerdown', 'wheel', 'visibilitychange']) {
      document.addEventListener(sign, this.onSign, {passive: true});
    }
    addEventListener('beforeunload', this.onLeave);
    clearInterval(this.timer);
    this.timer = setInterval(() => this.look(), 500);
    this.restored ??= this.restore(component.data?.desk);
    this.restored.then(() => this.receive(component.data));
  }

  detach() {
    document.removeEventListener('keydown', this.onKey);
    for (const sign of ['pointermove', 'pointerdown', 'wheel', 'visibilitychange']) {
      document.removeEventListener(sign, this.onSign);
    }
    removeEventListener('beforeunload', this.onLeave);
    clearInterval(this.timer);
  }

  // What an earlier tab could not send. Practice has no desk, and keeps nothing.
  async restore(desk) {
    if (!desk) return;
    try {
      this.storage = await Outbox.open();
      for (const act of await this.storage.acts(desk)) (act.refused ? this.left : this.outbox).push(act);
    } catch (error) {
      this.keepsNothing(error);
    }
    const known = new Set([...this.outbox, ...this.left].map(act => act.event));
    for (const act of OF_THIS_TAB.values()) {
      if (act.campaign !== desk.campaign || act.annotator !== desk.annotator || known.has(act.event)) continue;
      this.outbox.push(act);
      this.keep(act);
    }
    this.outbox.sort((one, other) => one.submitted_at < other.submitted_at ? -1 : one.submitted_at > other.submitted_at ? 1 : 0);
  }

  keepsNothing(error) {
    console.warn('labels are not kept in the browser:', error);
    this.storage = null;
    this.isForgetful = true;
  }

  // What the server says: acts that are on the disk leave the outbox. Closed, it says who sits here and no more.
  receive(data) {
    if (!data || data === this.received) return;
    this.received = data;
    this.closed = data.closed ?? null;
    if (this.closed) return this.paintClosed();
    const isNew = !this.isOpen;
    this.isOpen = true;
    this.root.removeAttribute('data-empty');
    this.snapshot = data;
    this.hasSaved ||= data.saved.length > 0;
    this.settle(data);
    for (const [id, html] of Object.entries(data.cards)) this.cards.set(id, html);
    if (data.evidence) this.evidence.set(data.evidence.id, data.evidence.html);
    if (isNew && this.outbox.length) this.send();
    this.paint();
  }

  settle({saved, refused, desk}) {
    const on_disk = new Set(saved);
    const fails = act => refused[act.event] ?? (act.made !== desk?.made ? 'given in an earlier campaign of this name' : null);
    const failed = this.outbox.filter(act => !on_disk.has(act.event) && fails(act));
    this.left.push(...failed.map(act => ({...act, refused: fails(act)})));
    const arrived = this.outbox.filter(act => on_disk.has(act.event)).map(act => act.event);
    this.outbox = this.outbox.filter(act => !on_disk.has(act.event) && !fails(act));
    for (const act of [...failed, ...saved.map(event => ({event}))]) OF_THIS_TAB.delete(act.event);
    if (failed.length) this.store(storage => storage.keep(this.left));
    if (arrived.length) this.store(storage => storage.drop(arrived));
  }

  // Storage is written behind the painting; what it does not take stays in this tab alone, and that is said.
  async store(write) {
    try {
      if (this.storage) await write(this.storage);
    } catch (error) {
      this.keepsNothing(error);
    }
    return this.storage;
  }

  async keep(act) {
    OF_THIS_TAB.set(act.event, act);
    this.unkept.add(act.event);
    if (await this.store(storage => storage.keep([act]))) this.unkept.delete(act.event);
  }

  // Snapshot and outbox together.
  view() {
    const {queue, undo, labels, reasons, flags, notes, done} = this.snapshot;
    const now = {
      queue: [...queue], undo: [...undo], labels: {...labels}, reasons: {...reasons}, flags: new Set(flags),
      notes: {...notes}, done,
    };
    if (this.snapshot.practice) {
      now.queue.splice(0, this.marks.length);
      now.done = this.marks.length;
    }
    for (const act of this.outbox) PLAY[act.action]?.(now, act);
    return now;
  }

  act(action, id, more = {}) {
    this.accrue();
    const event = `${this.client}-${Date.now().toString(36)}-${(this.count++).toString(36).padStart(5, '0')}`;
    const {desk, guideline} = this.snapshot;
    const act = {event, action, id, submitted_at: new Date().toISOString(), guideline, ...desk, ...more};
    this.outbox.push(act);
    this.keep(act);
    this.send();
    this.paint();
  }

  // No label is taken here any more.
  isOver() {
    return Boolean(this.snapshot.locked) || this.closed === 'gone';
  }

  label(word) {
    const id = this.current();
    if (!id || this.isOver()) return;
    if (this.snapshot.practice) return this.practise(id, word);
    this.tookBack = null;
    this.accrue();
    const {seconds, shown_at, first_action_at} = this.timing;
    this.act('label', id, {label: word, seconds, shown_at, first_action_at});
  }

  current() {
    return this.snapshot ? this.view().queue[0] : undefined;
  }

  do(name) {
    if (name === 'download') return this.download();
    if (name === 'discard') return this.discard();
    if (!this.snapshot || (this.isOver() && name !== 'help' && name !== 'close')) return;
    if (!STAYS.has(name)) this.keepNote();
    const id = this.current();
    const now = this.view();
    if (Object.values(LABELS).includes(name)) return this.label(name);
    if (name.startsWith('reason-')) return this.reason(name.slice(7), now);
    switch (name) {
      case 'undo': return now.undo.length && !this.snapshot.practice && this.undo(now);
      case 'skip': return id && !this.snapshot.practice && this.act('skip', id);
      case 'flag': return id && !this.snapshot.practice && this.act(now.flags.has(id) ? 'unflag' : 'flag', id);
      case 'note': return id && !this.snapshot.practice && this.openNote(now.notes[id] ?? '');
      case 'evidence': return id && this.toggleEvidence(id);
      case 'next': return this.afterPractice();
      case 'again': return this.snapshot.practice && this.practiseAgain();
      case 'help': return this.find('.cw-desk-keys').showModal();
      case 'close': return this.find('.cw-desk-keys').close();
    }
  }

  undo(now) {
    const id = now.undo[0];
    this.tookBack = {id, word: now.labels[id]};
    this.act('undo', id);
  }

  reason(code, now) {
    const id = now.undo[0];
    if (id && now.labels[id] && now.labels[id] !== 'correct') this.act('reason', id, {reason: code});
  }

  key(event) {
    const {key, target} = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !this.root.isConnected) return;
    if (target.closest?.('input, textarea, select, [contenteditable=true], [role=textbox]')) return;
    if (this.find('.cw-desk-keys').open) return key === '?' ? this.do('close') : undefined;
    if (document.querySelector('[role=dialog]:not([data-testid=stDialog] *)')) return;
    this.firstAction();
    const digit = digitOf(event);
    const name = LABELS[digit] ?? LETTERS[key.toLowerCase()] ?? (REASON_KEYS[digit] && `reason-${REASON_KEYS[digit]}`);
    if (name) {
      event.preventDefault();
      this.do(name);
    } else if (key === 'Enter' && this.feedback) {
      event.preventDefault();
      this.afterPractice();
    }
  }

  click(event) {
    const button = event.target.closest('button[data-act]');
    this.firstAction();
    if (button) {
      this.do(button.dataset.act);
      if (button.dataset.act !== 'note') button.blur(); // else Enter or space would press it again
    }
  }

  // Visible time of the item in sight; a stretch without any sign of life counts up to the cap.
  accrue() {
    const now = performance.now();
    if (this.timing && this.wasVisible) this.timing.seconds += Math.min((now - this.mark) / 1000, IDLE_CAP_S);
    this.mark = now;
    this.wasVisible = document.visibilityState === 'visible';
  }

  firstAction() {
    this.accrue();
    if (this.timing) this.timing.first_action_at ??= new Date().toISOString();
  }

  // The whole outbox goes, every time: a message that never arrives costs nothing.
  send() {
    if (this.closed) return;
    this.sentAt = Date.now();
    this.waitingSince ??= this.sentAt;
    const wanted = this.mood.evidence && !this.evidence.has(this.shown) ? this.shown : null;
    this.component.setStateValue('sent', {
      client: this.client, n: this.sentN = this.count++, events: this.outbox, have: [...this.cards.keys()], evidence: wanted,
    });
  }

  // A server that was started again knows this fragment only after a run of the whole page.
  look() {
    const waits = this.outbox.length && this.isOpen && !this.isShut();
    if (waits && Date.now() - this.sentAt > RESEND_MS) this.send();
    if (waits && Date.now() - Math.max(this.waitingSince, this.resumedAt ?? 0) > RESUME_MS) {
      this.resumedAt = Date.now();
      document.querySelector('.st-key-desk_resume button')?.click();
    }
    this.paintSaved();
    this.dismissDialog();
  }

  // Streamlit's dialog about a lost connection locks the whole page; the desk goes on without the server and says so.
  dismissDialog() {
    if (this.isOpen) document.querySelector('[data-testid=stDialog] button')?.click();
  }

  toggleEvidence(id) {
    this.mood.evidence = !this.mood.evidence;
    if (this.mood.evidence && !this.evidence.has(id)) this.send();
    this.paintEvidence();
  }

  openNote(text) {
    this.find('.cw-desk-note').hidden = false;
    const field = this.find('textarea');
    field.value = text;
    field.focus();
  }

  noteKey(event) {
    if (event.key !== 'Escape' && (event.key !== 'Enter' || event.shiftKey)) return;
    event.preventDefault();
    this.find('textarea').blur();
    if (event.key === 'Enter') this.keepNote();
    this.find('.cw-desk-note').hidden = true;
  }

  // Somebody who labels by mouse while the note is open has not thrown it away.
  keepNote() {
    const box = this.find('.cw-desk-note');
    if (box.hidden) return;
    box.hidden = true;
    const text = this.find('textarea').value.trim();
    if (this.shown && text !== (this.view().notes[this.shown] ?? '')) this.act('note', this.shown, {note: text});
  }

  practise(id, word) {
    if (this.feedback) return;
    const told = this.snapshot.practice[id];
    this.feedback = {...told, id, word, right: told.label === word};
    this.paint();
  }

  afterPractice() {
    if (!this.feedback) return;
    const {id, word, right} = this.feedback;
    this.feedback = null;
    this.marks.push({id, word, right});
    this.paint();
  }

  practiseAgain() {
    if (this.current()) return;
    this.marks = [];
    this.paint();
  }

  paint() {
    const now = this.view();
    const id = now.queue[0] ?? null;
    this.paintBar(now);
    this.paintActs(now, id);
    this.paintLast(now);
    this.paintFeedback();
    if (id !== this.shown || this.pending) this.show(id, now);
    this.paintEvidence();
    this.paintSaved();
    this.root.dataset.item = id ?? '';
    this.root.dataset.done = now.done;
  }

  show(id, now) {
    const html = id !== null ? this.cards.get(id) : this.isLast(now) ? this.ending(now) : undefined;
    this.pending = html === undefined;
    if (id !== this.shown) {
      this.mood.evidence = false;
      this.find('.cw-desk-note').hidden = true;
      this.timing = {seconds: 0, shown_at: new Date().toISOString(), first_action_at: null};
      this.mark = performance.now();
      this.wasVisible = document.visibilityState === 'visible';
    }
    this.shown = id;
    this.find('.cw-desk-card').innerHTML = html ?? '<p class="cw-dim">Loading the next item …</p>';
    if (this.pending) this.send();
    const crash = this.find('.cw-code .cw-crash');
    const box = this.find('.cw-code');
    if (crash) box.scrollTop = crash.offsetTop - box.offsetTop - box.clientHeight / 2;
  }

  // The cards sent ahead can run out before the server has answered; that is not an end.
  isLast(now) {
    return Boolean(this.snapshot.practice) || !this.outbox.length || now.done >= this.snapshot.total;
  }

  ending(now) {
    const what = this.snapshot.practice ? this.practiceEnding() : `<h3>All ${now.done} items are labelled.</h3>
      <p>${this.snapshot.locked ? '' : 'Press U to undo the last label. '}You can close this page.</p>`;
    return `<div class="cw-desk-end">${what}</div>`;
  }

  practiceEnding() {
    const misses = this.marks.filter(mark => !mark.right);
    const right = this.marks.length - misses.length;
    return `<h3>Practice is over: ${right} of ${this.snapshot.total} as in the guideline.</h3>
      <p>Nothing was stored. Choose a campaign above to begin, or practise again.
        <button type="button" data-act="again">Again</button></p>${misses.length ? this.review(misses) : ''}`;
  }

  // What was missed, each with its card folded: the reason comes from the guideline's own answers.
  review(misses) {
    const items = misses.map(({id, word}) => {
      const {label, why} = this.snapshot.practice[id];
      return `<details><summary>You said ${SIGNS[word]} ${word}; the guideline says ${SIGNS[label]} ${label}. ${why}</summary>
        ${this.cards.get(id) ?? ''}</details>`;
    });
    return `<section class="cw-desk-review"><h4>Review of ${misses.length === 1 ? 'the miss' : `${misses.length} misses`}</h4>
      ${items.join('')}</section>`;
  }

  paintBar(now) {
    const {total, seconds_left, n_skipped} = this.snapshot;
    this.find('progress').value = total ? now.done / total : 0;
    const left = !seconds_left ? '' : `, about ${minutes(seconds_left)} left`;
    const skipped = n_skipped ? `, ${n_skipped} skipped` : '';
    this.find('.cw-desk-progress').textContent = `${now.done} of ${total}${left}${skipped}`;
  }

  paintActs(now, id) {
    const off = this.isOver() || !id;
    const practice = Boolean(this.snapshot.practice);
    for (const button of this.root.querySelectorAll('.cw-desk-acts button')) {
      const name = button.dataset.act;
      button.disabled = name === 'undo' ? !now.undo.length || this.isOver() : off;
      button.hidden = practice && ['undo', 'skip', 'flag', 'note'].includes(name);
    }
    const flag = this.find('[data-act=flag]');
    flag.setAttribute('aria-pressed', String(now.flags.has(id)));
    flag.lastChild.textContent = now.flags.has(id) ? ' flagged ⚑' : ' flag';
    this.find('[data-act=note]').lastChild.textContent = now.notes[id] ? ' note ✎' : ' note';
  }

  paintLast(now) {
    const place = this.find('.cw-desk-last');
    const id = now.undo[0];
    if (this.snapshot.locked) return void (place.textContent = this.snapshot.locked);
    if (this.snapshot.practice) {
      return void (place.textContent = 'Practice: nothing is kept, and you see at once what the guideline says.');
    }
    if (this.tookBack && this.tookBack.id === now.queue[0]) {
      const {word} = this.tookBack;
      return void (place.innerHTML = `Undone: this item was ${said(word)}`);
    }
    if (!id) return void (place.textContent = 'Press 1, 2 or 3: the label is saved and the next item comes.');
    const word = now.labels[id];
    const last = `Previous item: ${said(word)}`;
    place.innerHTML = word === 'correct' ? last : `${last} Why? ${this.reasonButtons(now.reasons[id])}`;
  }

  reasonButtons(chosen) {
    return Object.entries(REASON_KEYS).map(([key, code]) => {
      const on = code === chosen;
      const words = this.snapshot.reason_words[code];
      return `<button type="button" data-act="reason-${code}" aria-pressed="${on}"><kbd>${key}</kbd> ${code} ${words}</button>`;
    }).join(' ');
  }

  paintFeedback() {
    const place = this.find('.cw-desk-feedback');
    place.hidden = !this.feedback;
    if (!this.feedback) return;
    const {right, label, word, why} = this.feedback;
    const head = right ? `✓ ${word}, as in the guideline.` : `You said ${word}; the guideline says ${label}.`;
    place.innerHTML = `<b>${head}</b> ${why} <button type="button" data-act="next"><kbd>Enter</kbd> next</button>`;
    place.dataset.right = right;
  }

  paintEvidence() {
    const place = this.find('.cw-desk-evidence');
    const open = this.mood.evidence && this.shown;
    this.find('[data-act=evidence]').setAttribute('aria-expanded', String(Boolean(open)));
    place.hidden = !open;
    const html = open ? this.evidence.get(this.shown) ?? '<p class="cw-dim">Loading …</p>' : '';
    if (place.cwHtml !== html) place.innerHTML = place.cwHtml = html;
  }

  paintSaved() {
    const place = this.find('.cw-desk-saved');
    if (!this.snapshot || this.snapshot.practice) return void (place.textContent = '');
    const n = this.isShut() ? 0 : this.outbox.length;
    if (!n) this.waitingSince = null;
    const late = n && (this.closed || Date.now() - this.waitingSince > LATE_MS);
    const lost = this.unsavable();
    const words = late ? `${amount(this.outbox)} waiting to be saved` : n ? 'saving …'
      : lost.length ? `${amount(lost)} not saved` : this.snapshot.done || this.hasSaved ? 'saved' : '';
    if (place.textContent !== words) place.textContent = words;
    place.dataset.state = lost.length || late ? 'late' : n ? 'saving' : 'saved';
    this.paintNotice(late);
  }

  // Without a snapshot, as before the password, there is nothing but what waits.
  paintClosed() {
    this.isOpen = false;
    this.root.toggleAttribute('data-empty', !this.snapshot);
    if (this.snapshot) this.paint();
    else this.paintNotice();
  }

  // What no server will take: it is offered as a file.
  unsavable() {
    return this.isShut() ? [...this.left, ...this.outbox] : this.left;
  }

  isShut() {
    return this.closed === 'gone' || Boolean(this.snapshot?.locked && this.hasAnswered());
  }

  // Whether the server has answered what was sent last; before, a label that waits may be on the disk already.
  hasAnswered() {
    return this.snapshot.n === this.sentN;
  }

  paintNotice(late) {
    const lost = this.unsavable();
    const words = [...(lost.length ? this.lostWords(lost) : []), ...this.waitingWords(late)].join(' ');
    const place = this.find('.cw-desk-notice');
    place.hidden = !words;
    const text = place.querySelector('p');
    if (text.textContent !== words) text.textContent = words;
    this.find('[data-act=download]').hidden = !lost.length;
    this.find('[data-act=discard]').hidden = !lost.length || !this.hasDownloaded;
  }

  lostWords(lost) {
    const whys = [...new Set(lost.map(act => act.refused).filter(Boolean))];
    const locked = this.snapshot?.locked ? ['the campaign was locked before they arrived'] : [];
    const why = [...whys, ...(this.outbox.length ? locked : [])].join('; ');
    return [`${amount(lost)} ${lost.length === 1 ? 'is' : 'are'} not saved${why ? `: ${why}` : ''}.`,
      'Download them and give the file to the lead of the campaign.'];
  }

  waitingWords(late) {
    const waits = this.outbox.length && !this.isShut() ? `${amount(this.outbox)} waiting to be saved.` : '';
    if (this.closed === 'login') return [waits, waits ? 'Enter the password to save them.' : 'Enter the password to go on.'];
    if (this.isForgetful) return ['This browser keeps nothing (a private window?): stay on this page until it says saved.'];
    if (this.snapshot?.trouble && !this.snapshot.locked) return [this.snapshot.trouble, waits];
    return late && waits ? ['The server does not answer.', waits, 'They are kept in this browser and saved when it is back.'] : [];
  }

  download() {
    const lines = this.unsavable().map(act => `${JSON.stringify(act)}\n`);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob(lines, {type: 'application/jsonl'}));
    const {campaign, annotator} = this.received.desk;
    link.download = `${campaign}-${annotator}-not-saved.jsonl`;
    link.click();
    URL.revokeObjectURL(link.href);
    this.hasDownloaded = true;
    this.paintNotice();
  }

  discard() {
    const events = this.unsavable().map(act => act.event);
    this.left = [];
    this.outbox = this.outbox.filter(act => !events.includes(act.event));
    this.hasDownloaded = false;
    this.store(storage => storage.drop(events));
    if (this.snapshot) this.paint();
    else this.paintNotice();
  }
}

// What an act does to the view before the server has answered.
const PLAY = {
  label(now, {id, label}) {
    if (!now.undo.includes(id)) now.done += 1;
    now.queue = now.queue.filter(other => other !== id);
    now.undo = [id, ...now.undo.filter(other => other !== id)];
    now.labels[id] = label;
    now.reasons[id] = null;
  },
  reason(now, {id, reason}) {
    now.reasons[id] = reason;
  },
  undo(now, {id}) {
    if (!now.undo.includes(id)) return;
    now.undo = now.undo.filter(other => other !== id);
    now.queue = [id, ...now.queue.filter(other => other !== id)];
    now.done -= 1;
  },
  skip(now, {id}) {
    now.queue = [...now.queue.filter(other => other !== id), id];
  },
  flag(now, {id}) {
    now.flags.add(id);
  },
  unflag(now, {id}) {
    now.flags.delete(id);
  },
  note(now, {id, note}) {
    now.notes[id] = note;
  },
};

// The digit of a key, on keyboards too whose row of digits needs Shift.
function digitOf({key, code, shiftKey}) {
  return /^[1-9]$/.test(key) ? key : shiftKey ? undefined : /^Digit([1-9])$/.exec(code)?.[1];
}

function said(word) {
  return `<span class="cw-word-${word}">${SIGNS[word]} ${word}</span>`;
}

function amount(acts) {
  const what = acts.every(act => act.action === 'label') ? 'label' : 'change';
  return `${acts.length} ${what}${acts.length === 1 ? '' : 's'}`;
}

function minutes(seconds) {
  const n = Math.max(1, Math.round(seconds / 60));
  return n < 90 ? `${n} min` : `${(n / 60).toFixed(1)} h`;
}
