import { byId, el } from './dom.mjs';
import { formatNumber } from './numbers.mjs';
import { avatarOf, nameOf, tickOf } from './people.mjs';
import { threadKeyOf } from './threads.mjs';

const SHOWN_MS = 6_000;

/** Announces a message that arrives while another conversation or number is open: shown for a while, and spoken. */
export function banner(actions) {
  const slot = byId('banner-slot');
  let over = null;
  let shown = null;
  const clear = () => {
    shown = null;
    slot.replaceChildren();
  };
  const show = (item, elsewhere) => {
    const { agent, peer } = { agent: null, peer: null, ...item };
    const open = () => actions.openThread(threadKeyOf(item), item.phone);
    shown = item;
    slot.replaceChildren(
      el(
        'button',
        { class: 'banner', type: 'button', onclick: open },
        avatarOf({ agent, peer }),
        el(
          'span',
          {},
          elsewhere ? el('span', { class: 'banner-line' }, `To ${formatNumber(item.phone)}`) : null,
          el('span', { class: 'thread-title' }, el('span', {}, nameOf({ agent, peer })), tickOf(agent)),
          el('span', { class: 'banner-text' }, wordsOf(item)),
        ),
      ),
    );
    clearTimeout(over);
    over = setTimeout(clear, SHOWN_MS);
  };
  /** The banner is not needed in the conversation that it links to, and would cover the back button. */
  const arrived = (key, phone) => {
    if (shown !== null && threadKeyOf(shown) === key && shown.phone === phone) clear();
  };
  return { show, arrived };
}

const wordsOf = ({ kind, title, text }) => (kind === 'card' ? (title ?? text ?? '') : (text ?? ''));

/** Announces a message to screen readers. */
export function announce(item) {
  const who = item.kind === 'sms' ? `SMS from ${formatNumber(item.peer)}` : `${item.agent.name}`;
  const answers = item.kind === 'card' ? `. Answers: ${item.suggestions.map(({ text }) => text).join(', ')}` : '';
  byId('announcer').textContent = `${who}: ${wordsOf(item)}${answers}`;
}
