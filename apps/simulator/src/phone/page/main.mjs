/* global addEventListener, document, history, location, URLSearchParams */
import { announce, banner } from './banner.mjs';
import { composeSheet } from './compose.mjs';
import { byId } from './dom.mjs';
import { listView } from './list-view.mjs';
import { keep } from './memory.mjs';
import { parseNumber } from './numbers.mjs';
import { panel, showPanel, themeAfter, tooManyLines } from './panel.mjs';
import { follow, readCard, sendReply, sendSms, setPhone, tapCard } from './simulator.mjs';
import { parseSmsUri, smsUriOfHash } from './sms-uri.mjs';
import {
  addLine,
  emptyState,
  isLookedAt,
  noteSeen,
  picture,
  removeLine,
  selectLine,
  takeItem,
  takeSnapshot,
} from './state.mjs';
import { statusBar } from './status-bar.mjs';
import { threadView } from './thread-view.mjs';
import { SWITCHES } from './threads.mjs';
import { welcome } from './welcome.mjs';

/** Interval at which ages and expired cards are redrawn. */
const TICK_MS = 1_000;

const state = emptyState();
let views = [];
let drawn = false;
let unfollow = () => undefined;
/** The text of a link that was opened before there was a number to send from. */
let asked = null;
const reported = new Set();

const actions = {
  addLine(phone) {
    const problem = state.lines.includes(phone) ? null : tooManyLines(state.lines);
    if (problem === null) changeLines(() => addLine(state, phone));
    return problem;
  },
  removeLine: (phone) => changeLines(() => removeLine(state, phone)),
  selectLine: (phone) => change(() => selectLine(state, phone)),
  setNetwork: (network) => void setPhone(state.selected, SWITCHES[network]),
  setAutoTap: (autoTap) => void setPhone(state.selected, { autoTap }),
  setTheme: () => change(() => (state.theme = themeAfter(state.theme))),
  openThread(key, phone = state.selected) {
    selectLine(state, phone);
    goTo(key);
    notice.arrived(key, phone);
    byId('thread-back').focus({ preventScroll: true });
  },
  closeThread() {
    const left = state.open;
    goTo(null);
    const row = [...byId('threads').children].find((node) => node.dataset.key === left);
    row?.querySelector('.thread')?.focus({ preventScroll: true });
  },
  compose: (request = null) =>
    state.lines.length === 0 ? (asked = request) : compose(state.lines, state.selected, request),
  openPanel(open) {
    showPanel(open);
    if (!open && document.activeElement?.closest('.panel')) byId('panel-open').focus();
  },
  /** While a sheet is open nothing else gets the focus. */
  onModal(open) {
    for (const id of ['list-view', 'thread-view', 'panel', 'banner-slot', 'status-bar']) byId(id).inert = open;
  },
  sendSms,
  sendReply: (agentId, text) => sendReply(state.selected, agentId, text),
  tap: tapCard,
};

const compose = composeSheet(actions);
const notice = banner(actions);

function change(how) {
  how();
  keep(state);
  draw();
}

/** Draws another screen at once, so that it can get the focus. */
function goTo(key) {
  state.open = key;
  drawNow();
  keep(state);
}

function changeLines(how) {
  change(how);
  connect();
  if (asked !== null && state.lines.length > 0) {
    compose(state.lines, state.selected, asked);
    asked = null;
  }
}

function connect() {
  unfollow();
  if (state.lines.length === 0) return;
  unfollow = follow(state.lines, {
    onSnapshot: (snapshot) => change(() => takeSnapshot(state, snapshot)),
    onPhone: (view) => change(() => (state.views[view.phone] = view)),
    onState: (connection) => change(() => (state.connection = connection)),
    onItem: (item) => change(() => take(item)),
  });
}

function take(item) {
  if (!takeItem(state, item)) return;
  announce(item);
  if (!isLookedAt(state, item)) notice.show(item, item.phone !== state.selected);
}

/** Draws once for several changes. */
function draw() {
  if (drawn) return;
  drawn = true;
  setTimeout(() => {
    drawn = false;
    drawNow();
  });
}

function drawNow() {
  const now = Date.now();
  reportRead(noteSeen(state, new Date(now).toISOString()));
  const shown = picture(state, now);
  const { line, thread, unread } = shown;
  document.title = `${unread > 0 ? `(${unread}) ` : ''}Phone · Countersign`;
  byId('welcome').hidden = line !== null;
  byId('list-view').hidden = line === null || thread !== null;
  byId('thread-view').hidden = thread === null;
  for (const view of views) view(shown);
}

/** Reports to the business once that its message was opened. */
function reportRead(items) {
  const news = items.filter(({ id }) => !reported.has(id));
  for (const { id, messageId } of news) {
    reported.add(id);
    void readCard(messageId);
  }
  if (news.length > 0) keep(state);
}

/** `?phone=` selects a number, `#sms:…` opens a text to send; other pages link this way. */
function followAddress() {
  const phone = parseNumber(new URLSearchParams(location.search).get('phone')?.replace(/^ /, '+') ?? '');
  if (phone !== null && tooManyLines(state.lines.filter((line) => line !== phone)) === null) addLine(state, phone);
  const uri = smsUriOfHash(location.hash);
  const request = uri === null ? null : parseSmsUri(uri);
  if (location.search !== '' || uri !== null) history.replaceState(null, '', location.pathname);
  if (request !== null) actions.compose(request);
}

function listenToKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    if (!byId('compose').hidden) byId('compose-cancel').click();
    else if (document.body.dataset.panel === 'open') actions.openPanel(false);
    else if (state.open !== null) actions.closeThread();
  });
  document.addEventListener('visibilitychange', draw);
}

// Links of the demo shop open in this tab.
globalThis.name = 'countersign-phone';
welcome(actions);
const [list, thread] = [listView(actions), threadView(actions)];
views = [
  statusBar(),
  panel(actions),
  (shown) => shown.line !== null && shown.thread === null && list(shown),
  (shown) => shown.thread !== null && thread(shown),
];
followAddress();
if (!state.lines.includes(state.selected)) selectLine(state, state.lines[0] ?? null);
keep(state);
drawNow();
connect();
listenToKeys();
addEventListener('hashchange', () => change(followAddress));
setInterval(draw, TICK_MS);
