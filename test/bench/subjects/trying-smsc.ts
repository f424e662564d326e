import net from 'node:net';
import { COMMAND, Frames, frame, RESPONSE } from '../load/frames.js';

/**
 * A faulty carrier, by MANNER. mute: submits are never answered. slow: it reads a little at a time. throttling: nine of
 * ten submits are answered 0x58. dropping: the connection ends after 500 submits.
 */
const MANNER = process.env['MANNER'] ?? 'mute';
const THROTTLED = 0x58;
const DROP_AFTER = 500;
const SLOW_EVERY_MS = 200;

function serve(socket: net.Socket): void {
  const frames = new Frames();
  let submits = 0;
  socket.on('error', () => socket.destroy());
  socket.on('data', (octets) => {
    const answers: Buffer[] = [];
    frames.read(octets, (command, _status, sequence) => {
      if (command >= RESPONSE) return;
      if (command !== COMMAND.submit) {
        answers.push(frame(command + RESPONSE, sequence, command === COMMAND.bindTransceiver ? 'trying\0' : ''));
        return;
      }
      submits += 1;
      if (MANNER === 'mute') return;
      const throttled = MANNER === 'throttling' && submits % 10 !== 0;
      answers.push(frame(command + RESPONSE, sequence, throttled ? '' : '1\0', throttled ? THROTTLED : 0));
    });
    if (answers.length > 0) socket.write(Buffer.concat(answers));
    if (MANNER === 'dropping' && submits >= DROP_AFTER) socket.destroy();
    if (MANNER !== 'slow') return;
    socket.pause();
    setTimeout(() => socket.resume(), SLOW_EVERY_MS);
  });
}

net.createServer({ noDelay: true }, serve).listen(Number(process.env['PORT']), '127.0.0.1');
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
