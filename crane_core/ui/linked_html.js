// Finished HTML in the browser: a link to another view of the page is followed without loading the app again.
// The HTML comes finished and escaped from the server; here it is only put in its place.

export default function ({data, parentElement, setTriggerValue}) {
  const root = parentElement.querySelector('.cw-linked');
  if (root.cwHtml !== data.html) root.innerHTML = root.cwHtml = data.html;
  root.onclick = event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // its own link: another tab
    const link = event.target.closest('a[href^="?"]');
    if (!link) return;
    event.preventDefault();
    setTriggerValue('asked', link.getAttribute('href'));
  };
}
