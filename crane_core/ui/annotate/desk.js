// The labelling desk in the browser. It paints the next card the moment a key goes down and keeps every act in an
// outbox until the server says that it is on the disk, so no key waits for a save and none is lost on the way.
//
// The server's snapshot and the outbox together are the whole state: `view` plays the outbox on top of the snapshot.
// The outbox is in the browser's storage, too (outbox.js): the next tab sends what this one could not.

const IDLE_CAP_S = 300;
const RESEND_MS = 2000;
const LATE_MS = 4000;
const TELL_MS = 3000;
const BACK_MS = 10000; // how long a card is waited for before its label is undone
const RESUME_MS = 5000;
const ASK_MS = 2000; // how long a tab listens whether another one labels here
const LOOK_MS = 250; // how long a card is in sight before a key is meant for it
const READS = new Set(['help', 'changes', 'dismiss', 'seen', 'claim']); // what needs no desk that takes labels
const STAYS = new Set(['flag', 'evidence', 'unfold', ...READS]); // acts that leave a half-written note open
const OF_AN_ITEM = new Set(['undo', 'flag', 'skip', 'same']); // with labels: acts that need an item that was in sight
const LETTERS = {
  '0': ['same', 'give the label of the previous item, where the text is nearly the same'],
  d: ['evidence', 'show or hide the evidence: all code, the kernel state and the fix'],
  e: ['unfold', 'unfold all of the evidence, or fold it again'],
  u: ['undo', 'undo the last label and return to that item, up to 20 times'],
  n: ['note', 'write a note on the current item'],
  f: ['flag', 'flag the item for discussion, or remove the flag'],
  s: ['skip', 'skip: the item is shown again at the end'],
  g: ['changes', 'see what changed in the guideline'],
  '?': ['help', 'show this list'],
};
const HELP = `A label saves and shows the next item. Keys do nothing while you type in a field. A label belongs to the item
  that is shown when the key is pressed, and no key counts in the first quarter of a second. Time
  counts while the page is visible, a pause up to five minutes; you and the lead of the campaign see it.`;

const AFTER_CALIBRATION = `<p>This was the calibration round. The lead of the campaign now compares everybody's labels and may
  clarify the guideline. Then the lead opens the main round: its items, and any that are labelled again, appear on this page.
  Come back then; nothing is left to do before.</p>`;

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
    this.client = fresh();
    this.outbox = [];
    this.left = []; // acts that cannot be saved: refused, or of an earlier campaign of this name
    this.overtaken = []; // acts on items that were labelled elsewhere meanwhile, each with that `other` label
    this.unkept = new Set(); // events that are in no storage: with this tab they would be lost
    this.cards = new Map();
    this.evidence = new Map();
    this.like = new Map(); // item to the one before it with nearly the same text, and their difference
    this.snapshot = null;
    this.shown = undefined; // nothing yet; null is the end
    this.readyAt = Infinity; // when keys begin to count for the card in sight
    this.givenHere = null; // the item that was labelled last in this tab
    this.comingBack = null; // an item whose card is loaded before its label is taken back
    this.mood = {evidence: false, unfolded: false};
    this.isAside = false; // another tab of this person labels
    this.guideline = null; // the version that stands on the screen: acts carry it
    this.news = null; // what is to be told of a new one
    this.labels = new Map(); // code of a label to its word, sign, key, style and reasons
    this.marks = []; // practice: {id, word, right} of each answer
    this.count = 0;
    this.keys = new Keymap(root, () => this.keys?.paint(), () => this.send());
    this.onKey = event => this.key(event);
    this.onSign = () => this.accrue();
    this.onTurn = () => this.turnAway();
    this.onLeave = event => this.outbox.some(act => this.unkept.has(act.event)) && event.preventDefault();
    root.addEventListener('click', event => this.click(event));
    this.find('.cw-desk-changes').addEventListener('close', () => this.dismiss());
    this.find('textarea').addEventListener('keydown', event => this.noteKey(event));
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  attach(component) {
    this.component = component;
    this.keys.attach();
    document.addEventListener('keydown', this.onKey);
    for (const sign of ['pointermove', 'pointerdown', 'wheel', 'visibilitychange']) {
      document.addEventListener(sign, this.onSign, {passive: true});
    }
    document.addEventListener('visibilitychange', this.onTurn);
    addEventListener('beforeunload', this.onLeave);
    this.openTabs(component.data?.desk);
    clearInterval(this.timer);
    this.timer = setInterval(() => this.look(), 500);
    this.restored ??= this.restore(component.data?.desk);
    this.restored.then(() => this.receive(component.data));
  }

  detach() {
    this.keys.detach();
    document.removeEventListener('keydown', this.onKey);
    for (const sign of ['pointermove', 'pointerdown', 'wheel', 'visibilitychange']) {
      document.removeEventListener(sign, this.onSign);
    }
    document.removeEventListener('visibilitychange', this.onTurn);
    removeEventListener('beforeunload', this.onLeave);
    this.tabs?.close();
    this.tabs = null;
    clearInterval(this.timer);
  }

  // Practice has no desk, and may be open as often as somebody likes.
  openTabs(desk) {
    if (!desk || this.tabs) return;
    this.tabs = new Tabs(desk, word => this.hear(word));
    if (this.askedAt) return;
    this.askedAt = Date.now();
    this.tabs.say('ask');
  }

  hear(word) {
    if (word === 'ask' && !this.isAside) this.tabs?.say('here');
    if (word === 'mine' || (word === 'here' && Date.now() - this.askedAt < ASK_MS)) this.stepAside();
  }

  stepAside() {
    this.keepNote();
    this.isAside = true;
    if (this.snapshot) this.paint();
  }

  // Labels are taken here again once the server has told what the other tab did.
  claim() {
    this.tabs?.say('mine');
    this.isComing = true;
    this.send();
  }

  // What an earlier tab could not send. Practice has no desk, and keeps nothing.
  async restore(desk) {
    if (!desk) return;
    this.device = new Device(desk);
    try {
      this.storage = await Outbox.open();
      for (const act of await this.storage.acts(desk)) this.listOf(act).push(act);
    } catch (error) {
      this.keepsNothing(error);
    }
    const known = new Set([...this.outbox, ...this.left, ...this.overtaken].map(act => act.event));
    for (const act of OF_THIS_TAB.values()) {
      if (act.campaign !== desk.campaign || act.annotator !== desk.annotator || known.has(act.event)) continue;
      this.listOf(act).push(act);
      this.keep(act);
    }
    this.outbox.sort(asMade);
    this.device.isPast(...[...this.outbox, ...this.overtaken, ...this.left].map(act => act.number ?? 0));
  }

  // Where an act that was kept belongs.
  listOf(act) {
    return act.refused ? this.left : act.other ? this.overtaken : this.outbox;
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
    this.takeLabels(data.label_set);
    if (this.isComing && this.hasAnswered()) this.isAside = this.isComing = false;
    this.hasSaved ||= data.saved.length > 0;
    this.settle(data);
    this.device?.isPast(data.number ?? 0);
    for (const [id, html] of Object.entries(data.cards)) this.cards.set(id, html);
    for (const [id, before] of Object.entries(data.like ?? {})) this.like.set(id, before);
    if (data.evidence) this.evidence.set(data.evidence.id, data.evidence.html);
    if ((isNew && this.outbox.length) || data.has_more) this.send(); // a first message brings few cards
    this.keys.use(data.desk?.annotator ?? '', this.actions());
    this.keys.sync(data.keys);
    this.paint();
    if (this.cards.has(this.comingBack?.id)) this.comeBack();
    if (this.isPageOld && !this.outbox.length) this.drawPage(); // not together with acts: they would run the desk alone
  }

  settle({saved, refused, overtaken = {}, desk}) {
    const on_disk = new Set(saved);
    const late = this.outbox.filter(act => overtaken[act.event]).map(act => ({...act, other: overtaken[act.event]}));
    this.outbox = this.outbox.filter(act => !overtaken[act.event]);
    this.overtaken.push(...late);
    if (late.length) this.store(storage => storage.keep(late));
    for (const act of late) OF_THIS_TAB.set(act.event, act);
    this.dropAgreed();
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
    const {queue, undo, labels, reasons, given, flags, notes, done} = this.snapshot;
    const now = {
      queue: [...queue], undo: [...undo], labels: {...labels}, reasons: {...reasons}, given: {...given},
      flags: new Set(flags), notes: {...notes}, done,
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
    const {desk} = this.snapshot;
    const made = {submitted_at: new Date().toISOString(), ...this.device?.next()};
    const act = {event, action, id, ...made, guideline: this.guideline, ...desk, ...more};
    this.missedAt = null;
    this.outbox.push(act);
    this.keep(act);
    this.send();
    this.paint();
  }

  // No label is taken here any more.
  isOver() {
    return Boolean(this.snapshot.locked) || this.closed === 'gone' || this.isAside;
  }

  label(word, reason = null, isAsBefore = false) {
    const id = this.current();
    if (!id || this.isOver()) return;
    if (this.snapshot.practice) return this.practise(id, word);
    this.tookBack = null;
    this.givenHere = id;
    this.accrue();
    const {seconds, shown_at, first_action_at} = this.timing;
    const over = this.view().given[id] ?? null;
    this.act('label', id, {label: word, ...(reason && {reason}), ...(isAsBefore && {as_before: true}), over, seconds, shown_at, first_action_at});
  }

  // The item before the one in sight, if its text is nearly the same and it has a label.
  before(now) {
    const like = this.like.get(now.queue[0]);
    return like && like.to === now.undo[0] ? like : null;
  }

  same(now) {
    const before = this.before(now);
    if (before) this.label(now.labels[before.to], now.reasons[before.to], true);
  }

  current() {
    return this.snapshot ? this.view().queue[0] : undefined;
  }

  // `at`: when the key or button was pressed, which may be before this is run.
  do(name, at = performance.now()) {
    if (name === 'download') return this.download();
    if (name === 'discard') return this.discard();
    if (!this.snapshot || (this.isOver() && !READS.has(name))) return;
    if (!this.counts(name, at)) return this.miss();
    if (!STAYS.has(name)) this.keepNote();
    const id = this.current();
    const now = this.view();
    if (name.startsWith('label-')) return this.label(name.slice(6));
    if (name.startsWith('reason-')) return this.reason(name.slice(7), now);
    switch (name) {
      case 'same': return this.same(now);
      case 'undo': return now.undo.length && !this.snapshot.practice && this.undo(now);
      case 'skip': return id && !this.snapshot.practice && this.act('skip', id);
      case 'flag': return id && !this.snapshot.practice && this.act(now.flags.has(id) ? 'unflag' : 'flag', id);
      case 'note': return id && !this.snapshot.practice && this.openNote(now.notes[id] ?? '');
      case 'evidence': return id && this.toggleEvidence(id);
      case 'unfold': return id && this.unfold(id);
      case 'next': return this.afterPractice();
      case 'again': return this.snapshot.practice && this.practiseAgain();
      case 'help': return this.keys.open(HELP);
      case 'changes': return this.news?.html && this.find('.cw-desk-changes').showModal();
      case 'seen': return this.find('.cw-desk-changes').close();
      case 'dismiss': return this.dismiss();
      case 'claim': return this.isAside && this.claim();
      case 'keep-other': return this.overtaken.length && this.keepOther();
      case 'store-mine': return this.overtaken.length && this.storeMine();
    }
  }

  // An item whose card is not here, as after a reload, is shown before its label changes.
  undo(now) {
    const id = now.undo[0];
    if (!this.cards.has(id)) {
      this.comingBack = {id, since: Date.now()};
      this.send();
      return this.paint();
    }
    this.tookBack = {id, word: now.labels[id]};
    this.act('undo', id, {over: now.given[id] ?? null});
  }

  comeBack() {
    const {id} = this.comingBack;
    this.comingBack = null;
    const now = this.view();
    if (now.undo[0] === id && !this.isOver()) this.undo(now);
    else this.paint();
  }

  reason(code, now) {
    const id = now.undo[0];
    const offered = this.entry(now.labels[id]).reasons;
    if (offered.some(reason => reason.code === code)) this.act('reason', id, {reason: code, over: now.given[id] ?? null});
  }

  // Whether a press was meant for what is in sight: no label of an item that nobody has looked at, no second label by a
  // double tap. The reason of a label that was just given here is about an item that was seen.
  counts(name, at) {
    if (name.startsWith('reason-')) return this.mayGiveReason(at);
    if (name === 'note') return !this.pending && !this.comingBack; // what is typed after it must not be taken as keys
    return !(name.startsWith('label-') || OF_AN_ITEM.has(name)) || this.isReady(at);
  }

  mayGiveReason(at) {
    const isOfLast = this.givenHere !== null && this.givenHere === this.view().undo[0];
    return this.isReady(at) || (isOfLast && !this.pending && !this.comingBack);
  }

  isReady(at = performance.now()) {
    return !this.pending && !this.comingBack && at >= this.readyAt;
  }

  miss(words = 'Not taken: the item was not in sight yet.') {
    this.missedAt = Date.now();
    this.missedWords = words;
    this.paintReady();
  }

  // From the frame after the one that shows the card; a page out of sight has no frames.
  awaitLook() {
    const turn = this.turn = {};
    this.readyAt = Infinity;
    this.paintReady();
    requestAnimationFrame(() => requestAnimationFrame(() => {
      if (turn !== this.turn || this.pending) return;
      this.startTiming();
      this.awaitReady(turn, performance.now() + LOOK_MS);
    }));
  }

  // Keys count from the moment in which the controls say so.
  awaitReady(turn, until) {
    setTimeout(() => {
      if (turn !== this.turn) return;
      if (performance.now() < until) return this.awaitReady(turn, until);
      this.readyAt = performance.now();
      this.paintReady();
    }, Math.max(1, until - performance.now()));
  }

  // A card that was not in sight long enough before the page was left begins again.
  turnAway() {
    if (!this.snapshot || performance.now() >= this.readyAt) return;
    if (document.visibilityState === 'visible') return this.awaitLook();
    this.turn = null;
    this.readyAt = Infinity;
  }

  startTiming() {
    this.timing = {seconds: 0, shown_at: new Date().toISOString(), first_action_at: null};
    this.mark = performance.now();
    this.wasVisible = document.visibilityState === 'visible';
  }

  // What was done here with an item that has another label from elsewhere: what it would have come to.
  intended(id) {
    const acts = this.overtaken.filter(act => act.id === id);
    const mine = {id, acts, other: acts.at(-1).other, label: null, reason: null, given: null};
    for (const act of acts) {
      if (act.action === 'label') Object.assign(mine, {label: act.label, reason: act.reason ?? null, given: act});
      if (act.action === 'reason') Object.assign(mine, {label: mine.label ?? mine.other.label, reason: act.reason});
      if (act.action === 'undo') Object.assign(mine, {label: null, reason: null, given: null});
    }
    return mine;
  }

  // The same label from two devices needs nobody's decision.
  dropAgreed() {
    for (const id of new Set(this.overtaken.map(act => act.id))) {
      const {label, reason, other} = this.intended(id);
      if (label === other.label && (reason === null || reason === other.reason)) this.dropOvertaken(id);
    }
  }

  dropOvertaken(id) {
    const events = this.overtaken.filter(act => act.id === id).map(act => act.event);
    this.overtaken = this.overtaken.filter(act => act.id !== id);
    for (const event of events) OF_THIS_TAB.delete(event);
    this.store(storage => storage.drop(events));
  }

  keepOther() {
    this.dropOvertaken(this.overtaken[0].id);
    this.paint();
  }

  storeMine() {
    const {id, label, reason, other, given} = this.intended(this.overtaken[0].id);
    const {seconds, shown_at, first_action_at} = given ?? {};
    this.dropOvertaken(id);
    if (label === null) this.act('undo', id, {over: other.event});
    else this.act('label', id, {label, reason, over: other.event, seconds, shown_at, first_action_at});
  }

  // The campaign's labels, as buttons.
  takeLabels(entries) {
    const told = JSON.stringify(entries);
    if (!entries || told === this.labelsTold) return;
    this.labelsTold = told;
    this.labels = new Map(entries.map(entry => [entry.code, entry]));
    const kbd = key => Object.assign(document.createElement('kbd'), {textContent: key});
    this.find('.cw-desk-labels').replaceChildren(...entries.map(({code, sign, word, key, style}) => {
      const button = Object.assign(document.createElement('button'), {type: 'button', className: 'cw-answer'});
      button.dataset.act = `label-${code}`;
      button.style.cssText = style;
      button.append(kbd(key), ` ${sign} ${word}`);
      return button;
    }));
  }

  // A label of an earlier campaign of this name may wait here until the server refuses it.
  entry(code) {
    return this.labels.get(code) ?? {word: code, sign: '', style: '', reasons: []};
  }

  // The label in its colour, as markup.
  said(code) {
    const {sign, word, style} = this.entry(code);
    return `<span class="cw-answer-word" style="${style}">${escaped(`${sign} ${word}`)}</span>`;
  }

  // What has a key here, with its default.
  actions() {
    const entries = [...this.labels.values()];
    const labels = entries.map(({code, key, word}) => ({name: `label-${code}`, key, words: word}));
    const asks = code => entries.filter(entry => entry.reasons.some(reason => reason.code === code)).map(entry => entry.word).join(' or ');
    const offered = new Map(entries.flatMap(entry => entry.reasons.map(reason => [reason.code, reason])));
    const reasons = [...offered.values()].map(({code, key, words}) => {
      return {name: `reason-${code}`, key, words: `why the last label is ${asks(code)}: ${words}`};
    });
    const others = Object.entries(LETTERS).filter(([, [name]]) => name !== 'same' || this.snapshot.like).map(([key, [name, words]]) => ({name, key, words}));
    const kept = new Set(['undo', 'skip', 'flag', 'note', 'changes', ...reasons.map(({name}) => name)]);
    return [...labels, ...reasons, ...others].filter(({name}) => !this.snapshot.practice || !kept.has(name));
  }

  key(event) {
    const {key, target} = event;
    if (event.ctrlKey || event.metaKey || event.repeat || !this.root.isConnected || this.keys.isOpen()) return;
    if (target.closest?.('input, textarea, select, [contenteditable=true], [role=textbox]')) return;
    const name = this.keys.named(event);
    if (this.find('.cw-desk-changes').open) return name === 'changes' ? this.do('seen') : undefined;
    if (document.querySelector('[role=dialog]:not([data-testid=stDialog] *)')) return;
    this.firstAction();
    if (name) {
      event.preventDefault();
      this.do(name, event.timeStamp);
    } else if (key === 'Enter' && this.feedback && !target.closest?.('button, a, summary')) {
      event.preventDefault();
      this.afterPractice();
    }
  }

  click(event) {
    const button = event.target.closest('button[data-act]');
    this.firstAction();
    if (button) {
      this.do(button.dataset.act, event.timeStamp);
      if (event.detail && button.dataset.act !== 'note') button.blur(); // after a mouse Enter or space would press it again
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
      guideline: this.guideline, keys: this.keys.unsent(), card: this.missingCard(), device: this.device?.name ?? null,
    });
  }

  // A card that is needed and is not among those that the server sends ahead.
  missingCard() {
    const needed = [this.comingBack?.id, this.overtaken[0]?.id].find(id => id && !this.cards.has(id));
    return needed ?? null;
  }

  // A server that was started again knows this fragment only after a run of the whole page.
  look() {
    const waits = (this.outbox.length || this.keys.unsent()) && this.isOpen && !this.isShut();
    const lacksCards = this.isOpen && (this.snapshot?.has_more || (this.pending && this.shown !== null));
    if ((waits || lacksCards) && Date.now() - this.sentAt > RESEND_MS) this.send();
    if (waits && Date.now() - Math.max(this.waitingSince ?? this.keys.since, this.resumedAt ?? 0) > RESUME_MS) {
      this.resumedAt = Date.now();
      this.drawPage();
    }
    if (this.comingBack && Date.now() - this.comingBack.since > BACK_MS) this.giveUpComingBack();
    if (this.missedAt && Date.now() - this.missedAt > TELL_MS) this.missedAt = null;
    this.paintReady();
    this.paintSaved();
    this.dismissDialog();
  }

  giveUpComingBack() {
    this.comingBack = null;
    this.miss('The previous item could not be loaded; its label was not undone.');
    this.paint();
  }

  drawPage() {
    this.isPageOld = false;
    document.querySelector('.st-key-desk_resume button')?.click();
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

  unfold(id) {
    this.mood.unfolded = !this.mood.evidence || !this.mood.unfolded;
    if (!this.mood.evidence) return this.toggleEvidence(id);
    this.paintEvidence();
  }

  openNote(text) {
    this.find('.cw-desk-note').hidden = false;
    const field = this.find('textarea');
    field.value = text;
    this.noteBefore = text;
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
    // The server keeps what another device wrote meanwhile: it compares with what stood here when the note was opened.
    if (this.shown && text !== this.noteBefore) this.act('note', this.shown, {note: text, note_before: this.noteBefore});
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
    this.paintOvertaken();
    this.paintSame(now);
    this.paintReady();
    this.paintThread(id);
    this.paintGold(now.undo[0]);
    this.paintEvidence();
    this.paintSaved();
    this.keys.paint();
    this.root.dataset.item = id ?? '';
    this.root.dataset.done = now.done;
  }

  show(id, now) {
    const html = id !== null ? this.cards.get(id) : this.isLast(now) ? this.ending(now) : undefined;
    this.pending = html === undefined;
    if (id !== this.shown) {
      this.mood = {evidence: false, unfolded: false};
      this.find('.cw-desk-note').hidden = true;
      this.startTiming();
    }
    if (id !== this.shown) this.adoptGuideline();
    this.shown = id;
    this.find('.cw-desk-card').innerHTML = html ?? '<p class="cw-dim">Loading the next item …</p>';
    this.awaitLook();
    if (this.pending) this.send();
    const crash = this.find('.cw-code .cw-crash');
    const box = this.find('.cw-code');
    if (crash) box.scrollTop = crash.offsetTop - box.offsetTop - box.clientHeight / 2;
    this.announce(id, now);
  }

  // A screen reader hears of the next item, and it begins at its top; the first one is read with the page.
  announce(id, now) {
    if (this.announced !== undefined && id !== this.announced && !this.pending) {
      const words = id === null ? 'No item is left.' : `Item ${now.done + 1} of ${this.snapshot.total}.`;
      this.find('.cw-desk-live').textContent = `${words} ${this.find('.cw-desk-card .cw-error')?.textContent ?? ''}`;
      this.root.closest('[data-testid=stMain]')?.scrollTo({top: 0});
    }
    if (!this.pending) this.announced = id;
  }

  // A new version holds, and is told, from the next item on: what is in sight was shown under the one before. The page
  // around the desk is drawn again, so that the guideline there is the one that labels carry.
  adoptGuideline() {
    const {guideline, guideline_change: change} = this.snapshot;
    if (!guideline || guideline === this.guideline) return;
    const isFirst = this.guideline === null;
    this.guideline = guideline;
    if (change || !isFirst) this.news = change ?? {};
    this.isPageOld = !isFirst;
    this.paintNews();
  }

  dismiss() {
    this.news = null;
    this.paintNews();
  }

  paintNews() {
    this.find('.cw-desk-news').hidden = !this.news;
    this.find('.cw-desk-news span').textContent = this.news ? 'The guideline has changed.' : '';
    this.find('[data-act=changes]').hidden = !this.news?.html;
    if (!this.news?.html) return;
    this.find('.cw-desk-changes p').textContent = this.news.words;
    this.find('.cw-desk-change').innerHTML = this.news.html;
  }

  // The cards sent ahead can run out before the server has answered; that is not an end.
  isLast(now) {
    return Boolean(this.snapshot.practice) || !this.outbox.length || now.done >= this.snapshot.total;
  }

  ending(now) {
    const what = this.snapshot.practice ? this.practiceEnding() : `<h2>All ${now.done} items are labelled.</h2>
      ${this.snapshot.is_calibration && !this.snapshot.locked ? AFTER_CALIBRATION : ''}
      <p>${this.snapshot.locked ? '' : `Press ${this.keys.hint('undo') || 'undo'} to undo the last label. `}You can close this page.</p>`;
    return `<div class="cw-desk-end">${what}</div>`;
  }

  practiceEnding() {
    const misses = this.marks.filter(mark => !mark.right);
    const right = this.marks.length - misses.length;
    return `<h2>Practice is over: ${right} of ${this.snapshot.total} as in the guideline.</h2>
      <p>Nothing was stored. Choose a campaign above to begin, or practise again.
        <button type="button" data-act="again">Again</button></p>${misses.length ? this.review(misses) : ''}`;
  }

  // What was missed, each with its card folded: the reason comes from the guideline's own answers.
  review(misses) {
    const items = misses.map(({id, word}) => {
      const {label, why} = this.snapshot.practice[id];
      return `<details><summary>You said ${this.said(word)}; the guideline says ${this.said(label)}. ${why}</summary>
        ${this.cards.get(id) ?? ''}</details>`;
    });
    return `<section class="cw-desk-review"><h3>Review of ${misses.length === 1 ? 'the miss' : `${misses.length} misses`}</h3>
      ${items.join('')}</section>`;
  }

  // Which controls wait for the card, and why; a press that did not count is told.
  paintReady() {
    if (!this.snapshot) return;
    const isReady = this.isReady() || this.isOver();
    const loads = this.comingBack ? 'loading the previous item …' : this.pending ? 'loading …' : 'look first …';
    const words = isReady ? '' : loads;
    const missed = this.missedAt ? this.missedWords : '';
    for (const [name, text] of [['wait', words], ['missed', missed]]) {
      const place = this.find(`.cw-desk-${name}`);
      if (place.textContent !== text) place.textContent = text;
    }
    this.root.dataset.ready = String(isReady);
    const now = performance.now();
    for (const button of this.root.querySelectorAll('.cw-desk-acts button, .cw-desk-reasons button, .cw-desk-same button')) {
      const {act} = button.dataset;
      const waits = !this.isOver() && !this.counts(act, now);
      button.setAttribute('aria-disabled', String(waits));
    }
  }

  // An item that has another label from elsewhere: that one stays until the person here decides.
  paintOvertaken() {
    const place = this.find('.cw-desk-overtaken');
    const first = this.overtaken[0];
    place.hidden = !first || this.isShut();
    if (place.hidden) return;
    const {id, label, other} = this.intended(first.id);
    const n = new Set(this.overtaken.map(act => act.id)).size;
    const mine = label === null ? 'You took its label back here' : `Your label here is ${this.said(label)}`;
    const html = `<p>One of your items was labelled on another device or in another window: ${this.said(other.label)}. ${mine},
      and it is not stored unless you confirm.${n > 1 ? ` ${n - 1} more like this.` : ''}</p>
      <button type="button" data-act="keep-other">Keep ${this.said(other.label)}</button>
      <button type="button" data-act="store-mine">${label === null ? 'Take the label back' : `Store mine: ${this.said(label)}`}</button>
      <details><summary>Show the item</summary>${this.cards.get(id) ?? '<p class="cw-dim">Loading …</p>'}</details>`;
    if (place.cwHtml !== html) place.innerHTML = place.cwHtml = html;
    if (!this.cards.has(id) && this.askedCard !== id) {
      this.askedCard = id;
      this.send();
    }
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

  // The label of the item before in a status; the reasons beside it, as a screen reader would read all of them out.
  paintLast(now) {
    const id = now.undo[0];
    const reasons = this.offeredReasons(now, id);
    this.write('.cw-desk-previous', this.lastWords(now, id));
    this.write('.cw-desk-reasons', reasons.length ? `Why? ${this.reasonButtons(reasons, now.reasons[id])}` : '');
  }

  offeredReasons(now, id) {
    const isBack = this.tookBack && this.tookBack.id === now.queue[0];
    return !id || isBack || this.snapshot.locked || this.snapshot.practice ? [] : this.entry(now.labels[id]).reasons;
  }

  lastWords(now, id) {
    if (this.snapshot.locked) return escaped(this.snapshot.locked);
    if (this.snapshot.practice) return 'Practice: nothing is kept, and you see at once what the guideline says.';
    if (this.tookBack && this.tookBack.id === now.queue[0]) return `Undone: this item was ${this.said(this.tookBack.word)}`;
    if (!id) return `${this.keysInWords()} to save and show the next item.`;
    return `Previous item: ${this.said(now.labels[id])}`;
  }

  // New markup only where it is new: the button in focus stays, and nothing is announced twice.
  write(selector, html) {
    const place = this.find(selector);
    if (place.cwHtml === html) return;
    const act = place.contains(document.activeElement) ? document.activeElement.dataset.act : null;
    place.innerHTML = place.cwHtml = html;
    if (act) place.querySelector(`[data-act="${CSS.escape(act)}"]`)?.focus();
  }

  keysInWords() {
    const keys = [...this.labels.keys()].map(code => this.keys.hint(`label-${code}`)).filter(Boolean);
    // A phone shows buttons without their keys.
    const isPhone = matchMedia('(max-width: 640px)').matches;
    return keys.length < 2 || isPhone ? 'Press a button' : `Press ${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}`;
  }

  reasonButtons(reasons, chosen) {
    return reasons.map(({code, key, words}) => {
      const on = code === chosen;
      const name = code.length === 1 ? `${code} ${words}` : words; // guidelines name reasons by their letter
      return `<button type="button" data-act="reason-${code}" aria-pressed="${on}"><kbd>${key}</kbd> ${escaped(name)}</button>`;
    }).join(' ');
  }

  paintFeedback() {
    const place = this.find('.cw-desk-feedback');
    place.hidden = !this.feedback;
    if (!this.feedback) return;
    const {right, label, word, why} = this.feedback;
    const [given, asked] = [word, label].map(code => escaped(this.entry(code).word));
    const head = right ? `✓ ${given}, as in the guideline.` : `You said ${given}; the guideline says ${asked}.`;
    place.innerHTML = `<b>${head}</b> ${why} <button type="button" data-act="next"><kbd>Enter</kbd> next</button>`;
    place.dataset.right = right;
  }

  paintEvidence() {
    const place = this.find('.cw-desk-evidence');
    const open = this.mood.evidence && this.shown;
    this.find('[data-act=evidence]').setAttribute('aria-expanded', String(Boolean(open)));
    place.hidden = !open;
    const html = open ? this.evidence.get(this.shown) ?? '<p class="cw-dim">Loading …</p>' : '';
    const body = this.find('.cw-desk-evidence-body');
    const {unfolded} = this.mood;
    this.find('[data-act=unfold]').setAttribute('aria-pressed', String(unfolded));
    if (body.cwHtml === html && body.cwUnfolded === unfolded) return;
    body.innerHTML = body.cwHtml = html;
    body.cwUnfolded = unfolded;
    if (open && this.evidence.has(this.shown)) this.reveal(this.find('.cw-desk-evidence'));
    if (unfolded) for (const part of body.querySelectorAll('details')) part.open = true;
  }

  // Scroll to a part that begins near the lower edge of the screen or below it; what is read stays where it is.
  reveal(part) {
    if (part.getBoundingClientRect().top > innerHeight * 0.6) part.scrollIntoView({block: 'start'});
  }

  // The label of the item before is offered, with what differs in the text, and never given without a press.
  paintSame(now) {
    const before = this.isOver() ? null : this.before(now);
    const place = this.find('.cw-desk-same');
    place.hidden = !before || this.pending;
    if (place.hidden) return;
    const reason = this.entry(now.labels[before.to]).reasons.find(({code}) => code === now.reasons[before.to]);
    const why = reason ? `, ${escaped(reason.words)}` : '';
    this.write('.cw-desk-same', `<p><button type="button" data-act="same"><kbd>0</kbd> same label</button>
      Nearly the text of the previous item, which you labelled ${this.said(now.labels[before.to])}${why}. What differs:</p>
      <p>${before.html}</p>`);
  }

  // What the last label should have been, where that was known and annotators are told.
  paintGold(last) {
    const {gold} = this.snapshot;
    const place = this.find('.cw-desk-told');
    place.hidden = !gold || gold.id !== last;
    if (!place.hidden && place.cwHtml !== gold.html) place.innerHTML = place.cwHtml = gold.html;
    if (!place.hidden) place.dataset.right = gold.right;
  }

  // What the annotator and the lead wrote about the item in sight, and that the lead answered others.
  paintThread(id) {
    const {threads = {}, answers = ''} = this.snapshot;
    for (const [name, html] of [['thread', threads[id] ?? ''], ['answers', answers]]) {
      const place = this.find(`.cw-desk-${name}`);
      place.hidden = !html;
      if (place.cwHtml !== html) place.innerHTML = place.cwHtml = html;
    }
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
    return this.isShut() ? [...this.left, ...this.overtaken, ...this.outbox] : this.left;
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
    this.find('[data-act=claim]').hidden = !this.isAside;
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
    if (this.isAside) return ['This desk is open in another tab, and labels are taken there.', waits];
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
    this.overtaken = this.overtaken.filter(act => !events.includes(act.event));
    this.outbox = this.outbox.filter(act => !events.includes(act.event));
    this.hasDownloaded = false;
    this.store(storage => storage.drop(events));
    if (this.snapshot) this.paint();
    else this.paintNotice();
  }
}

// What an act does to the view before the server has answered.
const PLAY = {
  label(now, {id, label, event, reason = null}) {
    if (!now.undo.includes(id)) now.done += 1;
    now.queue = now.queue.filter(other => other !== id);
    now.undo = [id, ...now.undo.filter(other => other !== id)];
    now.labels[id] = label;
    now.reasons[id] = reason;
    now.given[id] = event;
  },
  reason(now, {id, reason}) {
    now.reasons[id] = reason;
  },
  undo(now, {id}) {
    if (!now.undo.includes(id)) return;
    now.undo = now.undo.filter(other => other !== id);
    delete now.given[id];
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

function amount(acts) {
  const what = acts.every(act => act.action === 'label') ? 'label' : 'change';
  return `${acts.length} ${what}${acts.length === 1 ? '' : 's'}`;
}

function minutes(seconds) {
  const n = Math.max(1, Math.round(seconds / 60));
  return n < 90 ? `${n} min` : `${(n / 60).toFixed(1)} h`;
}
