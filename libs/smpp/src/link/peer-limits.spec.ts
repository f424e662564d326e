import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ID, RESP, bind, enquireLink, message, pdu } from '../codec/octets.fixture.js';
import { STATUS } from '../pdu/dictionary.js';
import { Loopback, linkOptions } from './raw-peer.fixture.js';

const FLOOD = 20_000;
/** A command that the dictionary does not have. */
const UNKNOWN = 0x00_00_01_ff;

let loopback: Loopback;
beforeAll(async () => {
  loopback = await Loopback.open();
});
afterAll(() => loopback.close());

const floods: readonly (readonly [string, (sequence: number) => Uint8Array])[] = [
  ['enquire_link', (sequence) => enquireLink(sequence)],
  ['unknown commands', (sequence) => pdu(UNKNOWN, sequence)],
  ['responses to nothing', (sequence) => pdu(RESP + ID.submit_sm, sequence)],
  ['malformed messages', (sequence) => pdu(ID.submit_sm, sequence)],
];

/** A link, and how many PDUs it has handled or sent. */
async function counted(): Promise<Awaited<ReturnType<Loopback['link']>> & { readonly handled: () => number }> {
  let handled = 0;
  const count = (): void => {
    handled += 1;
  };
  return { ...(await loopback.link(linkOptions({ onPdu: count, onMalformed: count }))), handled: () => handled };
}

describe.each(floods)('a flood of %s', (_name, octetsOf) => {
  const flood = Buffer.concat(Array.from({ length: FLOOD }, (_, at) => octetsOf(at + 1_000)));

  it('before the bind closes the connection after a few', async () => {
    const { link, peer, handled } = await counted();
    peer.send(flood);
    expect((await link.closed).reason).toBe('too many PDUs before the bind');
    expect(handled()).toBeLessThan(100);
  });

  it('after the bind pauses reading; other links are answered, and this one later', async () => {
    const { link, peer, handled } = await counted();
    peer.send(bind());
    await peer.answer(1);
    peer.send(flood);
    await expect.poll(() => link.lastError).toContain('too many PDUs');
    const { peer: other } = await loopback.link(linkOptions({ onMessage: () => ({ status: STATUS.ESME_ROK }) }));
    other.send(bind());
    await other.answer(1);
    other.send(message({}, [], ID.submit_sm, 7));
    expect((await other.answer(7)).status).toBe(0);
    expect(link.state).toBe('bound_trx');
    expect(handled()).toBeLessThan(FLOOD);
    link.destroy('done');
  });
});

it('a flood of further unbinds, while an answer is due, pauses reading', async () => {
  const onMessage = (): Promise<never> => new Promise<never>(() => undefined);
  let handled = 0;
  const { link, peer } = await loopback.link(linkOptions({ onMessage, onPdu: () => (handled += 1) }));
  peer.send(bind());
  await peer.answer(1);
  peer.send(message({}, [], ID.submit_sm, 2));
  peer.send(Buffer.concat(Array.from({ length: FLOOD }, (_, at) => pdu(ID.unbind, at + 1_000))));
  await expect.poll(() => link.lastError).toContain('too many PDUs');
  expect(link.state).toBe('unbinding');
  expect(handled).toBeLessThan(FLOOD);
  link.destroy('done');
});

describe('a peer within its rate', () => {
  it('is answered each time, with a burst now and then', async () => {
    const { link, peer } = await loopback.link(linkOptions({}));
    peer.send(bind());
    await peer.answer(1);
    for (let sequence = 2; sequence < 500; sequence++) peer.send(enquireLink(sequence));
    for (let sequence = 2; sequence < 500; sequence++) expect((await peer.answer(sequence)).status).toBe(0);
    expect(link.lastError).toBeNull();
  });
});
