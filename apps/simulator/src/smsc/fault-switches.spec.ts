import { expect, it } from 'vitest';
import { FaultSwitches } from './fault-switches.js';

it('refuses as many submits as were ordered, throttled ones first, then accepts again', () => {
  const switches = new FaultSwitches();
  switches.set({ throttleNext: 2, queueFullNext: 1 });
  const verdicts = Array.from({ length: 5 }, () => switches.nextSubmit());
  expect(verdicts).toEqual(['throttle', 'throttle', 'queue_full', 'accept', 'accept']);
});

it('leaves the switches alone that a change does not name', () => {
  const switches = new FaultSwitches();
  switches.set({ muteSubmit: true });
  switches.set({ receipt: null });
  expect(switches.current).toMatchObject({ muteSubmit: true, receipt: null, rejectBind: false });
});
