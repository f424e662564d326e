import { afterAll, beforeAll, expect, it } from 'vitest';
import { bind, enquireLink } from '../codec/octets.fixture.js';
import { linkOptions, Loopback } from './raw-peer.fixture.js';

let loopback: Loopback;
beforeAll(async () => {
  loopback = await Loopback.open();
});
afterAll(() => loopback.close());

it('octets queued while writing was allowed are discarded when it no longer is at the flush, and the link is destroyed', async () => {
  let mayWrite = true;
  const { link, peer } = await loopback.link(
    linkOptions({
      mayWrite: () => mayWrite,
      onPdu: (direction, pdu) => {
        if (direction === 'out' && pdu.sequence === 3) mayWrite = false;
      },
    }),
  );
  peer.send(bind());
  await peer.answer(1);
  peer.send(enquireLink(2));
  await peer.answer(2);
  peer.send(enquireLink(3));
  expect(await peer.closed(), 'PDUs that arrived after writing was disallowed').toBe(0);
  await link.closed;
  expect(link.state).toBe('closed');
});
