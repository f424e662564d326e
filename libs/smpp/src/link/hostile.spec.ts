import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ID, bind, enquireLink, message, tlv, uint8 } from '../codec/octets.fixture.js';
import { HOSTILE_CORPUS } from './hostile-corpus.fixture.js';
import type { HostileCase } from './hostile-corpus.fixture.js';
import { Loopback, PATIENT, linkOptions } from './raw-peer.fixture.js';
import type { RawPeer } from './raw-peer.fixture.js';

/** PDU-read timer for cases that never complete a PDU; in the other cases no timer fires. */
const HASTY = { ...PATIENT, pduReadMs: 150 };
const PROBE = 0x0077_7777;

let loopback: Loopback;
beforeAll(async () => {
  loopback = await Loopback.open();
});
afterAll(() => loopback.close());

/**
 * Checks that the link still answers. An open link that does not answer makes the test time out. Repeats the probe
 * when another PDU is answered first: a false command_length may have consumed the probe.
 */
async function probe(peer: RawPeer): Promise<'alive' | 'closed'> {
  for (let asked = 0; ; asked++) {
    if (asked < 4) peer.send(enquireLink(PROBE + asked));
    const answer = await peer.receive();
    if (answer === 'closed') return 'closed';
    if (answer.sequence >= PROBE && answer.sequence < PROBE + 4) return 'alive';
  }
}

async function connected(on: HostileCase['on'], outcome: HostileCase['outcome'] = 'closed'): Promise<RawPeer> {
  const { peer } = await loopback.link(linkOptions({ timers: outcome === 'closed' ? HASTY : PATIENT }));
  if (on === 'bound') {
    peer.send(bind());
    await peer.answer(1);
  }
  return peer;
}

describe('any input is answered or closes the link', () => {
  it('the corpus has enough cases', () => {
    expect(HOSTILE_CORPUS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(HOSTILE_CORPUS.map(({ name }) => name)).size).toBe(HOSTILE_CORPUS.length);
  });

  it.each(HOSTILE_CORPUS)('$name: $outcome', async ({ on, octets, outcome }) => {
    const peer = await connected(on, outcome);
    peer.send(...octets);
    expect(await probe(peer)).toBe(outcome);
  });

  it.each(HOSTILE_CORPUS)('octet by octet, $name: $outcome', async ({ on, octets, outcome }) => {
    const peer = await connected(on, outcome);
    peer.socket.setNoDelay(true);
    // Both ends live in this process: after two event loop turns the link has read the octet.
    const all = Buffer.concat(octets);
    for (const octet of all.subarray(0, 60)) {
      peer.send(uint8(octet));
      await setImmediate();
      await setImmediate();
    }
    peer.send(all.subarray(60));
    expect(await probe(peer)).toBe(outcome);
  });

  it('random octets', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (octets) => {
        const peer = await connected('bound');
        peer.send(octets);
        expect(['alive', 'closed']).toContain(await probe(peer));
        peer.socket.destroy();
      }),
      { numRuns: 40 },
    );
  });

  it('messages with changed octets, several on one connection', async () => {
    const seed = Buffer.concat([message(), message({}, [tlv(0x0204, uint8(0, 1))], ID.deliver_sm)]);
    const change = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        const octets = Buffer.from(seed);
        for (const [at, value] of changes) octets[at % octets.length] = value;
        const peer = await connected('bound');
        peer.send(octets);
        expect(['alive', 'closed']).toContain(await probe(peer));
        peer.socket.destroy();
      }),
      { numRuns: 100 },
    );
  });
});
