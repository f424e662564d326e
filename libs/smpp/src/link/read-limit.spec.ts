import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bind, ID, message } from '../codec/octets.fixture.js';
import { STATUS } from '../pdu/dictionary.js';
import { Loopback, linkOptions } from './raw-peer.fixture.js';
import { ReadLimit } from './read-limit.js';

const FLOOD = 20_000;

let loopback: Loopback;
beforeAll(async () => {
  loopback = await Loopback.open();
});
afterAll(() => loopback.close());

describe('the limit of PDUs that are answered at once', () => {
  it('asks for no pause within the burst, and then until the rate is kept again', () => {
    const limit = new ReadLimit({ perSecond: 100, burst: 10 }, 0);
    for (let count = 0; count < 9; count += 1) limit.count();
    expect(limit.pauseMs(0)).toBe(0);
    for (let count = 0; count < 20; count += 1) limit.count();
    expect(limit.pauseMs(0)).toBe(200);
    expect(limit.pauseMs(1_000)).toBe(0);
  });
});

describe('messages that are refused', () => {
  it.each([
    ['at once', { status: STATUS.ESME_RTHROTTLED }],
    ['later', Promise.resolve({ status: STATUS.ESME_RMSGQFUL })],
  ])('%s, in a flood: reading pauses; other links are answered, and this one later', async (_when, answer) => {
    let handled = 0;
    const { link, peer } = await loopback.link(
      linkOptions({
        onMessage: () => {
          handled += 1;
          return answer;
        },
      }),
    );
    peer.send(bind());
    await peer.answer(1);
    peer.send(Buffer.concat(Array.from({ length: FLOOD }, (_, at) => message({}, [], ID.submit_sm, at + 1_000))));
    await expect.poll(() => link.lastError).toContain('messages that are refused');
    const { peer: other } = await loopback.link(linkOptions({ onMessage: () => ({ status: STATUS.ESME_ROK }) }));
    other.send(bind());
    await other.answer(1);
    other.send(message({}, [], ID.submit_sm, 7));
    expect((await other.answer(7)).status).toBe(STATUS.ESME_ROK);
    expect(link.state).toBe('bound_trx');
    expect(handled).toBeLessThan(FLOOD);
    link.destroy('done');
  });

  it('a few hundred at a time are each answered without a pause', async () => {
    const { link, peer } = await loopback.link(linkOptions({ onMessage: () => ({ status: STATUS.ESME_RTHROTTLED }) }));
    peer.send(bind());
    await peer.answer(1);
    for (let sequence = 2; sequence < 500; sequence++) peer.send(message({}, [], ID.submit_sm, sequence));
    for (let sequence = 2; sequence < 500; sequence++)
      expect((await peer.answer(sequence)).status).toBe(STATUS.ESME_RTHROTTLED);
    expect(link.lastError).toBeNull();
  });
});
