import net from 'node:net';
import { COMMAND, Frames, frame, RESPONSE } from '../load/frames.js';

/** The peer of both clients: plain sockets that answer every submit_sm, after LATENCY_MS if set. */
const LATENCY_MS = Number(process.env['LATENCY_MS'] ?? 0);
/** Timers fire up to a millisecond late; the rest of the time is spent in a loop. */
const TIMER_SLACK_MS = 1;

function serve(socket: net.Socket): void {
  const frames = new Frames();
  const due: { readonly atMs: number; readonly octets: Buffer }[] = [];
  let armed = false;
  const flush = (): void => {
    armed = false;
    const nowMs = performance.now();
    const ready: Buffer[] = [];
    for (let next = due[0]; next !== undefined && next.atMs <= nowMs; next = due[0]) {
      ready.push(next.octets);
      due.shift();
    }
    if (ready.length > 0) socket.write(Buffer.concat(ready));
    arm();
  };
  const arm = (): void => {
    const [next] = due;
    if (armed || next === undefined || socket.destroyed) return;
    armed = true;
    const waitMs = next.atMs - performance.now();
    if (waitMs > TIMER_SLACK_MS) setTimeout(flush, waitMs - TIMER_SLACK_MS);
    else setImmediate(flush);
  };
  socket.on('error', () => socket.destroy());
  socket.on('data', (octets) => {
    const answers: Buffer[] = [];
    frames.read(octets, (command, _status, sequence) => {
      const body = command === COMMAND.submit ? '1\0' : command === COMMAND.bindTransceiver ? 'plain\0' : '';
      if (command < RESPONSE) answers.push(frame(command + RESPONSE, sequence, body));
    });
    if (answers.length === 0) return;
    if (LATENCY_MS === 0) {
      socket.write(Buffer.concat(answers));
      return;
    }
    due.push({ atMs: performance.now() + LATENCY_MS, octets: Buffer.concat(answers) });
    arm();
  });
}

net.createServer({ noDelay: true }, serve).listen(Number(process.env['PORT']), '127.0.0.1');
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
