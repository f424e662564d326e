import { DatabaseUnavailable } from '@countersign/postgres';
import type { InboundVerdict } from '@countersign/session/rules';
import {
  dataSm,
  deliverSm,
  integerTlv,
  octetsTlv,
  submitSm,
  type MessagePdu,
  type Outgoing,
} from '@countersign/smpp/pdu';
import { createLogger, Metrics } from '@countersign/telemetry';
import { describe, expect, it, vi } from 'vitest';
import type { InboundCommand } from './inbound-command.js';
import type { InboundLink } from '../links/inbound-link.js';
import { LinkMetrics } from '../links/link.metrics.js';
import { InboundMetrics } from './inbound.metrics.js';
import { InboundService, MAX_QUEUED_MESSAGES, MAX_UNTRUSTED_MESSAGES } from './inbound.service.js';
import { MessageRouter } from './message.router.js';

const ID = '01890000-0000-7000-8000-000000000001';
const OK = 0;
const THROTTLED = 0x58;
const RECEIPT_STATUS = 0x77;
const RECEIPTS = {
  acceptReceipt: () => ({ status: RECEIPT_STATUS }),
  acceptTextReceipt: () => Promise.resolve({ status: RECEIPT_STATUS }),
};
const UNLIMITED = { limitText: () => null, pauseMs: () => 0 };
const link: InboundLink = {
  id: ID,
  peer: 'north-1',
  carrier: 'north',
  trustedForMo: true,
  senderFormat: 'auto',
  senderLearning: null,
  defaultAlphabet: 'gsm',
  retryableMoStatus: THROTTLED,
};
const NO_TOKEN: InboundVerdict = { fate: 'no_token', sessionId: null, accountId: null };

type Run = (commands: readonly InboundCommand[]) => Promise<readonly InboundVerdict[]>;

function opened(
  run: Run,
  moSenderPerSecond = 0,
): { service: InboundService; log: string[]; metrics: () => Promise<string> } {
  const metrics = new Metrics({ app: 'test', processMetrics: false });
  const log: string[] = [];
  const logger = createLogger({
    app: 'test',
    level: 'info',
    destination: { write: (line: string) => void log.push(line) },
  });
  const service = new InboundService(
    { newId: () => ID },
    { storeAndMatch: run },
    new InboundMetrics(metrics, new LinkMetrics(metrics)),
    { batchMaxCommands: 64, moSenderPerSecond },
    logger,
  );
  return { service, log, metrics: () => metrics.render().then(({ text }) => text) };
}

const received = (pdu: Outgoing<MessagePdu>): MessagePdu => ({ ...pdu, sequence: 1 });
const message = received(submitSm({ shortMessage: Buffer.from('hello') }));
const storesAll: Run = (commands) => Promise.resolve(commands.map(() => NO_TOKEN));

describe('the response to an MO', () => {
  it('is OK with its id once it is stored, whatever its fate', async () => {
    const { service } = opened(storesAll);
    const answer = { status: OK, messageId: 'msg_01H4000000E008000000000001' };
    expect(await service.acceptMessage(message, link)).toEqual(answer);
    const data = received(dataSm({}, [octetsTlv('message_payload', Buffer.from('hello'))]));
    expect(await service.acceptMessage(data, link)).toEqual(answer);
  });

  it('is OK without an id for a deliver_sm', async () => {
    const { service } = opened(storesAll);
    expect(await service.acceptMessage(received(deliverSm({})), link)).toEqual({ status: OK });
  });

  it.each([
    ['database_away', new DatabaseUnavailable('gone')],
    ['failed', new Error('a fault of ours')],
  ])('has the retryable status when the MO could not be stored: %s', async (reason, error) => {
    const { service, metrics } = opened(() => Promise.reject(error));
    expect(await service.acceptMessage(message, link)).toEqual({ status: THROTTLED });
    expect(await metrics()).toContain(`countersign_mo_retryable_responses_total{reason="${reason}",app="test"} 1`);
  });

  it('has the retryable status at once when the queue is full', async () => {
    const { service, metrics } = opened(() => new Promise(() => undefined));
    const waiting = Array.from({ length: MAX_QUEUED_MESSAGES }, () => service.acceptMessage(message, link));
    expect(service.queued).toBe(waiting.length);
    expect(await service.acceptMessage(message, link)).toEqual({ status: THROTTLED });
    expect(await metrics()).toContain('countersign_mo_retryable_responses_total{reason="queue_full",app="test"} 1');
  });

  it('over untrusted links has the retryable status when their queue is full; trusted links have a queue of their own', async () => {
    let commit = (): void => undefined;
    const committed = new Promise<void>((resolve) => (commit = resolve));
    const { service, metrics } = opened((commands) => committed.then(() => storesAll(commands)));
    // Of several links, each within its rate.
    const linkOf = (nth: number): InboundLink => ({ ...link, trustedForMo: false, id: `${ID.slice(0, -1)}${nth}` });
    const untrusted = linkOf(2);
    const waiting = Array.from({ length: MAX_UNTRUSTED_MESSAGES }, (_, at) =>
      service.acceptMessage(message, linkOf(3 + (at % 5))),
    );
    expect(await service.acceptMessage(message, untrusted)).toEqual({ status: THROTTLED });
    expect(await metrics()).toContain('countersign_mo_retryable_responses_total{reason="queue_full",app="test"} 1');
    const trusted = Array.from({ length: MAX_QUEUED_MESSAGES }, () => service.acceptMessage(message, link));
    commit();
    expect((await Promise.all(trusted.map((each) => Promise.resolve(each)))).every(({ status }) => status === OK)).toBe(
      true,
    );
    await Promise.all(waiting.map((each) => Promise.resolve(each)));
    expect(await service.acceptMessage(message, untrusted)).toMatchObject({ status: OK });
  });

  it('over a trusted link does not wait for the transactions of MOs that came before over untrusted links', async () => {
    const batches: (readonly InboundLink[])[] = [];
    let commit = (): void => undefined;
    const committed = new Promise<void>((resolve) => (commit = resolve));
    const { service } = opened(async (commands) => {
      batches.push(commands.map((command) => command.link));
      if (commands.some((command) => command.link !== link)) await committed;
      return storesAll(commands);
    });
    const untrusted = { ...link, trustedForMo: false };
    const flood = Array.from({ length: 200 }, () => service.acceptMessage(message, untrusted));
    await vi.waitFor(() => expect(batches).toHaveLength(1));
    expect(await service.acceptMessage(message, link)).toMatchObject({ status: OK });
    expect(batches.map((batch) => [batch.length, batch[0]])).toEqual([
      [64, untrusted],
      [1, link],
    ]);
    commit();
    await Promise.all(flood.map((each) => Promise.resolve(each)));
  });

  it('to a receipt is that of the receipts service, and no MO is stored', () => {
    const { service } = opened(() => Promise.reject(new Error('unexpected batch')));
    const router = new MessageRouter(service, RECEIPTS, UNLIMITED);
    expect(router.acceptMessage(received(deliverSm({ esmClass: 0x04 })), link)).toEqual({ status: RECEIPT_STATUS });
  });

  it('to a text like a receipt counts towards the rate of its sender once, before the message is looked up', async () => {
    const { service, metrics } = opened(storesAll, 1);
    let lookUps = 0;
    const router = new MessageRouter(
      service,
      {
        ...RECEIPTS,
        acceptTextReceipt: () => {
          lookUps += 1;
          return Promise.resolve(null);
        },
      },
      UNLIMITED,
    );
    const textReceipt = received(deliverSm({ shortMessage: Buffer.from('id:7 stat:DELIVRD') }));
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => Promise.resolve(router.acceptMessage(textReceipt, link))),
    );
    const stored = answers.filter(({ status }) => status === OK).length;
    expect(lookUps).toBe(stored);
    expect(stored).toBeGreaterThanOrEqual(2);
    expect(stored).toBeLessThan(20);
    expect(await metrics()).toContain(`{reason="sender_rate",app="test"} ${String(20 - stored)}`);
  });

  it('to a receipt that is marked as one does not count towards the rate of its sender', () => {
    const { service } = opened(() => Promise.reject(new Error('unexpected batch')), 1);
    const router = new MessageRouter(service, RECEIPTS, UNLIMITED);
    const marked = [
      deliverSm({ esmClass: 0x04, shortMessage: Buffer.from('id:7 stat:DELIVRD') }),
      deliverSm({ shortMessage: Buffer.from('id:7 stat:DELIVRD') }, [integerTlv('message_state', 2)]),
    ];
    for (const pdu of marked) {
      for (let nth = 0; nth < 20; nth += 1) {
        expect(router.acceptMessage(received(pdu), link)).toEqual({ status: RECEIPT_STATUS });
      }
    }
  });

  it('to a manual acknowledgement is that of an MO', async () => {
    const { service } = opened(storesAll);
    const router = new MessageRouter(service, RECEIPTS, UNLIMITED);
    expect(await router.acceptMessage(received(deliverSm({ esmClass: 0x10 })), link)).toEqual({ status: OK });
    await service.drain();
  });

  it('is logged at most once a second on failure, without text and sender', async () => {
    const { service, log } = opened(() => Promise.reject(new DatabaseUnavailable('gone')));
    const source = { ton: 1, npi: 1, value: '14155552671' };
    const pdu = received(submitSm({ sourceAddress: source, shortMessage: Buffer.from('hello') }));
    await Promise.all(Array.from({ length: 200 }, () => Promise.resolve(service.acceptMessage(pdu, link))));
    expect(log).toHaveLength(1);
    expect(log[0]).not.toMatch(/14155552671|hello/);
  });
});

describe('messages with one token', () => {
  it.each([true, false])(
    'share a transaction, so that a flood does not fill the queue (trusted: %s)',
    async (trusted) => {
      const batches: number[] = [];
      const { service } = opened((commands) => {
        batches.push(commands.length);
        return storesAll(commands);
      });
      const pdu = received(submitSm({ shortMessage: Buffer.from('AUTH-ACME-0123456789ABCDEF') }));
      const over = { ...link, trustedForMo: trusted };
      await Promise.all([pdu, pdu, message].map((each) => Promise.resolve(service.acceptMessage(each, over))));
      expect(batches).toEqual([3]);
    },
  );
});

describe('MOs over a link that is not trusted', () => {
  const stranger = { ...link, trustedForMo: false };
  const statusOf = async (service: InboundService, over: InboundLink): Promise<number> =>
    (await service.acceptMessage(message, over)).status;

  it('are stored 100 a second, with a burst of ten seconds, of each link', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const { service, metrics } = opened(storesAll);
      const statuses: number[] = [];
      for (let count = 0; count < 1_100; count += 1) statuses.push(await statusOf(service, stranger));
      expect(statuses.filter((status) => status === OK)).toHaveLength(1_000);
      expect(await statusOf(service, { ...stranger, id: `${ID.slice(0, -1)}2` })).toBe(OK);
      expect(await statusOf(service, link)).toBe(OK);
      vi.advanceTimersByTime(1_000);
      const later = await Promise.all(Array.from({ length: 200 }, () => statusOf(service, stranger)));
      expect(later.filter((status) => status === OK)).toHaveLength(100);
      expect(await metrics()).toContain('{reason="untrusted_rate",app="test"} 200');
    } finally {
      vi.useRealTimers();
    }
  });
});
