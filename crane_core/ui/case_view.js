// The picture and the list of cases in the browser: a click on a case opens it, one on a heading sorts.
// The HTML comes finished and escaped from the server; here it is only put in its place.

const WORDS = {r: 'right', p: 'right call, wrong reason', w: 'wrong', u: 'no majority'};
const AGREE = {1: 'some runs disagree', 2: 'most runs agree', 3: 'all runs agree'};

export default function ({data, parentElement, setTriggerValue}) {
  const root = parentElement.querySelector('.cw-board');
  if (root.cwHtml !== data.html) root.innerHTML = root.cwHtml = data.html;
  root.onclick = event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // its own link: another tab
    const asked = event.target.closest('[data-case], [data-sort]');
    if (!asked) return;
    event.preventDefault();
    setTriggerValue('asked', {...asked.dataset});
  };
  root.onmouseover = event => {
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
