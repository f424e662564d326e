import net from 'node:net';
import smpp from 'smpp';
import type { MeteredProcess } from '../cpu/use.js';
import type { Measure } from '../report.js';
import { COMMAND, Frames, RESPONSE } from './frames.js';
import { messagePdu } from './message-pdu.js';
import { openLoop } from './open-loop.js';
import { PlainEnd } from './plain-end.js';
import { LoadWindow } from './window.js';

/** Sends every message once over `links` links: never more than `window` unanswered on each, or at a constant rate. */
export interface SmppTask {
  readonly port: number;
  readonly systemId: string;
  readonly password: string;
  readonly links: number;
  readonly window: number;
  readonly messages: readonly { readonly source: string; readonly text: string }[];
  /**
   * Number of first answers (requests, at a constant rate) that are not measured: an idle pool opens its connections to
   * PostgreSQL again.
   */
  readonly ramp?: number;
  /** Over all links: requests are sent when they are due (open loop), however many are unanswered. */
  readonly perSecond?: number;
  /** Their CPU time is measured over the same window as the answers. */
  readonly processes?: readonly MeteredProcess[];
}

const bindTransceiver = ({ systemId, password }: SmppTask): Buffer =>
  new smpp.PDU('bind_transceiver', {
    sequence_number: 1,
    system_id: systemId,
    password,
    interface_version: 0x34,
  }).toBuffer();

/** One link of plain sockets and prepared frames: the generator must cost less than the subject. */
class LoadLink {
  #answered = 0;
  #next = 0;
  readonly #incoming = new Frames();
  readonly #sentAtMs: number[] = [];
  #done: () => void = () => undefined;

  constructor(
    private readonly socket: net.Socket,
    private readonly frames: readonly Buffer[],
    private readonly unanswered: number,
    private readonly onAnswer: (latencyMs: number, well: boolean) => void,
  ) {}

  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.socket.on('data', (octets) => this.#read(octets));
      this.socket.once('close', () => {
        if (this.#answered < this.frames.length) reject(new Error('the server closed the link'));
      });
      this.#send(this.unanswered);
    });
  }

  #send(count: number): void {
    const batch = this.frames.slice(this.#next, this.#next + count);
    if (batch.length === 0) return;
    this.#next += batch.length;
    const now = performance.now();
    for (const _ of batch) this.#sentAtMs.push(now);
    this.socket.write(Buffer.concat(batch));
  }

  #read(octets: Buffer): void {
    const now = performance.now();
    let answered = 0;
    this.#incoming.read(octets, (command, status, sequence) => {
      if (command !== COMMAND.submit + RESPONSE) return;
      // Sequence numbers begin at 2: the bind took 1.
      this.onAnswer(now - (this.#sentAtMs[sequence - 2] ?? now), status === 0);
      answered += 1;
    });
    this.#answered += answered;
    if (this.#answered === this.frames.length) this.#done();
    else this.#send(answered);
  }
}

async function bound(task: SmppTask): Promise<net.Socket> {
  const socket = net.connect(task.port, '127.0.0.1');
  socket.setNoDelay(true);
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', resolve);
  });
  socket.write(bindTransceiver(task));
  const answer = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  if (answer.readUInt32BE(8) !== 0)
    throw new Error(`the bind was refused with 0x${answer.readUInt32BE(8).toString(16)}`);
  return socket;
}

async function saturate(task: SmppTask, sockets: readonly net.Socket[]): Promise<Measure> {
  const window = new LoadWindow(task.processes);
  let ramp = task.ramp ?? 0;
  const onAnswer = (latencyMs: number, well: boolean): void => {
    window.answered(latencyMs, well);
    ramp -= 1;
    if (ramp === 0) window.open();
  };
  const links = sockets.map((socket, index) => {
    const own = task.messages.filter((_, at) => at % task.links === index);
    const frames = own.map((message, at) => messagePdu('submit_sm', { ...message, sequence: at + 2 }));
    return new LoadLink(socket, frames, task.window, onAnswer);
  });
  if (ramp === 0) window.open();
  await Promise.all(links.map((link) => link.run()));
  window.close();
  return window.measure();
}

/** Sends over the links in turn. */
function atRate(task: SmppTask, perSecond: number, sockets: readonly net.Socket[]): Promise<Measure> {
  const ends = sockets.map((socket) => new PlainEnd(socket));
  // Sequence numbers begin at 2: the bind took 1.
  const frames = task.messages.map((message, at) => messagePdu('submit_sm', { ...message, sequence: at + 2 }));
  const pace = { perSecond, count: frames.length, ramp: task.ramp ?? 0 };
  const closed = new Promise<never>((_, reject) => {
    for (const socket of sockets) socket.once('close', () => reject(new Error('the server closed the link')));
  });
  const measure = openLoop(
    pace,
    (at, onAnswer) => ends[at % ends.length]?.request(at + 2, frames[at] ?? Buffer.alloc(0), onAnswer),
    task.processes,
  );
  return Promise.race([measure, closed]);
}

async function run(task: SmppTask): Promise<Measure> {
  const sockets = await Promise.all(Array.from({ length: task.links }, () => bound(task)));
  const { perSecond } = task;
  const measure = await (perSecond === undefined ? saturate(task, sockets) : atRate(task, perSecond, sockets));
  for (const socket of sockets) socket.destroy();
  return measure;
}

process.once('message', (task: SmppTask) => {
  void run(task).then((measure) => process.send?.(measure, () => process.disconnect()));
});
