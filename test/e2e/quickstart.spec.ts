import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRedis } from '../../config/stack/redis.mjs';
import { Phone } from '../support/phone.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import {
  CARD_WAIT,
  freePorts,
  Launcher,
  type Ports,
  processesOf,
  type Stack,
  temporaryFolder,
} from '../support/stack.js';
import { until } from '../support/until.js';

const READY_MS = 100_000;
/** A webhook or a tap arrives within a second; a loaded machine gets more. */
const SOON_MS = 20_000;
const PHONE = '+14155552671';
const OTHER_PHONE = '+14155552672';
const CARD_TRIES = 5;
const CHALLENGE = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b';

interface Card {
  readonly messageId: string;
}

const textOf = (fallbackUri: unknown): string => decodeURIComponent(String(fallbackUri).replace(/^.*body=/, ''));

/** Both kinds of queue pass the same tests; `REDIS_URL=` selects PostgreSQL whatever is on PATH. */
const QUEUES = [
  { queues: 'PostgreSQL', environment: { ...CARD_WAIT, REDIS_URL: '' }, missing: false },
  { queues: 'Redis', environment: CARD_WAIT, missing: findRedis() === undefined },
];

for (const { queues, environment, missing } of QUEUES) {
  describe.skipIf(missing)(`npm start with queues on ${queues}`, () => {
    const data = temporaryFolder();
    let ports: Ports;
    let stack: Stack;
    let receiver: Receiver;

    const start = (): Launcher => Launcher.start({ dataDir: data.folder, ports, environment, by: 'npm' });
    const create = async (phone: string) => {
      const { accountId, brandId } = stack.quickstart;
      const webhookUrl = receiver.url;
      const session = { accountId, brandId, phone, clientChallenge: CHALLENGE, webhookUrl, metadata: { order: '42' } };
      const { status, body } = await stack.api('POST', '/v1/verify', session);
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: 'pending', channel: 'sms_fallback', phone });
      return { id: String(body['id']), text: textOf(body['fallbackUri']) };
    };
    /** Creates with cards until one is delivered in time: on a busy machine a create may fall back to SMS. */
    const createByCard = async () => {
      for (let tries = 1; ; tries++) {
        const phone = `+1415555268${tries}`;
        const manner = { reachable: true, online: true, deliverAfterMs: 0 };
        await stack.simulator('PUT', `/_admin/phones/${phone}`, manner);
        const { accountId, brandId } = stack.quickstart;
        const session = { accountId, brandId, phone, clientChallenge: CHALLENGE };
        const { status, body } = await stack.api('POST', '/v1/verify', session);
        expect(status).toBe(200);
        if (body['channel'] === 'sms_fallback' && tries < CARD_TRIES) continue;
        expect(body).toMatchObject({ status: 'pending', channel: 'rcs', fallbackUri: null });
        return { id: String(body['id']), phone };
      }
    };
    const find = async (id: string) => (await stack.api('GET', `/v1/verify/${id}`)).body;

    beforeAll(async () => {
      ports = await freePorts();
      receiver = await startReceiver();
      stack = await start().ready(READY_MS);
    });

    afterAll(async () => {
      await stack.stop();
      await receiver.close();
      data.remove();
    });

    it('prints one JSON object, also to a file of its owner, and names the store of the queues', () => {
      const { launcher, quickstart } = stack;
      const [line = ''] = launcher.answer.split('\n').filter((text) => text.startsWith('{'));
      expect(JSON.parse(line)).toEqual(quickstart);
      expect(Object.keys(quickstart).sort()).toEqual([
        'accountId',
        'adminKey',
        'apiKey',
        'baseUrl',
        'brandId',
        'brandSlug',
        'caFile',
        'consoleUrl',
        'demoUrl',
        'inboundNumber',
        'phoneUrl',
        'realtimeUrl',
        'smpp',
        'testApiKey',
        'testWebhookSecret',
        'webhookSecret',
      ]);
      expect(quickstart.baseUrl).toBe(`https://127.0.0.1:${ports.CONTROL_PLANE_PORT}`);
      expect(quickstart.smpp.port).toBe(ports.GATEWAY_SMPP_PORT);
      expect(statSync(launcher.quickstartFile).mode & 0o777).toBe(0o600);
      expect(launcher.answer).toContain(`Queues: ${queues}`);
      expect(launcher.answer).toContain('Webhooks may go to 127.0.0.0/8');
    });

    it('answers a curl that succeeds when it is pasted', (context) => {
      const pasted = /^ {2}(curl [\s\S]*?\/v1\/verify[\s\S]*?)\n\n/m.exec(stack.launcher.answer)?.[1] ?? '';
      if (spawnSync('curl', ['--version']).status !== 0) context.skip('no curl on this machine');
      const { stdout } = spawnSync('/bin/sh', ['-c', pasted.replace('curl', 'curl -sS')], { encoding: 'utf8' });
      expect(JSON.parse(stdout)).toMatchObject({ status: 'pending', brandSlug: stack.quickstart.brandSlug });
    });

    it('signs in to the console with consoleUrl, once', async () => {
      const { consoleUrl, baseUrl } = stack.quickstart;
      const path = consoleUrl.slice(baseUrl.length);
      expect((await stack.api('GET', path)).status).toBe(303);
      expect((await stack.api('GET', path)).status).toBe(404);
    });

    it('approves a session by an SMS from its phone, and posts a signed webhook', async () => {
      const session = await create(PHONE);
      const sms = { from: PHONE, to: stack.quickstart.inboundNumber, text: session.text };
      expect(await stack.simulator('POST', '/_admin/sms', sms)).toEqual({ status: 200, body: { commandStatus: 0 } });
      const approved = await find(session.id);
      expect(approved).toMatchObject({
        status: 'approved',
        authEntropy: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      });

      await until('the webhook', SOON_MS, () => receiver.eventIdsOf(session.id).length > 0);
      const [event] = receiver.received.filter(({ body }) => body.includes(session.id));
      const headers = event?.headers as Record<string, string>;
      const verified = new Webhook(stack.quickstart.webhookSecret).verify(event?.body ?? '', headers);
      expect(verified).toMatchObject({ type: 'verification.completed', data: approved });
    });

    it('approves a session by an SMS that an independent SMPP client hands in', async () => {
      const session = await create(OTHER_PHONE);
      const client = new Phone(stack.quickstart.smpp);
      const sms = { from: OTHER_PHONE, to: stack.quickstart.inboundNumber, text: session.text };
      expect(await client.send(sms)).toBe(0);
      await client.close();
      expect(await find(session.id)).toMatchObject({ status: 'approved' });
    });

    it('asks a phone that is online by a card, whose tap approves the session', async () => {
      const { id, phone } = await createByCard();
      const { data } = (await stack.simulator('GET', `/_admin/cards?phone=${phone}`)).body as { data: Card[] };
      expect(data).toMatchObject([{ phone, suggestions: ['Approve', 'Deny'], state: 'delivered' }]);
      const [card] = data;
      const tap = await stack.simulator('POST', `/_admin/cards/${String(card?.messageId)}/tap`, { suggestion: 0 });
      expect(tap.status).toBe(200);
      await until('the tap', SOON_MS, async () => (await find(id))['status'] === 'approved');
      expect(await find(id)).toMatchObject({ channel: 'rcs', latencyMs: expect.any(Number) as number });
    });

    it.each(['phoneUrl', 'demoUrl'] as const)('serves the page of %s', async (name) => {
      const { statusCode, body } = await request(stack.quickstart[name]);
      expect(statusCode).toBe(200);
      expect(await body.text()).toContain('<!doctype html>');
    });

    it('stops on SIGTERM without a process left, and starts again with the same data', async () => {
      const session = await create(PHONE);
      const before = stack.quickstart;
      await stack.stop('SIGTERM');
      // npm ends before the launcher; every process of the run must end.
      await until('every process is gone', READY_MS, () => processesOf(data.folder).length === 0);

      stack = await start().ready(READY_MS);
      // The link of the console is for one use: each start has another.
      expect(stack.quickstart).toEqual({ ...before, consoleUrl: stack.quickstart.consoleUrl });
      expect(await find(session.id)).toMatchObject({ id: session.id, status: 'pending' });
    });

    it('starts again after the launcher was killed, and stops the servers that it left', async () => {
      const session = await create(PHONE);
      await stack.stop('SIGTERM');
      await until('every process is gone', READY_MS, () => processesOf(data.folder).length === 0);
      stack = await Launcher.start({ dataDir: data.folder, ports, environment, by: 'node' }).ready(READY_MS);
      await stack.stop('SIGKILL');

      stack = await start().ready(READY_MS);
      const sms = { from: PHONE, to: stack.quickstart.inboundNumber, text: session.text };
      expect((await stack.simulator('POST', '/_admin/sms', sms)).body).toEqual({ commandStatus: 0 });
      expect(await find(session.id)).toMatchObject({ status: 'approved' });
    });
  });
}
