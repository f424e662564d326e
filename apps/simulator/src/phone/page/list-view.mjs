/* global document, navigator */
import { byId, drawList, drawOnce, el, icon } from './dom.mjs';
import { formatNumber } from './numbers.mjs';
import { avatarOf, nameOf, tickOf } from './people.mjs';
import { ageOf } from './times.mjs';

/** The conversations of the selected number. */
export function listView(actions) {
  const list = byId('threads');
  list.addEventListener('keydown', moveAmongThreads);
  byId('compose-open').addEventListener('click', () => actions.compose());
  byId('panel-open').addEventListener('click', () => actions.openPanel(true));
  return ({ line, network, threads, waiting, now }) => {
    drawOnce(byId('list-number'), line, () => [icon('sim'), formatNumber(line)]);
    drawList(list, threads.map(rowOf(now)), {
      keyOf: ({ key }) => key,
      draw: (row) => drawThread(row, actions),
    });
    drawWaiting(waiting, actions);
    const empty = byId('empty');
    empty.hidden = threads.length > 0;
    drawOnce(empty, [line, network], () => drawEmpty(line, network, actions));
  };
}

const rowOf =
  (now) =>
  ({ key, agent, peer, at, preview, unread }) => ({ key, agent, peer, preview, unread, at, age: ageOf(at, now) });

function drawThread(row, actions) {
  const { key, agent, at, age, preview, unread } = row;
  const count = unread === 0 ? null : el('span', { class: 'unread-count' }, String(unread));
  count?.append(el('span', { class: 'visually-hidden' }, ' unread'));
  return el(
    'li',
    {},
    el(
      'button',
      { class: 'thread', type: 'button', 'data-unread': unread > 0, onclick: () => actions.openThread(key) },
      avatarOf(row),
      el(
        'span',
        {},
        el('span', { class: 'thread-name' }, el('span', {}, nameOf(row)), tickOf(agent)),
        el('span', { class: 'thread-preview' }, preview),
      ),
      el('span', { class: 'thread-end' }, el('time', { datetime: at }, age), count),
    ),
  );
}

function drawWaiting(waiting, actions) {
  const note = byId('waiting-note');
  note.hidden = waiting === 0;
  const what = waiting === 1 ? '1 message waits' : `${waiting} messages wait`;
  drawOnce(note, waiting, () => [
    icon('clock'),
    el('p', {}, `${what} until this phone is online.`),
    el('button', { type: 'button', onclick: () => actions.setNetwork('online') }, 'Go online'),
  ]);
}

const HINTS = {
  online: 'RCS is on: sign in at the demo shop, and a card with Approve and Deny arrives here.',
  offline: 'RCS has no data now: sign in at the demo shop, and you are asked to send an SMS instead.',
  none: 'Without RCS you are asked to send an SMS: sign in at the demo shop with this number.',
};

function drawEmpty(line, network, actions) {
  const copy = el('button', { class: 'tonal-button', type: 'button' }, icon('copy'), 'Copy this number');
  copy.addEventListener('click', () => void copyText(line, copy));
  const turnOn = el('button', { class: 'tonal-button', type: 'button' }, icon('rcs'), 'Turn RCS on');
  turnOn.addEventListener('click', () => actions.setNetwork('online'));
  return [
    el('div', { class: 'empty-icon' }, icon('chat')),
    el('h2', {}, 'No messages yet'),
    el('p', {}, HINTS[network]),
    el(
      'div',
      { class: 'empty-actions' },
      el(
        'a',
        { class: 'solid-button', href: '../demo/', target: 'countersign-demo' },
        'Open the demo shop',
        icon('arrow'),
      ),
      network === 'online' ? copy : turnOn,
    ),
  ];
}

/** Copies a text and confirms it on the button. */
export async function copyText(text, button) {
  const before = [...button.childNodes];
  try {
    await navigator.clipboard.writeText(text);
    button.replaceChildren(icon('check'), 'Copied');
  } catch {
    button.replaceChildren(icon('warning'), 'Copying is not allowed here');
  }
  setTimeout(() => button.replaceChildren(...before), 1_600);
}

function moveAmongThreads(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = document.activeElement?.closest('.thread')?.parentElement;
  if (step === undefined || !row) return;
  event.preventDefault();
  (step === 1 ? row.nextElementSibling : row.previousElementSibling)?.querySelector('.thread')?.focus();
}
