import { byId, el, icon, setText } from './dom.mjs';
import { parseNumber } from './numbers.mjs';
import { NUMBER_HINT } from './panel.mjs';

const FIRST_NUMBER = '+1 415 555 2671';

/** The screen of a phone that has no number yet. */
export function welcome(actions) {
  const field = el('input', {
    type: 'tel',
    id: 'first-number',
    value: FIRST_NUMBER,
    autocomplete: 'off',
    required: true,
  });
  const rcs = el('input', { type: 'checkbox', id: 'first-rcs', checked: true });
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  const form = el(
    'form',
    { novalidate: true },
    el('label', {}, el('span', {}, 'Its number'), field),
    el('label', { class: 'check' }, rcs, el('span', {}, 'This phone has RCS')),
    problem,
    el('button', { class: 'solid-button', type: 'submit' }, 'Turn it on'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const phone = parseNumber(field.value);
    setText(problem, phone === null ? NUMBER_HINT : actions.addLine(phone));
    if (problem.hidden) actions.setNetwork(rcs.checked ? 'online' : 'none');
  });
  byId('welcome').append(
    el('div', { class: 'welcome-icon' }, icon('sim')),
    el('h1', { id: 'welcome-title' }, 'Put a number in this phone'),
    el('p', {}, 'Any number will do: it exists on this machine alone.'),
    form,
  );
}
