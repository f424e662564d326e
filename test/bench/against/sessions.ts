import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { required } from '../environment.js';
import type { CallsFigure, CallsTask } from '../load/calls.js';
import { runLoad } from '../processes.js';
import type { Side } from './side.js';

/** A session that was opened through the API of its side. */
export interface OpenSession {
  readonly sessionId: string;
  /** The phone as an SMS names its sender: without the plus. */
  readonly source: string;
  /** The SMS that approves it. */
  readonly text: string;
}

/** The API's maximum (specification): a session is used within its own turn. */
const TTL_SECONDS = 300;
const PHONES = 7_999_999;
const BODY = /\?body=(.+)$/;

let phonesMade = 0;

export function nextPhone(): string {
  phonesMade += 1;
  return `+1415${String(2_000_000 + (phonesMade % PHONES))}`;
}

/** The body of a create. `ttl` and `allowSmsOtp` differ from their defaults, as a caller's may. */
export const createBody = ({ demo }: Side, phone: string, webhookUrl: string | null): string =>
  JSON.stringify({
    phone,
    accountId: demo.accountId,
    brandId: demo.brandId,
    clientChallenge: 'a'.repeat(64),
    ...(webhookUrl === null ? {} : { webhookUrl }),
    ttl: TTL_SECONDS,
    channel: 'sms_fallback',
    allowSmsOtp: true,
    metadata: { order: '12345', cart: 'a-17' },
  });

/** Sends each request once, unmeasured; throws at the first refusal. Returns the bodies. */
export async function callEach(
  { name, controlPlane }: Side,
  apiKey: string,
  requests: CallsTask['requests'],
): Promise<readonly string[]> {
  const task: CallsTask = { port: controlPlane.port, apiKey, requests };
  const { bodies, refusal } = await runLoad<CallsFigure>('calls.js', task);
  if (refusal !== null) throw new Error(`${name} refused a request of the preparation: ${refusal}`);
  return bodies;
}

function parseSession(body: string): OpenSession {
  const session = JSON.parse(body) as { readonly id: string; readonly phone: string; readonly fallbackUri: string };
  const text = BODY.exec(session.fallbackUri)?.[1];
  if (text === undefined) throw new Error(`a create was answered without a text to send: ${body}`);
  return { sessionId: session.id, source: session.phone.slice(1), text: decodeURIComponent(text) };
}

interface OpenOptions {
  readonly apiKey?: string;
  readonly webhookUrl?: (at: number) => string | null;
}

/** Opens sessions, each of another phone, by `POST /v1/verify`. Calls `webhookUrl` for each. */
export async function openSessions(
  side: Side,
  count: number,
  { apiKey = side.demo.apiKey, webhookUrl = () => null }: OpenOptions = {},
): Promise<OpenSession[]> {
  const requests = Array.from({ length: count }, (_, at) => ({
    path: '/v1/verify',
    body: createBody(side, nextPhone(), webhookUrl(at)),
  }));
  return (await callEach(side, apiKey, requests)).map(parseSession);
}

/** Approved sessions of the account, as `GET /v1/usage` counts them. */
export async function approvedCount({ name, controlPlane }: Side, apiKey: string): Promise<number> {
  const dispatcher = new Agent({ connect: { ca: readFileSync(required('TLS_CA_FILE'), 'utf8') } });
  const url = `https://127.0.0.1:${controlPlane.port}/v1/usage`;
  const answer = await request(url, { dispatcher, headers: { authorization: `Bearer ${apiKey}` } });
  const text = await answer.body.text();
  await dispatcher.close();
  if (answer.statusCode !== 200) throw new Error(`${name} answered ${answer.statusCode} to GET /v1/usage: ${text}`);
  const { verifications } = JSON.parse(text) as { readonly verifications: { readonly approved: number } };
  return verifications.approved;
}

/** Every operation of a run must have approved its session: an SMS is answered with status 0 even if it did not. */
export async function expectApproved(side: Side, apiKey: string, wanted: number): Promise<void> {
  const approved = await approvedCount(side, apiKey);
  if (approved !== wanted) throw new Error(`${side.name}: ${approved} sessions are approved instead of ${wanted}`);
}
