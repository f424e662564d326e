import { NotSentError } from '@countersign/smpp/link';
import { submitSm } from '@countersign/smpp/pdu';
import { describe, expect, it } from 'vitest';
import type { SystemConnections } from './system-connections.js';
import type { SystemLink } from './system-link.js';
import type { SystemLinks } from './system-links.js';
import { SystemSenders } from './system-senders.js';

const ID = '01890000-0000-7000-8000-000000000001';
const PDU = submitSm({
  sourceAddress: { ton: 3, npi: 0, value: '60606' },
  destinationAddress: { ton: 1, npi: 1, value: '14155552671' },
  shortMessage: Buffer.from('a code'),
});

/** A sender to a system with these connections, and the names of those that got a code. */
function senderOver(links: Readonly<Record<string, Pick<SystemLink, 'isTrusted' | 'freeSlots'>>>) {
  const sent: string[] = [];
  const receivers = Object.entries(links).map(([name, link]) => ({
    ...{ system: { deliverPerSecond: 10 }, codeWindow: 10, ...link },
    deliverCode: () => Promise.resolve(void sent.push(name)),
  }));
  const senders = new SystemSenders(
    { receiversOf: () => receivers } as unknown as SystemLinks,
    { receiversElsewhere: () => 0 } as unknown as SystemConnections,
  );
  return { sent, sender: senders.senderOf(ID) };
}

describe('a code to a system', () => {
  it('goes over the connection with most free slots', async () => {
    const { sent, sender } = senderOver({
      busy: { isTrusted: true, freeSlots: 1 },
      free: { isTrusted: false, freeSlots: 5 },
    });
    await sender?.submit(PDU, Infinity);
    expect(sent).toEqual(['free']);
  });

  it('that is confidential goes over a connection that has proved to be of the system, or over none', async () => {
    const confidential = { ...PDU, isConfidential: true };
    const mixed = senderOver({
      proved: { isTrusted: true, freeSlots: 1 },
      other: { isTrusted: false, freeSlots: 5 },
    });
    await mixed.sender?.submit(confidential, Infinity);
    expect(mixed.sent).toEqual(['proved']);
    const none = senderOver({ other: { isTrusted: false, freeSlots: 5 } });
    await expect(none.sender?.submit(confidential, Infinity)).rejects.toThrow(NotSentError);
    expect(none.sent).toEqual([]);
  });
});
