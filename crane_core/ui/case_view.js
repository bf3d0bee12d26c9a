// The picture and the list of cases in the browser: a click on a case opens it, one on a heading sorts, one on a
// sign of the legend keeps the cases that have it, and one on a library goes to its cases.
// The HTML comes finished and escaped from the server; here it is only put in its place.

const WORDS = {r: 'right', p: 'right call, wrong reason', w: 'wrong', u: 'no majority or no answer'};
const AGREE = {1: 'answers disagree', 2: 'most answers agree', 3: 'all answers agree'};

// Where the list stands beside the picture; below it, the list would begin screens further down, so it folds, as does
// what the signs of the list mean.
const WIDE = matchMedia('(min-width: 900px)');
const unfolded = new Set();

// The same case in the picture and in the list.
function point(root, name) {
  for (const one of root.querySelectorAll('.cw-here')) one.classList.remove('cw-here');
  if (!name) return;
  for (const one of root.querySelectorAll(`[data-case="${CSS.escape(name)}"]`)) one.classList.add('cw-here');
}

export default function ({data, parentElement, setTriggerValue}) {
  const root = parentElement.querySelector('.cw-board');
  if (root.cwHtml !== data.html) {
    root.innerHTML = root.cwHtml = data.html; // the same again would drop the focus
    const picture = root.querySelector('.cw-picture');
    const folds = root.querySelectorAll('.cw-picture, .cw-key');
    const fold = () => { for (const one of folds) one.open = WIDE.matches || unfolded.has(one.className); };
    for (const one of folds) {
      one.ontoggle = () => { if (!WIDE.matches) unfolded[one.open ? 'add' : 'delete'](one.className); };
    }
    fold();
    WIDE.onchange = fold;
    // Its height says where it stops while the list scrolls on; it changes with the width of the window.
    if (picture) new ResizeObserver(() => picture.style.setProperty('--tall', `${picture.offsetHeight}px`)).observe(picture);
  }
  root.onclick = event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // its own link: another tab
    const jump = event.target.closest('[data-jump]');
    // To the first case: the heading itself sticks, so that it would count as in sight.
    if (jump) return root.querySelectorAll('.cw-of-library')[jump.dataset.jump]?.nextElementSibling.scrollIntoView();
    const asked = event.target.closest('[data-case], [data-sort], [data-pattern]');
    if (!asked) return;
    event.preventDefault();
    setTriggerValue('asked', {...asked.dataset});
  };
  root.onmouseleave = () => point(root, undefined);
  root.onmouseover = event => {
    point(root, event.target.closest('[data-case]')?.dataset.case);
    const mark = event.target.closest('i[class]');
    if (!mark || mark.title) return;
    const line = mark.closest('[data-case]');
    if (!line) return;
    const place = [...line.querySelectorAll('i')].indexOf(mark);
    const n = data.columns.length;
    const version = place < n ? 'crashing' : 'fixed';
    const code = mark.className.match(/[rpwu]\d/)?.[0];
    const said = code ? `${WORDS[code[0]]}, ${AGREE[code[1]]}` : 'not asked';
    mark.title = `${line.dataset.case}: ${data.columns[place % n]}, ${version}: ${said}`;
  };
}
