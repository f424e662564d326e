import { fork } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import smpp from 'smpp';
import type { Measure } from '../report.js';
import { COMMAND, Frames, frame, RESPONSE } from './frames.js';
import { keepUnderWay } from './pace.js';
import { PlainEnd } from './plain-end.js';

/** Starts a client of that stack, waits for its bind, and sends it MOs, `window` of them unanswered at a time. */
export interface DeliverTask {
  readonly stack: 'ours' | 'npm';
  readonly window: number;
  readonly seconds: number;
}

const MO = new smpp.PDU('deliver_sm', {
  sequence_number: 1,
  source_addr_ton: 1,
  source_addr_npi: 1,
  source_addr: '14155552671',
  dest_addr_ton: 1,
  dest_addr_npi: 1,
  destination_addr: '14155550199',
  short_message: 'AUTH-ACME-7Q2M9XK4T1V8C3ZB\nSend this message to sign in to Acme.',
}).toBuffer();
const SEQUENCE_AT = 12;
const MAX_SEQUENCE = 0x7fff_ffff;

async function boundClient(socket: net.Socket): Promise<Frames> {
  const frames = new Frames();
  await new Promise<void>((resolve) => {
    socket.once('data', (octets) =>
      frames.read(octets, (command, _status, sequence) => {
        if (command === COMMAND.bindTransceiver) socket.write(frame(command + RESPONSE, sequence, 'plain\0'));
        resolve();
      }),
    );
  });
  return frames;
}

async function run({ stack, window, seconds }: DeliverTask): Promise<Measure> {
  const server = net.createServer({ noDelay: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const env = { ...process.env, PORT: String(port), STACK: stack };
  const client = fork(fileURLToPath(new URL('../subjects/esme.js', import.meta.url)), [], { env });
  const socket = await new Promise<net.Socket>((resolve) => server.once('connection', resolve));
  const end = new PlainEnd(socket, await boundClient(socket));
  let sequence = 0;
  const measure = await keepUnderWay(window, seconds, (onAnswer) => {
    sequence = (sequence % MAX_SEQUENCE) + 1;
    const octets = Buffer.from(MO);
    octets.writeUInt32BE(sequence, SEQUENCE_AT);
    end.request(sequence, octets, onAnswer);
  });
  client.disconnect();
  socket.destroy();
  server.close();
  return measure;
}

process.once('message', (task: DeliverTask) => {
  void run(task).then((measure) => process.send?.(measure, () => process.disconnect()));
});
