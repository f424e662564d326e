/* global document, matchMedia */
// The screens of the page, one at a time; text is set as text, never as markup.
import { storyOf } from './shown.mjs';

const screens = new Map(
  [...document.querySelectorAll('[data-screen]')].map((element) => [element.dataset.screen, element]),
);

export function fill(slot, text) {
  for (const element of document.querySelectorAll(`[data-slot="${slot}"]`)) element.textContent = text;
}

export function shownScreen() {
  return document.body.dataset.at;
}

/** Shows a screen. A change of screens clears its error and moves the focus. */
export function show(name, { focus = true } = {}) {
  if (shownScreen() === name) return;
  document.body.dataset.at = name;
  for (const [other, element] of screens) element.hidden = other !== name;
  for (const fault of document.querySelectorAll('[data-fault]')) showFault(fault.dataset.fault, null);
  tellStory(name);
  if (focus) (screens.get(name).querySelector('input[type="text"]') ?? screens.get(name).querySelector('h2')).focus();
}

function tellStory(screen) {
  for (const [step, state] of storyOf(screen)) {
    const element = document.querySelector(`[data-story="${step}"]`);
    element.toggleAttribute('data-done', state === 'done');
    if (state === 'now') element.setAttribute('aria-current', 'step');
    else element.removeAttribute('aria-current');
  }
}

/** Shows what happened and what to do next; null removes it. */
export function showFault(name, advice) {
  const element = document.querySelector(`[data-fault="${name}"]`);
  if (element === null) return;
  const input = screens.get(name)?.querySelector('input[aria-describedby]');
  input?.toggleAttribute('aria-invalid', false);
  if (advice !== null) input?.setAttribute('aria-invalid', 'true');
  const title = document.createElement('b');
  title.textContent = advice?.title ?? '';
  element.replaceChildren(...(advice === null ? [] : [title, advice.next]));
  element.hidden = advice === null;
}

/** Parts of a screen for one case only. */
export function showWhen(name, holds) {
  for (const element of document.querySelectorAll(`[data-when="${name}"]`)) element.hidden = !holds;
}

export function link(name, href) {
  for (const element of document.querySelectorAll(`[data-link="${name}"]`)) element.href = href;
}

/** The phone beside the shop; links to it open there by its name, or in a tab of their own on small screens. */
const PHONE_FRAME = 'countersign-phone';
const ROOM_FOR_PHONE = '(min-width: 57rem)';

/** Shows the phone; null removes it. */
export function lay(href) {
  const place = document.querySelector('[data-beside]');
  const laid = place.querySelector('iframe');
  const wanted = href !== null && matchMedia(ROOM_FOR_PHONE).matches;
  document.body.toggleAttribute('data-framed', wanted);
  place.hidden = !wanted;
  if (!wanted) return laid?.remove();
  if (laid?.dataset.href === href) return undefined;
  laid?.remove();
  const frame = Object.assign(document.createElement('iframe'), { name: PHONE_FRAME, title: 'The simulated phone' });
  frame.dataset.href = href;
  frame.src = href;
  return place.prepend(frame);
}

/** Announces a text to screen readers. */
export function announce(text) {
  fill('announcement', text);
}

export function showTime(share, text) {
  for (const clock of document.querySelectorAll('[data-clock]')) {
    clock.style.setProperty('--left', String(share));
    clock.toggleAttribute('data-low', share < 0.2);
    clock.querySelector('span').textContent = text;
  }
}
