/* global document */

/** An element with attributes, listeners (`onclick`) and children. Text is never parsed as HTML. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}

export const icon = (name) => el('span', { class: `icon icon-${name}`, 'aria-hidden': 'true' });

export const byId = (id) => document.getElementById(id);

/** Shows the text, or hides the element when there is none. */
export function setText(node, text) {
  node.textContent = text ?? '';
  node.hidden = text === null || text === '';
}

/** Replaces children only when they differ from the previous ones, so that focus and animations are kept. */
export function drawOnce(node, seen, draw) {
  const signature = JSON.stringify(seen);
  if (node.dataset.seen === signature) return;
  node.dataset.seen = signature;
  node.replaceChildren(...[draw()].flat());
}

/** The same for a list: each entry has a key and is drawn again only when its input has changed. */
export function drawList(container, entries, { keyOf, draw }) {
  const shown = new Map([...container.children].map((node) => [node.dataset.key, node]));
  const focused = container.contains(document.activeElement) ? document.activeElement : null;
  const focusedKey = focused?.closest('[data-key]')?.dataset.key;
  const nodes = entries.map((entry) => {
    const signature = JSON.stringify(entry);
    const known = shown.get(keyOf(entry));
    if (known?.dataset.seen === signature) return known;
    const node = draw(entry, known === undefined);
    node.dataset.key = keyOf(entry);
    node.dataset.seen = signature;
    return node;
  });
  placeAll(container, nodes);
  if (focused !== null && !focused.isConnected) refocus(nodes.find((node) => node.dataset.key === focusedKey));
}

/** Moves no node that is in its place already: a moved node loses its focus. */
function placeAll(container, nodes) {
  const wanted = new Set(nodes);
  for (const node of [...container.children]) if (!wanted.has(node)) node.remove();
  nodes.forEach((node, index) => {
    if (container.children[index] !== node) container.insertBefore(node, container.children[index] ?? null);
  });
}

function refocus(node) {
  const target = node?.matches('button, [tabindex]') ? node : node?.querySelector('button, [tabindex]');
  target?.focus({ preventScroll: true });
}
