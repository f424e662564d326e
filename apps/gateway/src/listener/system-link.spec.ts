import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { LinkClosedError, NotSentError, SmppLink } from '@countersign/smpp/link';
import { submitSm } from '@countersign/smpp/pdu';
import { createLogger, Metrics } from '@countersign/telemetry';
import smpp, { type PDU, type Session } from 'smpp';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InboundMetrics } from '../inbound/inbound.metrics.js';
import { LinkMetrics } from '../links/link.metrics.js';
import { MessageRate } from './message-rate.js';
import { systemRow } from './smpp-system.fixture.js';
import { SystemLink } from './system-link.js';
import { SystemLinkReporter } from './system-link.reporter.js';

const linkMetrics = new LinkMetrics(new Metrics({ app: 'gateway' }));
const reporter = new SystemLinkReporter(
  linkMetrics,
  new InboundMetrics(new Metrics({ app: 'gateway' }), linkMetrics),
  { record: () => undefined },
  { nowMs: () => Date.now() },
  createLogger({ app: 'gateway', level: 'silent' }),
);
const connection = {
  rate: new MessageRate(Infinity, 0),
  setSystemRate: () => undefined,
  remove: () => undefined,
};
const code = submitSm({ shortMessage: Buffer.from('code'), validityPeriod: '000000000500000R' });

let server: Server;
let link: SystemLink;
let session: Session;
let received: PDU[];
/** The pause of reading, and the peers for which it was asked. */
let pauseMs: number;
let asked: string[];
/** The commands of its messages that were passed on. */
let passedOn: string[];

beforeEach(async () => {
  received = [];
  pauseMs = 0;
  asked = [];
  passedOn = [];
  server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection');
  session = smpp.connect({ host: '127.0.0.1', port });
  session.on('error', () => undefined);
  session.on('unbind', (pdu) => session.send(pdu.response()));
  session.on('deliver_sm', (pdu) => {
    received.push(pdu);
    session.send(pdu.response({ message_id: 'id' }));
  });
  const [socket] = (await accepted) as [ReturnType<typeof connect>];
  link = new SystemLink(
    socket,
    { address: '127.0.0.1', port, overTls: false, certificateNames: null },
    { authenticateBind: () => Promise.resolve({ admitted: true, system: systemRow(), connection }) },
    {
      acceptMessage: ({ command }) => (passedOn.push(command), { status: 0 }),
      pauseMs: ({ peer }) => (asked.push(peer), pauseMs),
    },
    reporter,
  );
  await new Promise((resolve) => session.bind_transceiver({ system_id: 'aggregator', password: 'secret' }, resolve));
});
afterEach(async () => {
  await link.close(1_000);
  session.destroy();
  server.close();
});

/** Blocks the process until this time of the monotonic clock, as a pause does. */
function pauseUntil(ms: number): void {
  while (performance.now() < ms);
}

describe('a code over a link of a system', () => {
  it('is a deliver_sm without a validity period, which SMPP 3.4 leaves empty in it', async () => {
    const answer = await link.deliverCode(code, performance.now() + 60_000);
    expect(answer).toMatchObject({ command: 'deliver_sm_resp', fields: { messageId: 'id' } });
    expect(received).toMatchObject([{ validity_period: '', esm_class: 0 }]);
  });

  it.each([true, undefined])('stays confidential, or not, for who records the link: %s', async (isConfidential) => {
    const sent = vi.spyOn(SmppLink.prototype, 'request');
    await link.deliverCode(
      isConfidential === undefined ? code : { ...code, isConfidential },
      performance.now() + 60_000,
    );
    expect(sent.mock.calls.map(([pdu]) => [pdu.command, pdu.isConfidential])).toEqual([['deliver_sm', isConfidential]]);
    sent.mockRestore();
  });

  it('is not sent after the end of its claim', async () => {
    await expect(link.deliverCode(code, performance.now())).rejects.toBeInstanceOf(NotSentError);
    expect(received).toEqual([]);
  });

  it('is not written, and the link ends, when a pause between submit and write outlasts the claim', async () => {
    const endsMs = performance.now() + 200;
    const answer = link.deliverCode(code, endsMs);
    pauseUntil(endsMs);
    await expect(answer).rejects.toBeInstanceOf(LinkClosedError);
    await link.ended;
    expect(received).toEqual([]);
  });
});

describe('a link of a system', () => {
  it('is not read while its messages may not be read', async () => {
    const { systemId } = systemRow();
    const answer = (text: string) =>
      new Promise((resolve) => session.submit_sm({ destination_addr: '1', short_message: text }, resolve));
    pauseMs = 60_000;
    asked = [];
    await answer('read');
    expect(asked).toEqual([systemId]);
    session.submit_sm({ destination_addr: '1', short_message: 'not read' });
    // The code is written, and the peer has answered it.
    void link.deliverCode(code, performance.now() + 60_000).catch(() => undefined);
    await vi.waitFor(() => expect(received).toHaveLength(1));
    expect(asked).toEqual([systemId]);
  });

  /** The status of a message of each kind. */
  const statuses = (): Promise<number[]> =>
    Promise.all(
      (['submit_sm', 'deliver_sm', 'data_sm'] as const).map((command) => {
        const text = command === 'data_sm' ? { message_payload: 'text' } : { short_message: 'text' };
        return new Promise<number>((resolve) =>
          session[command]({ destination_addr: '1', ...text }, ({ command_status }) => resolve(command_status)),
        );
      }),
    );

  it('passes on no message, and asks for it again, from the moment its system may no longer be connected', async () => {
    session.removeAllListeners('unbind');
    const evicted = link.evict(1_000);
    const { retryableMoStatus } = systemRow();
    expect(await statuses()).toEqual([retryableMoStatus, retryableMoStatus, retryableMoStatus]);
    // Allowed again while it closes: it has to bind again.
    link.applyRow(systemRow(), performance.now());
    expect(await statuses()).toEqual([retryableMoStatus, retryableMoStatus, retryableMoStatus]);
    expect(passedOn).toEqual([]);
    await evicted;
  });

  it('is allowed while its system may use the type of its bind', () => {
    expect(link.isAllowedBy(systemRow())).toBe(true);
    expect(link.isAllowedBy(systemRow({ bindTypes: ['receiver', 'transceiver'] }))).toBe(true);
    expect(link.isAllowedBy(systemRow({ bindTypes: ['transmitter', 'receiver'] }))).toBe(false);
  });

  it('passes on its messages while the gateway closes it', async () => {
    session.removeAllListeners('unbind');
    const closed = link.close(1_000);
    expect(await statuses()).toEqual([0, 0, 0]);
    expect(passedOn).toEqual(['submit_sm', 'deliver_sm', 'data_sm']);
    await closed;
  });
});
