import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATUS } from '../pdu/dictionary.js';
import { LinkClosedError, NotSentError, ResponseTimeoutError } from '../link/link-errors.js';
import type { LinkHandlers, MessageAnswer } from '../link/link-options.js';
import { ID, RESP, bind, cstring, enquireLink, message, pdu } from '../codec/octets.fixture.js';
import { deliverSm, submitSm } from '../pdu/pdu.js';
import { handleTick, nextTickMs, startTimers, timersBound, timersRead } from '../link/timers.js';
import { Loopback, PATIENT, linkOptions } from '../link/raw-peer.fixture.js';
import type { RawPeer } from '../link/raw-peer.fixture.js';

let loopback: Loopback;
beforeAll(async () => {
  loopback = await Loopback.open();
});
afterAll(() => loopback.close());

const MESSAGES = [ID.submit_sm, ID.deliver_sm, ID.data_sm];
const statusesOf = async (peer: RawPeer, ids: readonly number[]): Promise<number[]> => {
  const statuses: number[] = [];
  for (const [i, id] of ids.entries()) {
    peer.send(pdu(id, 50 + i));
    const answer = await peer.answer(50 + i);
    expect(answer.id).toBe(RESP + id);
    statuses.push(answer.status);
  }
  return statuses;
};
const STS = STATUS.ESME_RINVBNDSTS;
/** The message has no body: it passes the state check and fails at its first field. */
const LEN = STATUS.ESME_RINVCMDLEN;

describe('a request in the wrong state or direction gets 0x04 in its own response', () => {
  it('before the bind: everything but bind and enquire_link, in both roles', async () => {
    const smsc = await loopback.link(linkOptions());
    expect(await statusesOf(smsc.peer, [...MESSAGES, ID.unbind, ID.query_sm])).toEqual([STS, STS, STS, STS, STS]);
    const esme = await loopback.link(linkOptions({ role: 'esme' }));
    const binds = [ID.bind_receiver, ID.bind_transmitter, ID.bind_transceiver];
    expect(await statusesOf(esme.peer, [...MESSAGES, ...binds])).toEqual([STS, STS, STS, STS, STS, STS]);
    for (const { peer, link } of [smsc, esme]) {
      peer.send(enquireLink(9));
      expect((await peer.answer(9)).status).toBe(0);
      expect(link.state).toBe('open');
    }
  });

  it('as an SMSC: every message on a receiver bind', async () => {
    const { peer } = await loopback.boundSmsc({}, ID.bind_receiver);
    expect(await statusesOf(peer, MESSAGES)).toEqual([STS, STS, STS]);
  });

  it('as an ESME: submit_sm on every bind, deliver_sm and data_sm on a transmitter bind', async () => {
    const receiver = await loopback.boundEsme('receiver');
    expect(await statusesOf(receiver.peer, MESSAGES)).toEqual([STS, LEN, LEN]);
    const transmitter = await loopback.boundEsme('transmitter');
    expect(await statusesOf(transmitter.peer, MESSAGES)).toEqual([STS, STS, STS]);
  });

  it('and we send none: deliver_sm goes to receivers and transceivers only, submit_sm comes from transmitters', async () => {
    const { link } = await loopback.boundSmsc({}, ID.bind_transmitter);
    await expect(link.request(deliverSm({}))).rejects.toBeInstanceOf(NotSentError);
    await expect(link.request(submitSm({}))).rejects.toBeInstanceOf(NotSentError);
    const receiver = await loopback.boundEsme('receiver');
    await expect(receiver.link.request(submitSm({}))).rejects.toBeInstanceOf(NotSentError);
  });
});

describe('enquire_link is answered at once in every state', () => {
  const slow = (): Promise<MessageAnswer> => new Promise(() => undefined);

  it('while a bind is being authenticated', async () => {
    const { link, peer } = await loopback.link(linkOptions({ authenticate: () => new Promise(() => undefined) }));
    peer.send(bind(), enquireLink(2));
    expect((await peer.answer(2)).id).toBe(RESP + ID.enquire_link);
    expect(link.state).toBe('binding');
  });

  it.each(['transmitter', 'receiver', 'transceiver'] as const)('bound as a %s, in both roles', async (type) => {
    const smsc = await loopback.boundSmsc({}, ID[`bind_${type}`]);
    const esme = await loopback.boundEsme(type);
    for (const { peer } of [smsc, esme]) {
      peer.send(enquireLink(2));
      expect((await peer.answer(2)).status).toBe(0);
    }
  });

  it('with a full window of ours and messages of the peer that are all unanswered', async () => {
    const { link, peer } = await loopback.boundSmsc({ onMessage: slow, window: 1, maxInbound: 200 });
    const waiting = Array.from({ length: 5 }, () => link.request(deliverSm({})));
    for (const request of waiting) request.catch(() => undefined);
    peer.send(...Array.from({ length: 100 }, (_, i) => message({}, [], ID.submit_sm, 100 + i)), enquireLink(2));
    expect((await peer.answer(2)).status).toBe(0);
  });

  it('while unbinding, on either side', async () => {
    const ours = await loopback.boundSmsc({ onMessage: slow });
    ours.peer.send(message());
    void ours.link.unbind();
    await ours.peer.request(ID.unbind);
    ours.peer.send(enquireLink(2));
    expect((await ours.peer.answer(2)).status).toBe(0);
    const theirs = await loopback.boundSmsc({ onMessage: slow });
    theirs.peer.send(message(), pdu(ID.unbind, 3), enquireLink(4));
    expect((await theirs.peer.answer(4)).status).toBe(0);
  });
});

describe('timers', () => {
  it('session-init: a connection that does not bind', async () => {
    const { link } = await loopback.link(linkOptions({ timers: { ...PATIENT, sessionInitMs: 40 } }));
    expect((await link.closed).reason).toBe('the session-init timer ran out');
  });

  it('PDU-read: an incomplete PDU', async () => {
    const { link, peer } = await loopback.boundEsme('transceiver', { timers: { ...PATIENT, pduReadMs: 40 } });
    peer.send(message().subarray(0, 20));
    expect((await link.closed).reason).toBe('the pdu-read timer ran out');
  });

  it('enquire_link: a peer that does not answer ours', async () => {
    const timers = { ...PATIENT, enquireLinkMs: 40, responseMs: 40 };
    const { link } = await loopback.boundSmsc({ timers });
    expect((await link.closed).reason).toBe('the dead-link timer ran out');
  });

  it('response: a request without a response, while the link stays open', async () => {
    const { link } = await loopback.boundEsme('transceiver', { timers: { ...PATIENT, responseMs: 40 } });
    await expect(link.request(submitSm({}))).rejects.toBeInstanceOf(ResponseTimeoutError);
    expect(link.state).toBe('bound_trx');
  });

  it('inactivity: a link without messages is unbound, if configured', async () => {
    const { link, peer } = await loopback.boundSmsc({ timers: { ...PATIENT, inactivityMs: 40 } });
    peer.send(pdu(RESP + ID.unbind, (await peer.request(ID.unbind)).sequence));
    expect((await link.closed).reason).toBe('unbound');
    expect(link.lastError).toBe('the inactivity timer ran out');
  });

  it('sends enquire_link on an idle link in each period, not on a link whose requests are answered', () => {
    const settings = { ...PATIENT, enquireLinkMs: 100 };
    const bound = timersBound(startTimers(settings, 0), 0);
    expect(nextTickMs(bound)).toBe(100);
    const busy = timersRead(bound, 90, {
      partial: false,
      completed: true,
      answered: true,
      message: true,
      isHeldBack: false,
    });
    expect(nextTickMs(busy)).toBe(190);
    // Requests from the peer do not prove that it receives our PDUs.
    const deaf = timersRead(bound, 90, {
      partial: false,
      completed: true,
      answered: false,
      message: true,
      isHeldBack: false,
    });
    expect(handleTick(deaf, 100).fired).toBe('enquire-link');
  });
});

describe('parting', () => {
  const roles: readonly (readonly [string, () => ReturnType<Loopback['boundSmsc']>])[] = [
    ['an SMSC', () => loopback.boundSmsc()],
    ['an ESME', () => loopback.boundEsme('transceiver')],
  ];

  it.each(roles)(
    'as %s: our unbind waits for open requests, then for its response, then the connection closes',
    async (_, bound) => {
      const { link, peer } = await bound();
      const unbound = link.unbind();
      const { sequence } = await peer.request(ID.unbind);
      expect(link.state).toBe('unbinding');
      peer.send(pdu(RESP + ID.unbind, sequence));
      await unbound;
      expect((await link.closed).reason).toBe('unbound');
      expect(await peer.closed()).toBe(0);
    },
  );

  it.each(roles)("as %s: the peer's unbind is answered, then the connection closes", async (_, bound) => {
    const { link, peer } = await bound();
    peer.send(pdu(ID.unbind, 77));
    const answer = await peer.answer(77);
    expect([answer.id, answer.status]).toEqual([RESP + ID.unbind, 0]);
    expect(await peer.closed()).toBe(0);
    expect((await link.closed).reason).toBe('the peer unbound');
  });

  it.each(['smsc', 'esme'] as const)(
    'as an %s: a peer that closes its sending side gets the answers to its messages, then the connection closes',
    async (role) => {
      const finish: (() => void)[] = [];
      const onMessage = () => new Promise<MessageAnswer>((resolve) => finish.push(() => resolve({ status: 0 })));
      const changed = { onMessage, maxInbound: 5 };
      const bound = role === 'smsc' ? loopback.boundSmsc(changed) : loopback.boundEsme('transceiver', changed);
      const { link, peer } = await bound;
      const sequences = Array.from({ length: 20 }, (_, i) => 100 + i);
      peer.send(...sequences.map((number) => message({}, [], ID.deliver_sm, number)));
      peer.socket.end();
      for (const number of sequences) {
        await expect.poll(() => finish.length).toBeGreaterThan(0);
        finish.shift()?.();
        expect((await peer.answer(number)).status).toBe(0);
      }
      expect(await peer.closed()).toBe(0);
      expect((await link.closed).reason).toBe('the peer closed the connection');
    },
  );

  it('a peer that closes its sending side: our open requests are rejected at once, and no further one is sent', async () => {
    const states: string[] = [];
    const changed = {
      onMessage: () => new Promise<MessageAnswer>(() => undefined),
      onChange: (state: string) => states.push(state),
      window: 1,
    };
    const { link, peer } = await loopback.boundEsme('transceiver', changed);
    const requests = [1, 2].map(() => link.request(submitSm({})).catch((error: unknown) => error));
    await peer.request(ID.submit_sm);
    peer.send(message({}, [], ID.deliver_sm, 30));
    peer.socket.end();
    const [sent, queued] = await Promise.all(requests);
    expect([sent, queued]).toEqual([expect.any(LinkClosedError), expect.any(NotSentError)]);
    expect(link.state).toBe('unbinding');
    expect(states.at(-1)).toBe('unbinding');
    await expect(link.request(submitSm({}))).rejects.toBeInstanceOf(NotSentError);
  });

  it('a peer that closes its sending side: a message that its handler does not answer delays the end by the response timer', async () => {
    const onMessage = () => new Promise<MessageAnswer>(() => undefined);
    const { peer } = await loopback.boundSmsc({ onMessage, timers: { ...PATIENT, responseMs: 40 } });
    peer.send(message({}, [], ID.submit_sm, 30));
    peer.socket.end();
    expect((await peer.answer(30)).status).toBe(STATUS.ESME_RSYSERR);
    expect(await peer.closed()).toBe(0);
  });

  it('both at the same time: each unbind is answered', async () => {
    const { smsc, esme } = await loopback.links(linkOptions(), linkOptions({ role: 'esme' }));
    await esme.bind({ bindType: 'transceiver', systemId: 'esme', password: 'secret' });
    await Promise.all([smsc.unbind(), esme.unbind()]);
    expect([smsc.lastError, esme.lastError]).toEqual([null, null]);
  });

  it('no FIN while a request of ours is unanswered: the window is drained first', async () => {
    const { link, peer } = await loopback.boundEsme('transceiver');
    const answers = [1, 2, 3].map(() => link.request(submitSm({})));
    const sent = [];
    for (const answer of answers) sent.push({ answer, request: await peer.request(ID.submit_sm) });
    const unbound = link.unbind();
    for (const { request } of sent) peer.send(pdu(RESP + ID.submit_sm, request.sequence, [cstring('1')]));
    const { sequence } = await peer.request(ID.unbind);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([0, 0, 0]);
    peer.send(pdu(RESP + ID.unbind, sequence));
    await unbound;
  });

  it('a lost connection rejects open requests with an unknown outcome, and queued requests as not sent', async () => {
    const { link, peer } = await loopback.boundEsme('transceiver', { window: 2 });
    const requests = [1, 2, 3].map(() => link.request(submitSm({})).catch((error: unknown) => error));
    await peer.request(ID.submit_sm);
    await peer.request(ID.submit_sm);
    peer.socket.destroy();
    const [first, second, third] = await Promise.all(requests);
    expect([first, second]).toEqual([expect.any(LinkClosedError), expect.any(LinkClosedError)]);
    expect(third).toBeInstanceOf(NotSentError);
  });
});

describe('two binds of one account', () => {
  it('are two links: when one is destroyed under load, the other continues and receives the receipts of both', async () => {
    const receipts: string[] = [];
    const onMessage: LinkHandlers['onMessage'] = (pdu) => {
      if (pdu.command === 'deliver_sm') receipts.push(pdu.fields.shortMessage.toString());
      return { status: 0 };
    };
    const a = await loopback.boundEsme('transceiver', { onMessage });
    const b = await loopback.boundEsme('transceiver', { onMessage });
    const lost = a.link.request(submitSm({})).catch((error: unknown) => error);
    await a.peer.request(ID.submit_sm);
    a.peer.socket.resetAndDestroy();
    expect(await lost).toBeInstanceOf(LinkClosedError);
    const kept = b.link.request(submitSm({}));
    const { sequence } = await b.peer.request(ID.submit_sm);
    b.peer.send(pdu(RESP + ID.submit_sm, sequence, [cstring('b-1')]), message({}, [], ID.deliver_sm, 30));
    expect((await kept).status).toBe(0);
    await b.peer.answer(30);
    expect(receipts).toHaveLength(1);
    expect(b.link.state).toBe('bound_trx');
  });
});
