import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Fifo } from './fifo.js';

it('a queue returns its items in order, like an array', () => {
  const steps = fc.array(fc.oneof(fc.constant('shift' as const), fc.constant('all' as const), fc.nat()));
  fc.assert(
    fc.property(steps, (sequence) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      for (const step of sequence) {
        if (step === 'shift') expect(fifo.shift()).toBe(model.shift());
        else if (step === 'all') expect(fifo.removeAll()).toEqual(model.splice(0));
        else {
          fifo.push(step);
          model.push(step);
        }
        expect(fifo.length).toBe(model.length);
      }
    }),
  );
});
