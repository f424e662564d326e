import { el, icon, setText } from './dom.mjs';
import { tickOf } from './people.mjs';
import { suggestionLayoutOf } from './threads.mjs';

/** A card with its buttons while it can be answered, and with its result afterwards. */
export function drawCard(item, state, actions) {
  const { agent, title, text } = item;
  const card = el(
    'article',
    { class: 'card', 'data-state': state, 'aria-label': `Card from ${agent.name}` },
    mediaOf(item),
    el(
      'div',
      { class: 'card-body' },
      el('p', { class: 'card-brand' }, agent.name, tickOf(agent)),
      title === null ? null : el('h3', { class: 'card-title' }, title),
      text === null ? null : el('p', { class: 'card-text' }, text),
    ),
  );
  if (state === 'open') card.append(...answersOf(item, actions));
  else card.append(noteOf(item, state));
  return card;
}

/** Its own picture, else the logo, else a letter. */
function mediaOf({ agent, mediaUrl }) {
  const source = mediaUrl ?? agent.logoUrl;
  const letter = el('span', { class: 'monogram', 'aria-hidden': 'true' }, agent.name.charAt(0).toUpperCase());
  const frame = el('div', { class: 'card-media', 'data-logo': true }, letter);
  if (source === null) return frame;
  const image = el('img', { src: source, alt: '' });
  image.addEventListener('load', () => {
    // A wide image fills the band; a logo is centred in it.
    const wide = image.naturalWidth >= image.naturalHeight * 1.6;
    frame.toggleAttribute('data-logo', !wide);
    frame.replaceChildren(image);
  });
  return frame;
}

function answersOf({ messageId, suggestions }, actions) {
  const layout = suggestionLayoutOf(suggestions);
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  const group = el('div', { class: 'card-actions', 'data-layout': layout, role: 'group', 'aria-label': 'Answers' });
  const tap = async (index) => {
    for (const button of group.children) button.disabled = true;
    setText(problem, await actions.tap(messageId, index));
    if (!problem.hidden) for (const button of group.children) button.disabled = false;
  };
  for (const { index, text } of suggestions) {
    const kind = /^[0-9]+$/.test(text) ? 'number' : null;
    group.append(el('button', { type: 'button', class: kind, onclick: () => void tap(index) }, text));
  }
  return [group, problem];
}

const NOTES = {
  answered: ['check', () => 'Answered'],
  over: ['clock', () => 'This request has expired'],
  revoked: ['withdrawn', ({ agent }) => `Withdrawn by ${agent.name} before it arrived`],
  expired: ['clock', () => 'Expired before it arrived'],
};

function noteOf(item, state) {
  const [sign, wordsOf] = NOTES[state];
  return el('p', { class: 'card-note' }, icon(sign), wordsOf(item));
}
