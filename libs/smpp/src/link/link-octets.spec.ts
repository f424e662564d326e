import { afterAll, beforeAll, expect, it } from 'vitest';
import { bind, enquireLink, ID, message, pdu, RESP } from '../codec/octets.fixture.js';
import { linkOptions, Loopback } from './raw-peer.fixture.js';

let loopback: Loopback;
beforeAll(async () => {
  loopback = await Loopback.open();
});
afterAll(() => loopback.close());

it('onOctets gets every PDU, including malformed ones and refusals; an exception in it breaks nothing', async () => {
  const shown: { direction: string; octets: Buffer }[] = [];
  const onOctets = (direction: 'in' | 'out', octets: Buffer): void => {
    shown.push({ direction, octets: Buffer.from(octets) });
    throw new Error('listener');
  };
  const { link, peer } = await loopback.link(linkOptions({ onOctets }));
  const endless = message({ source: Buffer.alloc(40, 'x') });
  const sent = [bind(), endless, pdu(0x777, 8), enquireLink(9)];
  peer.send(sent[0] ?? Buffer.alloc(0));
  await peer.answer(1);
  peer.send(...sent.slice(1));
  await peer.answer(9);
  expect(shown.filter(({ direction }) => direction === 'in').map(({ octets }) => octets)).toEqual(sent);
  const answers = shown.filter(({ direction }) => direction === 'out').map(({ octets }) => octets.readUInt32BE(4));
  expect(answers).toEqual([RESP + ID.bind_transceiver, RESP + ID.submit_sm, ID.generic_nack, RESP + ID.enquire_link]);
  expect(link.state).toBe('bound_trx');
  link.destroy('done');
});
