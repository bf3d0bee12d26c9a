// A pair in the browser: the panel's switch, the way from a mark to its texts, and where the code has what a text names.
// The HTML comes finished and escaped from the server; here words are only wrapped and ranges of the code painted.

// Kept while the page lives: who compares states from case to case stays at State.
let shown = 'answers';

// Spelled like code: dotted, with an underscore or a capital inside, or in quotes; and numbers of lines.
const NAMES = /\b[Ll]ine (\d+)\b|'([^'\n]{1,60})'|"([^"\n]{1,60})"|\b[A-Za-z_]\w*(?:\.\w+)+|\b\w*[A-Za-z]_\w+|\b[a-z]+[A-Z]\w*/g;
const WORD = /[A-Za-z_]\w*/g;

const show = (root, key) => {
  const tabs = [...root.querySelectorAll('[role=tab]')];
  const chosen = tabs.find(tab => tab.dataset.tab === key) || tabs[0];
  for (const tab of tabs) {
    const isChosen = tab === chosen;
    tab.setAttribute('aria-selected', isChosen);
    tab.tabIndex = isChosen ? 0 : -1;
    root.querySelector(`#${tab.getAttribute('aria-controls')}`).hidden = !isChosen;
  }
  return chosen;
};

const open = (root, place) => {
  const texts = root.querySelector(`#${CSS.escape(place)}`);
  if (!texts) return;
  show(root, shown = 'answers');
  const mine = texts.closest('details');
  for (const other of root.querySelectorAll('.cw-reasons')) other.open = other === mine;
  const body = texts.closest('[role=tabpanel]');
  const scrolls = body.scrollHeight > body.clientHeight + 1;
  if (scrolls) body.scrollTop += texts.getBoundingClientRect().top - body.getBoundingClientRect().top - 40;
  else texts.scrollIntoView({block: 'nearest'});
  for (const old of root.querySelectorAll('.cw-opened')) old.classList.remove('cw-opened');
  texts.classList.add('cw-opened');
  body.focus({preventScroll: true});
};

// Start and end of every place where a line of code has the phrase as whole words.
const placesIn = (code, phrase) => {
  const text = code.textContent, found = [];
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + phrase.length)) {
    const end = at + phrase.length;
    const isPart = (/\w/.test(phrase[0]) && /\w/.test(text[at - 1] || ' ')) || (/\w/.test(phrase.at(-1)) && /\w/.test(text[end] || ' '));
    if (!isPart) found.push([at, end]);
  }
  return found;
};

const rangeOf = (code, start, end) => {
  const walk = document.createTreeWalker(code, NodeFilter.SHOW_TEXT), range = document.createRange();
  let at = 0;
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const next = at + node.length;
    if (start >= at && start < next) range.setStart(node, start - at);
    if (end > at && end <= next) { range.setEnd(node, end - at); break; }
    at = next;
  }
  return range;
};

const finder = root => {
  const lines = [...root.querySelectorAll('.cw-pair .cw-side')].filter(side => side.querySelector('code'));
  const known = new Map();
  const ofPhrase = phrase => lines.flatMap(line => {
    const code = line.querySelector('code');
    return placesIn(code, phrase).map(([start, end]) => [code, start, end]);
  });
  const ofLine = number => lines
    .filter(line => line.closest('.cw-target') && line.querySelector('i')?.textContent === number)
    .map(line => line.querySelector('code'))
    .map(code => [code, 0, code.textContent.length]);
  return asked => {
    if (!known.has(asked)) known.set(asked, asked.startsWith('line ') ? ofLine(asked.slice(5)) : ofPhrase(asked));
    return known.get(asked);
  };
};

// What a text calls `asked`: the whole phrase if the code has it, else those of its words that are in the code.
const wrapped = (node, asked) => {
  const mark = document.createElement('span');
  mark.className = 'cw-names';
  mark.tabIndex = 0;
  mark.dataset.asked = JSON.stringify(asked);
  node.replaceWith(mark);
  mark.append(node);
};

const markNames = (section, find) => {
  for (const code of section.querySelectorAll('p code')) {
    const phrase = code.textContent.trim();
    if (!phrase) continue;
    const words = find(phrase).length ? [phrase] : [...new Set(phrase.match(WORD) || [])].filter(word => word.length > 1 && find(word).length);
    if (words.length) wrapped(code, words);
  }
  const walk = document.createTreeWalker(section, NodeFilter.SHOW_TEXT), nodes = [];
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (node.parentElement.closest('p') && !node.parentElement.closest('code, .cw-agreed, .cw-dim, .cw-names')) nodes.push(node);
  }
  for (const node of nodes) {
    for (const found of [...node.data.matchAll(NAMES)].reverse()) {
      const asked = found[1] ? `line ${found[1]}` : found[2] || found[3] || found[0];
      if (!find(asked).length) continue;
      const rest = node.splitText(found.index);
      rest.splitText(found[0].length);
      wrapped(rest, [asked]);
    }
  }
};

const paint = (root, find, mark) => {
  for (const fold of root.querySelectorAll('.cw-holds')) fold.classList.remove('cw-holds');
  if (!mark) return void CSS.highlights?.delete('cw-named');
  const places = JSON.parse(mark.dataset.asked).flatMap(find);
  for (const [code] of places) {
    const fold = code.closest('details:not([open])');
    if (fold) fold.classList.add('cw-holds');
  }
  if (window.Highlight) CSS.highlights.set('cw-named', new Highlight(...places.map(place => rangeOf(...place))));
};

export default function ({data, parentElement}) {
  const root = parentElement.querySelector('.cw-pair-page');
  if (root.cwHtml === data.html) return;
  root.innerHTML = root.cwHtml = data.html;
  const find = finder(root), named = new WeakSet();
  const name = details => {
    if (!details.open || named.has(details)) return;
    named.add(details);
    markNames(details, find);
  };
  CSS.highlights?.delete('cw-named');
  show(root, shown);
  for (const details of root.querySelectorAll('.cw-reasons')) {
    details.ontoggle = () => name(details);
    name(details);
  }
  root.onclick = event => {
    const tab = event.target.closest('[role=tab]');
    if (tab) show(root, shown = tab.dataset.tab);
    const mark = event.target.closest('.cw-mark');
    if (!mark || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(root, mark.hash.slice(1));
  };
  root.onkeydown = event => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step || !event.target.matches('[role=tab]')) return;
    const tabs = [...root.querySelectorAll('[role=tab]')];
    const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
    event.preventDefault();
    show(root, shown = next.dataset.tab).focus();
  };
  root.onmouseover = event => paint(root, find, event.target.closest('.cw-names'));
  // Capturing: focus and blur do not bubble, and the element lives as long as this HTML.
  const page = root.firstElementChild;
  page.addEventListener('focus', event => paint(root, find, event.target.closest('.cw-names')), true);
  page.addEventListener('blur', () => paint(root, find, null), true);
  root.onmouseleave = () => paint(root, find, null);
}
