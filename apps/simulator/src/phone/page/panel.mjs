/* global document, matchMedia */
import { byId, drawList, drawOnce, el, icon, setText } from './dom.mjs';
import { MOST_LINES } from './memory.mjs';
import { formatNumber, parseNumber, spokenNumber } from './numbers.mjs';
import { parseSmsUri } from './sms-uri.mjs';

const SMALL = '(max-width: 859px)';
const NETWORKS = [
  { network: 'online', sign: 'rcs', name: 'RCS, online', means: 'Cards arrive at once.' },
  { network: 'offline', sign: 'cloud-off', name: 'RCS, no data', means: 'Cards wait; SMS still works.' },
  { network: 'none', sign: 'sms-only', name: 'No RCS', means: 'An SMS is asked for at once.' },
];
const NETWORK_NAMES = { online: 'RCS on', offline: 'No data', none: 'SMS only' };
const THEMES = ['auto', 'light', 'dark'];

export const NUMBER_HINT = 'Write the number with its country, like +1 415 555 2671.';

/** Numbers, network and links, beside the phone or as a sheet over it. */
export function panel(actions) {
  opening(actions);
  numberForm(actions);
  linkForm(actions);
  byId('auto-tap').addEventListener('change', ({ target }) =>
    actions.setAutoTap(target.value === '' ? null : target.value),
  );
  byId('theme').addEventListener('click', () => actions.setTheme());
  byId('lines').addEventListener('keydown', moveAmongTabs);
  const networks = byId('networks');
  networks.append(...NETWORKS.map((each) => drawNetwork(each, actions)));
  return ({ lines, line, network, autoTap, theme }) => {
    byId('network-section').hidden = byId('link-section').hidden = line === null;
    drawList(
      byId('lines'),
      lines.map((each) => ({ ...each, selected: each.phone === line })),
      {
        keyOf: ({ phone }) => phone,
        draw: (each) => drawLine(each, actions),
      },
    );
    for (const input of networks.querySelectorAll('input')) input.checked = input.value === network;
    byId('auto-tap').value = autoTap ?? '';
    byId('auto-tap').disabled = network === 'none';
    drawTheme(theme);
  };
}

function drawLine({ phone, network, unread, selected }, actions) {
  const remove = el('button', { class: 'icon-button', type: 'button', 'aria-label': `Remove ${formatNumber(phone)}` });
  remove.append(icon('close'));
  remove.addEventListener('click', () => actions.removeLine(phone));
  const tab = el(
    'button',
    {
      class: 'line-tab',
      type: 'button',
      role: 'tab',
      'aria-selected': String(selected),
      'aria-controls': 'device',
      tabindex: selected ? '0' : '-1',
      onclick: () => actions.selectLine(phone),
    },
    icon('sim'),
    el(
      'span',
      {},
      el('strong', {}, formatNumber(phone)),
      el('small', {}, NETWORK_NAMES[network], el('span', { class: 'visually-hidden' }, `, ${spokenNumber(phone)}`)),
    ),
    unread === 0 ? null : el('span', { class: 'unread-count', 'aria-label': `${unread} unread` }, String(unread)),
  );
  return el('div', { class: 'line', role: 'presentation', 'data-selected': selected }, tab, remove);
}

function moveAmongTabs(event) {
  const tabs = [...byId('lines').querySelectorAll('[role=tab]')];
  const at = tabs.indexOf(document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at === -1 || next === undefined) return;
  event.preventDefault();
  tabs.at(next % tabs.length)?.click();
  byId('lines').querySelector('[aria-selected=true]')?.focus();
}

function drawNetwork({ network, sign, name, means }, actions) {
  const input = el('input', { type: 'radio', name: 'network', value: network });
  input.addEventListener('change', () => actions.setNetwork(network));
  return el(
    'label',
    { class: 'network' },
    input,
    icon(sign),
    el('span', {}, el('strong', {}, name), el('small', {}, means)),
  );
}

function drawTheme(theme) {
  const button = byId('theme');
  drawOnce(button, theme, () => icon(theme));
  button.setAttribute('aria-label', `Colours: ${theme === 'auto' ? 'as this computer has them' : theme}`);
  button.title = button.getAttribute('aria-label');
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export const themeAfter = (theme) => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];

function numberForm(actions) {
  byId('line-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const field = byId('line-new');
    const phone = parseNumber(field.value);
    setText(byId('line-problem'), phone === null ? NUMBER_HINT : actions.addLine(phone));
    if (byId('line-problem').hidden) field.value = '';
  });
}

function linkForm(actions) {
  byId('link-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const field = byId('link-uri');
    const asked = parseSmsUri(field.value);
    setText(byId('link-problem'), asked === null ? 'That is not an sms: link to one number.' : null);
    if (asked === null) return;
    field.value = '';
    actions.openPanel(false);
    actions.compose(asked);
  });
}

/** On small screens the panel covers the phone, which then takes no focus. */
function opening(actions) {
  byId('panel-close').addEventListener('click', () => actions.openPanel(false));
  byId('panel-shade').addEventListener('click', () => actions.openPanel(false));
  matchMedia(SMALL).addEventListener('change', () => actions.openPanel(false));
}

export function showPanel(open) {
  const covers = open && matchMedia(SMALL).matches;
  document.body.toggleAttribute('data-panel', covers);
  if (covers) document.body.dataset.panel = 'open';
  byId('device').inert = covers;
  if (covers) byId('panel-close').focus();
}

export const tooManyLines = (lines) =>
  lines.length >= MOST_LINES ? `${MOST_LINES} numbers are the most. Remove one first.` : null;
