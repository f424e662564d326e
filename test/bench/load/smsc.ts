import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { createInterface } from 'node:readline';
import type { MeteredProcess } from '../cpu/use.js';
import type { Measure } from '../report.js';
import { COMMAND, Frames, frame, RESPONSE } from './frames.js';
import { messagePdu } from './message-pdu.js';
import { PlainEnd } from './plain-end.js';
import { LoadWindow } from './window.js';

/** Listens for the binds of a client that passes its MOs on by HTTP. Is answered by the port. */
export interface ListenOrder {
  readonly kind: 'listen';
  /** Answers a line with the phone for each MO that was processed. */
  readonly processedUrl: string;
}

/** Sends every message once, over all binds in turn. Is answered by a Measure. */
export interface SendOrder {
  readonly kind: 'send';
  /** Their phones differ. */
  readonly messages: readonly { readonly source: string; readonly text: string }[];
  /** MOs that are not processed yet, at most. */
  readonly underWay: number;
  /** Number of first MOs that are not measured. */
  readonly ramp: number;
  readonly processes: readonly MeteredProcess[];
}

const DEADLINE_MS = 60_000;

const ends: PlainEnd[] = [];
let sequence = 0;
/** The phones of MOs under way, with the time at which each was sent. */
const sentAtMs = new Map<string, number>();
let onProcessed: (latencyMs: number) => void = () => undefined;

/** Answers whatever the client asks: its bind, its enquire_link. */
function serve(socket: net.Socket): void {
  const requests = new Frames();
  socket.on('error', () => socket.destroy());
  socket.on('data', (octets) =>
    requests.read(octets, (command, _status, number) => {
      if (command >= RESPONSE) return;
      const isBind = command === COMMAND.bindTransceiver;
      socket.write(frame(command + RESPONSE, number, isBind ? 'bench\0' : ''));
      if (isBind) ends.push(new PlainEnd(socket));
    }),
  );
}

function hear(phone: string): void {
  const sentMs = sentAtMs.get(phone);
  if (sentMs === undefined) return;
  sentAtMs.delete(phone);
  onProcessed(performance.now() - sentMs);
}

async function listen({ processedUrl }: ListenOrder): Promise<number> {
  const [processed] = (await once(http.get(processedUrl), 'response')) as [http.IncomingMessage];
  createInterface({ input: processed }).on('line', hear);
  const server = net.createServer({ noDelay: true }, serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as net.AddressInfo).port;
}

async function send({ messages, underWay, ramp, processes }: SendOrder): Promise<Measure> {
  const window = new LoadWindow(processes);
  let [sent, done] = [0, 0];
  const sendOne = (): void => {
    const message = messages[sent];
    if (message === undefined) return;
    sequence += 1;
    sentAtMs.set(`+${message.source}`, performance.now());
    ends[sent % ends.length]?.request(sequence, messagePdu('deliver_sm', { ...message, sequence }), (well) => {
      if (!well) window.failed();
    });
    sent += 1;
  };
  await new Promise<void>((resolve, reject) => {
    const late = (): void => reject(new Error(`${messages.length - done} MOs were not processed in ${DEADLINE_MS} ms`));
    const timer = setTimeout(late, DEADLINE_MS);
    onProcessed = (latencyMs) => {
      window.answered(latencyMs, true);
      done += 1;
      if (done === ramp) window.open();
      sendOne();
      if (done < messages.length) return;
      clearTimeout(timer);
      resolve();
    };
    for (let at = 0; at < underWay; at += 1) sendOne();
  });
  window.close();
  return window.measure();
}

process.on('message', (order: ListenOrder | SendOrder) => {
  const answer: Promise<number | Measure> = order.kind === 'listen' ? listen(order) : send(order);
  void answer.then((value) => process.send?.(value));
});
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
