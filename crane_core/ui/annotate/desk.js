// The labelling desk in the browser. It paints the next card the moment a key goes down and keeps every act in an
// outbox until the server says that it is on the disk, so no key waits for a save and none is lost on the way.
//
// The server's snapshot and the outbox together are the whole state: `view` plays the outbox on top of the snapshot.

const IDLE_CAP_S = 300;
const RESEND_MS = 2000;
const LATE_MS = 4000;
const RESUME_MS = 5000;
const REASON_KEYS = {4: 'a', 5: 'b', 6: 'c', 7: 'd', 8: 'e', 9: 'f'};
const LABELS = {1: 'correct', 2: 'partial', 3: 'wrong'};
const SIGNS = {correct: '✓', partial: '◐', wrong: '✗'};
const STAYS = new Set(['flag', 'evidence', 'help', 'close']); // acts that leave a half-written note open
const LETTERS = {d: 'evidence', n: 'note', f: 'flag', s: 'skip', u: 'undo', '?': 'help'};

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
    this.cards = new Map();
    this.evidence = new Map();
    this.snapshot = null;
    this.shown = undefined; // nothing yet; null is the end
    this.mood = {evidence: false};
    this.marks = []; // practice: whether each answer was right
    this.count = 0;
    this.onKey = event => this.key(event);
    this.onSign = () => this.accrue();
    this.onLeave = event => this.outbox.length && event.preventDefault();
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
    this.receive(component.data);
  }

  detach() {
    document.removeEventListener('keydown', this.onKey);
    for (const sign of ['pointermove', 'pointerdown', 'wheel', 'visibilitychange']) {
      document.removeEventListener(sign, this.onSign);
    }
    removeEventListener('beforeunload', this.onLeave);
    clearInterval(this.timer);
  }

  // What the server says: acts that are on the disk leave the outbox.
  receive(data) {
    if (!data || data === this.received) return;
    this.received = data;
    this.snapshot = data;
    this.hasSaved ||= data.saved.length > 0;
    const settled = new Set([...data.saved, ...Object.keys(data.refused)]);
    this.outbox = this.outbox.filter(act => !settled.has(act.event));
    for (const [id, html] of Object.entries(data.cards)) this.cards.set(id, html);
    if (data.evidence) this.evidence.set(data.evidence.id, data.evidence.html);
    this.refusal = Object.values(data.refused)[0] ?? null;
    this.paint();
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
    const event = `${this.client}-${Date.now().toString(36)}-${(this.count++).toString(36)}`;
    this.outbox.push({event, action, id, submitted_at: new Date().toISOString(), ...more});
    this.send();
    this.paint();
  }

  label(word) {
    const id = this.current();
    if (!id || this.snapshot.locked) return;
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
    if (!this.snapshot || (this.snapshot.locked && name !== 'help' && name !== 'close')) return;
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
    if (document.querySelector('[role=dialog]')) return;
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
    this.sentAt = Date.now();
    this.waitingSince ??= this.sentAt;
    const wanted = this.mood.evidence && !this.evidence.has(this.shown) ? this.shown : null;
    this.component.setStateValue('sent', {
      client: this.client, n: this.count++, events: this.outbox, have: [...this.cards.keys()], evidence: wanted,
    });
  }

  // A server that was started anew knows this fragment only after a run of the whole page.
  look() {
    if (this.outbox.length && Date.now() - this.sentAt > RESEND_MS) this.send();
    if (this.outbox.length && Date.now() - Math.max(this.waitingSince, this.resumedAt ?? 0) > RESUME_MS) {
      this.resumedAt = Date.now();
      document.querySelector('.st-key-desk_resume button')?.click();
    }
    this.paintSaved();
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

  // Whoever labels by mouse while the note is open has not thrown it away.
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
    this.wasRight = told.label === word;
    this.feedback = {word, right: this.wasRight, ...told};
    this.paint();
  }

  afterPractice() {
    if (!this.feedback) return;
    this.feedback = null;
    this.marks.push(this.wasRight);
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
    const html = id !== null ? this.cards.get(id) : this.isOver(now) ? this.ending(now) : undefined;
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

  // The cards sent ahead can run out before the server has answered; that is no end.
  isOver(now) {
    return Boolean(this.snapshot.practice) || !this.outbox.length || now.done >= this.snapshot.total;
  }

  ending(now) {
    const what = this.snapshot.practice ? this.practiceEnding() : `<h3>All ${now.done} items are labelled.</h3>
      <p>${this.snapshot.locked ? '' : 'U takes the last label back. '}You may close this page.</p>`;
    return `<div class="cw-desk-end">${what}</div>`;
  }

  practiceEnding() {
    const right = this.marks.filter(Boolean).length;
    return `<h3>Practice is over: ${right} of ${this.snapshot.total} as the guideline has them.</h3>
      <p>Nothing of it was kept. Choose a campaign above to begin.</p>`;
  }

  paintBar(now) {
    const {total, seconds_left, n_skipped} = this.snapshot;
    this.find('progress').value = total ? now.done / total : 0;
    const left = !seconds_left ? '' : `, about ${minutes(seconds_left)} left`;
    const skipped = n_skipped ? `, ${n_skipped} skipped` : '';
    this.find('.cw-desk-progress').textContent = `${now.done} of ${total}${left}${skipped}`;
  }

  paintActs(now, id) {
    const off = Boolean(this.snapshot.locked) || !id;
    const practice = Boolean(this.snapshot.practice);
    for (const button of this.root.querySelectorAll('.cw-desk-acts button')) {
      const name = button.dataset.act;
      button.disabled = name === 'undo' ? !now.undo.length || Boolean(this.snapshot.locked) : off;
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
      return void (place.innerHTML = `Taken back: this item was ${said(word)}`);
    }
    if (!id) return void (place.textContent = 'Press 1, 2 or 3: the label is saved and the next item comes.');
    const word = now.labels[id];
    const last = `The item before: ${said(word)}`;
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
    const head = right ? `✓ ${word}, as the guideline has it.` : `You said ${word}; the guideline says ${label}.`;
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
    const n = this.outbox.length;
    if (!n) this.waitingSince = null;
    const late = n && Date.now() - this.waitingSince > LATE_MS;
    const words = this.refusal ? `not saved: ${this.refusal}` : late ? `${n} not saved yet: the server does not answer`
      : n ? 'saving …' : this.snapshot.done || this.hasSaved ? 'saved' : '';
    if (place.textContent !== words) place.textContent = words;
    place.dataset.state = this.refusal || late ? 'late' : n ? 'saving' : 'saved';
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

function minutes(seconds) {
  const n = Math.max(1, Math.round(seconds / 60));
  return n < 90 ? `${n} min` : `${(n / 60).toFixed(1)} h`;
}
