import { byId, drawOnce, el, icon } from './dom.mjs';
import { formatNumber, spokenNumber } from './numbers.mjs';
import { clockOf } from './times.mjs';

const BADGES = {
  online: ['rcs', 'RCS', 'RCS is on'],
  offline: ['cloud-off', 'No data', 'RCS has no data'],
  none: ['sms-only', 'SMS only', 'no RCS'],
};

/** The time, the number, and its kind of connection. */
export function statusBar() {
  const bar = byId('status-bar');
  return ({ line, network, connection, now }) => {
    byId('lost').hidden = connection !== 'lost';
    drawOnce(bar, [line, network, clockOf(now)], () => [
      el('span', {}, clockOf(now)),
      el('span', { class: 'status-number' }, ...numberOf(line)),
      el('span', { class: 'status-end' }, ...connectionOf(line, network)),
    ]);
  };
}

const numberOf = (line) =>
  line === null
    ? ['No number']
    : [
        el('span', { 'aria-hidden': 'true' }, formatNumber(line)),
        el('span', { class: 'visually-hidden' }, spokenNumber(line)),
      ];

function connectionOf(line, network) {
  const battery = icon('battery');
  if (line === null) return [battery];
  const [sign, text, spoken] = BADGES[network];
  const badge = el('span', { class: 'rcs-badge', 'data-network': network }, icon(sign));
  badge.append(el('span', { 'aria-hidden': 'true' }, text), el('span', { class: 'visually-hidden' }, spoken));
  const signal = el('span', { class: 'icon icon-signal', role: 'img', 'aria-label': 'full signal' });
  return [badge, signal, battery];
}
