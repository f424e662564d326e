import { el, icon } from './dom.mjs';
import { formatNumber } from './numbers.mjs';

const HUES = 5;

const hueOf = (name) => [...name].reduce((sum, character) => (sum * 31 + character.codePointAt(0)) % 9973, 7) % HUES;

/** The name of the other side of a conversation. */
export const nameOf = ({ agent, peer }) => agent?.name ?? formatNumber(peer ?? '');

/** Its picture: a logo, a letter, or a sign for a number without a name. */
export function avatarOf({ agent, peer }) {
  const name = agent?.name ?? peer ?? '';
  const frame = el('span', { class: `avatar hue-${hueOf(name)}`, 'aria-hidden': 'true' });
  const letter = /\p{L}/u.exec(name)?.[0];
  frame.append(letter === undefined ? icon('chat') : letter.toUpperCase());
  if (typeof agent?.logoUrl === 'string') {
    const logo = el('img', { src: agent.logoUrl, alt: '' });
    logo.addEventListener('load', () => frame.replaceChildren(logo));
  }
  return frame;
}

/** The check mark of a business that its platform has verified. */
export const tickOf = (agent) =>
  agent?.verified === true ? el('span', { class: 'icon icon-verified', role: 'img', 'aria-label': 'verified' }) : null;
