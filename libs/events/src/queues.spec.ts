import { describe, expect, it } from 'vitest';
import { idsOf } from './queues.js';

const ID = '0190a1b2-c3d4-7000-8000-000000000001';

describe('the ids of a job', () => {
  it('are its ids alone, whatever else a job carries', () => {
    expect(idsOf({ ids: [ID, 'x', null, 7, ID.toUpperCase(), `${ID}\n`, [ID], ID] })).toEqual([ID, ID]);
  });

  it('are none in a job of another form', () => {
    for (const data of [undefined, null, 7, 'ids', {}, { ids: ID }, { ids: { 0: ID } }])
      expect(idsOf(data)).toEqual([]);
  });
});
