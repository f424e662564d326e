import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import type { MeteredProcess } from '../cpu/use.js';
import type { Measure } from '../report.js';
import { COMMAND, Frames, frame, RESPONSE, submitFrame } from './frames.js';
import { keepUnderWay } from './pace.js';
import { PlainEnd } from './plain-end.js';
import { PlainCaller } from './plain-https.js';

/**
 * Runs whole verifications: a create, the SMS that approves it, its webhook and its realtime event. A fixed number runs
 * concurrently; each ends when both have arrived, so that no queue can grow.
 */
export interface VerificationsTask {
  readonly port: number;
  readonly apiKey: string;
  readonly accountId: string;
  readonly brandId: string;
  readonly smpp: { readonly port: number; readonly systemId: string; readonly password: string };
  /** In rotation. */
  readonly phones: readonly string[];
  readonly underWay: number;
  readonly seconds: number;
  readonly processes: readonly MeteredProcess[];
}

const CONNECTIONS = 64;
const LINKS = 4;
const RECEIVERS = 20;
/** A verification that takes longer has failed. */
const LONGEST_MS = 20_000;
const TEXT = /\?body=([^"]+)"/;
const ID = /"id":"(sess_[0-9A-Z]{26})"/;

interface Verification {
  readonly done: (well: boolean) => void;
  readonly timer: NodeJS.Timeout;
  webhook: boolean;
  event: boolean;
}

/** The current verifications, by session. Events of other sessions are ignored. */
class Ledger {
  readonly #open = new Map<string, Verification>();

  open(id: string, done: (well: boolean) => void): void {
    const timer = setTimeout(() => this.#close(id, false), LONGEST_MS);
    this.#open.set(id, { done, timer, webhook: false, event: false });
  }

  recordArrival(text: string, by: 'webhook' | 'event'): void {
    const id = ID.exec(text)?.[1] ?? '';
    const verification = this.#open.get(id);
    if (verification === undefined) return;
    verification[by] = true;
    if (verification.webhook && verification.event) this.#close(id, true);
  }

  #close(id: string, well: boolean): void {
    const verification = this.#open.get(id);
    clearTimeout(verification?.timer);
    this.#open.delete(id);
    verification?.done(well);
  }
}

async function receivers(ledger: Ledger): Promise<{ readonly urls: string[]; readonly close: () => void }> {
  const servers = Array.from({ length: RECEIVERS }, () =>
    http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        response.writeHead(200).end();
        ledger.recordArrival(Buffer.concat(chunks).toString(), 'webhook');
      });
    }),
  );
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = (): void => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  const urls = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`);
  return { urls, close };
}

/** A subscription to the account's channel. */
async function listen({ port, apiKey, accountId }: VerificationsTask, ledger: Ledger): Promise<WebSocket> {
  const socket = new WebSocket(`wss://127.0.0.1:${port}/v1/realtime`, ['countersign.v1'], {
    headers: { authorization: `Bearer ${apiKey}` },
    rejectUnauthorized: false,
    perMessageDeflate: false,
  });
  await once(socket, 'open');
  const subscribed = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      if (text.startsWith('{"type":"event"')) ledger.recordArrival(text, 'event');
      else if (text.startsWith('{"type":"subscribed"')) resolve();
    });
  });
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', channel: `account:${accountId}` }));
  await subscribed;
  return socket;
}

async function bound({ smpp: { port, systemId, password } }: VerificationsTask): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const version34 = '\x34';
  socket.write(frame(COMMAND.bindTransceiver, 1, `${systemId}\0${password}\0\0${version34}\0\0\0`));
  const frames = new Frames();
  await new Promise<void>((resolve, reject) => {
    socket.once('data', (octets: Buffer) =>
      frames.read(octets, (command, status) => {
        if (command === COMMAND.bindTransceiver + RESPONSE && status === 0) resolve();
        else reject(new Error(`the bind was refused with 0x${status.toString(16)}`));
      }),
    );
  });
  return socket;
}

/** The links over which phones send, in turn. */
class Phones {
  #sequence = 1;

  constructor(private readonly ends: readonly PlainEnd[]) {}

  send(source: string, text: string, onAnswer: (well: boolean) => void): void {
    this.#sequence += 1;
    const end = this.ends[this.#sequence % this.ends.length];
    end?.request(this.#sequence, submitFrame(source, text, this.#sequence), onAnswer);
  }
}

const bodyFor = ({ accountId, brandId }: VerificationsTask, phone: string, webhookUrl: string): string =>
  JSON.stringify({
    phone,
    accountId,
    brandId,
    clientChallenge: 'a'.repeat(64),
    webhookUrl,
    ttl: 120,
    channel: 'sms_fallback',
    allowSmsOtp: true,
    metadata: { order: '12345', cart: 'a-17' },
  });

async function run(task: VerificationsTask): Promise<Measure> {
  const ledger = new Ledger();
  const { urls, close } = await receivers(ledger);
  const realtime = await listen(task, ledger);
  const sockets = await Promise.all(Array.from({ length: LINKS }, () => bound(task)));
  const phones = new Phones(sockets.map((socket) => new PlainEnd(socket)));
  const caller = await PlainCaller.open(task.port, `Bearer ${task.apiKey}`, CONNECTIONS);
  let made = 0;
  const begin = (onDone: (well: boolean) => void): void => {
    made += 1;
    const phone = task.phones[made % task.phones.length] ?? '';
    const webhookUrl = urls[made % urls.length] ?? '';
    caller.post('/v1/verify', bodyFor(task, phone, webhookUrl), ({ status, body }) => {
      const [id, text] = [ID.exec(body)?.[1], TEXT.exec(body)?.[1]];
      if (status !== 200 || id === undefined || text === undefined) {
        onDone(false);
        return;
      }
      ledger.open(id, onDone);
      // An SMS that is not matched causes no webhook and no event: its verification fails at the deadline.
      phones.send(phone.slice(1), decodeURIComponent(text), () => undefined);
    });
  };
  const measure = await keepUnderWay(task.underWay, task.seconds, begin, task.processes);
  realtime.terminate();
  caller.close();
  for (const socket of sockets) socket.destroy();
  close();
  return measure;
}

process.once('message', (task: VerificationsTask) => {
  void run(task).then((measure) => process.send?.(measure, () => process.disconnect()));
});
