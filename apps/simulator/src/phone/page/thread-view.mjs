import { drawCard } from './card.mjs';
import { byId, drawList, drawOnce, el, icon, setText } from './dom.mjs';
import { copyText } from './list-view.mjs';
import { formatNumber } from './numbers.mjs';
import { avatarOf, nameOf, tickOf } from './people.mjs';
import { cardStateOf, codeIn, entriesOf } from './threads.mjs';
import { clockOf } from './times.mjs';

/** If the view is nearer to its end than this, it scrolls to new messages. */
const NEAR_END_PX = 120;

/** One conversation. */
export function threadView(actions) {
  const scroll = byId('thread-scroll');
  byId('thread-back').addEventListener('click', () => actions.closeThread());
  let shown = null;
  return ({ line, thread, now }) => {
    const { key, agent, peer, items } = thread;
    const fresh = shown !== `${line} ${key}`;
    shown = `${line} ${key}`;
    if (fresh) byId('entries').replaceChildren();
    const follows = fresh || scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR_END_PX;
    drawOnce(byId('thread-who'), [agent, peer], () => whoOf(thread));
    drawOnce(byId('thread-intro'), [agent, peer], () => introOf(thread));
    const before = byId('entries').childElementCount;
    drawList(byId('entries'), shownEntries(items, now), {
      keyOf: (entry) => entry.key,
      draw: (entry, isNew) => drawEntry(entry, { actions, arriving: isNew && before > 0 }),
    });
    drawOnce(byId('composer-slot'), [line, key], () => composerOf(thread, line, actions));
    if (follows) scroll.scrollTop = scroll.scrollHeight;
  };
}

/** A card is drawn again when its state changes with time. */
const shownEntries = (items, now) =>
  entriesOf(items, now).map((entry) =>
    entry.kind === 'card' ? { ...entry, state: cardStateOf(entry.item, now) } : entry,
  );

function whoOf(thread) {
  const { agent } = thread;
  return [
    avatarOf(thread),
    el(
      'div',
      {},
      el(
        'h2',
        { class: 'thread-title', id: 'thread-name', tabindex: '-1' },
        el('span', {}, nameOf(thread)),
        tickOf(agent),
      ),
      el('p', {}, agent === null ? 'SMS' : 'RCS business chat'),
    ),
  ];
}

function introOf(thread) {
  const { agent } = thread;
  if (agent === null)
    return [avatarOf(thread), el('strong', {}, nameOf(thread)), el('span', {}, 'Conversation by SMS')];
  const trust = agent.verified ? 'Verified business' : 'Not verified';
  return [
    avatarOf(thread),
    el('strong', {}, agent.name, tickOf(agent)),
    el('span', { class: 'trust' }, icon(agent.verified ? 'lock' : 'warning'), trust),
  ];
}

function drawEntry(entry, { actions, arriving }) {
  const attributes = { class: 'entry', 'data-kind': entry.kind, 'data-mine': entry.mine === true };
  const node = el('li', { ...attributes, 'data-arriving': arriving });
  node.append(...contentOf(entry, actions));
  return node;
}

function contentOf(entry, actions) {
  if (entry.kind === 'day') return [entry.text];
  if (entry.kind === 'choice') return [bubble(entry.text, true), meta('checks', 'Tapped')];
  const { item } = entry;
  if (entry.kind === 'card') return [drawCard(item, entry.state, actions), timeOf(item)];
  if (entry.mine) return [bubble(item.text, true), sentMeta(item)];
  const note = item.state === 'revoked' || item.state === 'expired' ? meta('withdrawn', 'Never arrived') : timeOf(item);
  return [bubble(item.text ?? '', false), codeChip(item.text ?? ''), note].filter((part) => part !== null);
}

const bubble = (text, mine) =>
  el('p', { class: 'bubble' }, el('span', { class: 'visually-hidden' }, mine ? 'You: ' : ''), text);

const meta = (sign, text, failed = false) =>
  el('span', { class: 'meta', 'data-failed': failed }, sign === null ? null : icon(sign), text);

const timeOf = ({ at }) => el('span', { class: 'meta' }, el('time', { datetime: at }, clockOf(at)));

function sentMeta({ kind, at, commandStatus }) {
  if (kind !== 'sms' || commandStatus === 0) return meta('checks', clockOf(at));
  if (commandStatus === null) return meta('warning', 'No answer: it may or may not have arrived', true);
  return meta('warning', `Not taken by the service (status ${commandStatus})`, true);
}

function codeChip(text) {
  const code = codeIn(text);
  if (code === null) return null;
  const chip = el('button', { class: 'code-chip', type: 'button' }, icon('copy'), `Copy ${code}`);
  chip.addEventListener('click', () => void copyText(code, chip));
  return chip;
}

/** Sends by the conversation's channel; a name as the sender cannot be answered. */
function composerOf(thread, line, actions) {
  const { agent, peer } = thread;
  if (agent === null && !/^\+?[0-9]+$/.test(peer)) {
    return el('p', { class: 'no-answer' }, `${peer} is a name, not a number: it takes no answers.`);
  }
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  const name = agent?.name ?? formatNumber(peer);
  const field = el('textarea', { rows: '1', placeholder: `Text ${name}`, 'aria-label': `Message to ${name}` });
  const send = el(
    'button',
    { class: 'send-button', type: 'submit', 'aria-label': 'Send', disabled: true },
    icon('send'),
  );
  const form = el('form', { class: 'composer' }, field, send);
  field.addEventListener('input', () => (send.disabled = field.value.trim() === ''));
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!send.disabled) form.requestSubmit();
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    send.disabled = true;
    const text = field.value;
    setText(
      problem,
      await (agent === null ? actions.sendSms(line, peer, text) : actions.sendReply(agent.agentId, text)),
    );
    if (problem.hidden) field.value = '';
    send.disabled = field.value.trim() === '';
  });
  return [problem, form];
}
