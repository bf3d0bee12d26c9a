// A leaderboard in the browser: a heading sorts, a row opens its answers, a link of it its cases.
// The HTML comes finished and escaped from the server; here it is only put in its place.

export default function ({data, parentElement, setTriggerValue}) {
  const root = parentElement.querySelector('.cw-leaderboard');
  if (root.cwHtml !== data.html) root.innerHTML = root.cwHtml = data.html;
  root.onclick = event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // its own link: another tab
    const asked = event.target.closest('[data-sort], [data-place]');
    if (!asked) return;
    event.preventDefault();
    // A link within a row may lead to another page than the row.
    const link = event.target.closest('[data-page]');
    setTriggerValue('asked', {...asked.dataset, ...link?.dataset});
  };
}
