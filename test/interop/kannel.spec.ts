import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { SmppLink, type LinkOptions } from '@countersign/smpp/link';
import { deliverSm, STATUS, type MessagePdu } from '@countersign/smpp/pdu';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kannelIsMissing, tsharkIsMissing } from '../support/foreign-stack.js';
import { GatewayHarness, INBOUND_NUMBER, PASSWORD } from '../support/gateway-harness.js';
import { Kannel } from '../support/kannel.js';
import { PHONE } from '../support/session-harness.js';
import { until } from '../support/until.js';
import { WireTap } from '../support/wire-tap.js';

const WITHIN_MS = 15_000;
const PHONE_DIGITS = PHONE.slice(1);
const NUMBER_DIGITS = INBOUND_NUMBER.slice(1);

/** The requests that Kannel made, by path and query. */
class Receiver {
  readonly fetched: URL[] = [];
  readonly #server = http.createServer((request, response) => {
    this.fetched.push(new URL(request.url ?? '/', 'http://receiver'));
    response.end();
  });

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  at(path: string): URL[] {
    return this.fetched.filter(({ pathname }) => pathname === path);
  }
}

describe.skipIf(kannelIsMissing)('Kannel that connects to the gateway', () => {
  const receiver = new Receiver();
  let gateway: GatewayHarness;
  let tap: WireTap;
  let kannel: Kannel;

  beforeAll(async () => {
    gateway = await GatewayHarness.open();
    await gateway.system({ systemId: 'kannel' });
    tap = await WireTap.open('server', gateway.ports.smpp);
    const receiverPort = await receiver.listen();
    kannel = new Kannel({ smscPort: tap.port, systemId: 'kannel', password: PASSWORD, receiverPort });
    await kannel.start();
  });
  afterAll(async () => {
    await kannel.remove();
    await tap.close();
    await gateway.close();
    receiver.close();
  });

  const phoneSends = (text: string, changes: Readonly<Record<string, string>> = {}): Promise<string> =>
    kannel.send(PHONE_DIGITS, NUMBER_DIGITS, text, changes);

  async function isApproved(session: Awaited<ReturnType<GatewayHarness['create']>>): Promise<void> {
    await until('the session is approved', WITHIN_MS, async () => (await gateway.statusOf(session)) === 'approved');
  }

  it('sends an MO, which approves', async () => {
    const session = await gateway.create();
    expect(await phoneSends(gateway.textOf(session))).toContain('Accepted');
    await isApproved(session);
  });

  it('sends one in UCS-2, and one of many parts whose token is on their seam', async () => {
    const [wide, long] = [await gateway.create(), await gateway.create()];
    await phoneSends(`${gateway.textOf(wide).split('\n')[0] ?? ''} “ok”`, { coding: '2', charset: 'UTF-8' });
    await isApproved(wide);
    // Kannel splits at 153 septets: the token begins in one part and ends in the next.
    await phoneSends(`${'word '.repeat(29)}${gateway.textOf(long)}${' more'.repeat(40)}`);
    await isApproved(long);
    expect((await gateway.messages()).some(({ partTotal }) => partTotal !== null && partTotal > 2)).toBe(true);
  });

  it('sends three hundred, each once, and counts none as failed', async () => {
    const texts = Array.from({ length: 300 }, (_, n) => `hello ${n}`);
    await kannel.sendAll(PHONE_DIGITS, NUMBER_DIGITS, texts);
    const stored = async (): Promise<string[]> =>
      (await gateway.messages()).map(({ text }) => text).filter((text) => text.startsWith('hello'));
    await until('all are stored', WITHIN_MS, async () => (await stored()).length >= texts.length);
    expect((await stored()).toSorted()).toEqual(texts.toSorted());
    await until('none is queued', WITHIN_MS, async () => (await kannel.status()).includes('failed 0, queued 0 msgs'));
  });

  it('loses nothing while the gateway stops and comes back under its load', async () => {
    const texts = Array.from({ length: 400 }, (_, n) => `carried over ${n}`);
    const sending = kannel.sendAll(PHONE_DIGITS, NUMBER_DIGITS, texts);
    const storedTexts = async (): Promise<ReadonlySet<string>> =>
      new Set((await gateway.messages()).map(({ text }) => text));
    await until('some are stored', WITHIN_MS, async () => {
      const stored = await storedTexts();
      return texts.some((text) => stored.has(text));
    });
    await gateway.stop();
    await gateway.start();
    for (const answer of await sending) expect(answer).toMatch(/Accepted|Queued/);
    await until('all are stored', 30_000, async () => {
      const stored = await storedTexts();
      return texts.every((text) => stored.has(text));
    });
  });

  it('keeps the link by enquire_link, and takes its leave in order', async () => {
    const asked = 'countersign_smpp_pdus_total{side="listener",direction="in",command="enquire_link"';
    await until('it has asked', WITHIN_MS, async () => (await gateway.metric(asked)) > 0);
    await kannel.stop();
    const parted = 'countersign_smpp_pdus_total{side="listener",direction="out",command="unbind_resp"';
    await until('it has left', WITHIN_MS, async () => (await gateway.metric(parted)) > 0);
    // The only errors that Kannel may log are that the gateway was away: the tap accepts its connection then, and ends it.
    expect(kannel.log()).not.toMatch(/PANIC|ERROR(?!.*(?:Couldn't connect|I\/O error or other error\. Re-connecting))/);
  });

  it.skipIf(tsharkIsMissing)('is sent nothing that tshark calls malformed', () => {
    const { sentByUs, malformedByUs } = tap.dissect();
    expect(malformedByUs).toEqual([]);
    expect(sentByUs.get('0x80000004')).toBeGreaterThanOrEqual(304);
    expect([...sentByUs.keys()]).toEqual(expect.arrayContaining(['0x80000009', '0x80000015', '0x80000006']));
  });
});

/** An SMSC on the product's engine that accepts every bind, answers every submit_sm, and sends messages on request. */
class EngineSmsc {
  readonly submits: MessagePdu[] = [];
  #link: SmppLink | undefined;
  readonly #server = net.createServer((socket) => {
    this.#link = new SmppLink(socket, this.#options);
  });
  readonly #options: LinkOptions = {
    endpoint: {
      role: 'smsc',
      interfaceVersion: 0x34,
      systemId: 'engine',
      authenticate: () => Promise.resolve({ status: STATUS.ESME_ROK }),
    },
    timers: { sessionInitMs: 15_000, pduReadMs: 15_000, enquireLinkMs: 1_000, responseMs: 15_000, inactivityMs: 0 },
    limits: { window: 20, maxInbound: 100 },
    handlers: {
      onMessage: (pdu) => {
        this.submits.push(pdu);
        return { status: STATUS.ESME_ROK, messageId: `id-${this.submits.length}` };
      },
    },
  };

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    await this.#link?.unbind(5_000).catch(() => undefined);
    this.#link?.destroy('the test is over');
    this.#server.close();
  }

  /** Sends a deliver_sm from the phone and returns its command_status. */
  async deliver(text: string, esmClass = 0): Promise<number> {
    const sourceAddress = { ton: 1, npi: 1, value: PHONE_DIGITS };
    const destinationAddress = { ton: 1, npi: 1, value: NUMBER_DIGITS };
    const shortMessage = Buffer.from(text, 'latin1');
    if (this.#link === undefined) throw new Error('nobody is bound');
    const pdu = deliverSm({ sourceAddress, destinationAddress, esmClass, shortMessage });
    return (await this.#link.request(pdu)).status;
  }

  get enquireLinkRttMs(): number | null {
    return this.#link?.enquireLinkRttMs ?? null;
  }
}

describe.skipIf(kannelIsMissing)('Kannel that connects to our engine', () => {
  const receiver = new Receiver();
  const smsc = new EngineSmsc();
  let receiverPort: number;
  let tap: WireTap;
  let kannel: Kannel;

  beforeAll(async () => {
    receiverPort = await receiver.listen();
    tap = await WireTap.open('server', await smsc.listen());
    kannel = new Kannel({ smscPort: tap.port, systemId: 'kannel', password: PASSWORD, receiverPort });
    await kannel.start();
  });
  afterAll(async () => {
    await smsc.close();
    await kannel.remove();
    await tap.close();
    receiver.close();
  });

  it('receives five hundred messages through our window, each handed on once', async () => {
    const texts = Array.from({ length: 500 }, (_, n) =>
      `hello ${n} @_$`.replace('@', '\0').replace('_', '\x11').replace('$', '\x02'),
    );
    const statuses = await Promise.all(texts.map((text) => smsc.deliver(text)));
    expect(statuses).toEqual(texts.map(() => STATUS.ESME_ROK));
    await until('all were handed on', WITHIN_MS, () => receiver.at('/mo').length >= 500);
    const heard = receiver.at('/mo').map(({ searchParams }) => searchParams.get('text'));
    expect(new Set(heard)).toEqual(new Set(texts.map((_, n) => `hello ${n} @_$`)));
    expect(heard).toHaveLength(500);
    expect(receiver.at('/mo')[0]?.searchParams.get('from')).toMatch(new RegExp(`${PHONE_DIGITS}$`));
  });

  it('sends a message and finds its receipt', async () => {
    const receipts = `http://127.0.0.1:${receiverPort}/dlr?type=%d&id=%F`;
    await kannel.send(NUMBER_DIGITS, PHONE_DIGITS, 'a message', { 'dlr-mask': '3', 'dlr-url': receipts });
    await until('it came', WITHIN_MS, () => smsc.submits.length === 1);
    const text = 'id:id-1 sub:001 dlvrd:001 submit date:2511211200 done date:2511211201 stat:DELIVRD err:000 text:';
    // Kannel drops a receipt directly after the response (it has not stored the id yet), so this one is repeated.
    await until('it is found', WITHIN_MS, async () => {
      expect(await smsc.deliver(text, 4)).toBe(STATUS.ESME_ROK);
      return receiver.at('/dlr').length > 0;
    });
    expect(receiver.at('/dlr')[0]?.searchParams.get('type')).toBe('1');
  });

  it('is asked whether it is there, and answers', async () => {
    await until('it answered', WITHIN_MS, () => smsc.enquireLinkRttMs !== null);
  });

  it.skipIf(tsharkIsMissing)('is sent nothing that tshark calls malformed', () => {
    const { sentByUs, malformedByUs } = tap.dissect();
    expect(malformedByUs).toEqual([]);
    expect(sentByUs.get('0x00000005')).toBeGreaterThanOrEqual(501);
  });
});
