import { readFileSync } from 'node:fs';
import https from 'node:https';
import { WebSocketServer } from 'ws';

/** The baseline of realtime: bare `ws` over the same TLS. A POST sends one frame to every socket. */
const environment = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

const octets = Number(environment('FRAME_OCTETS'));
let sent = 0;

function nextFrame(): Buffer {
  sent += 1;
  const head = `{"type":"event","id":"evt_${sent}","timestamp":"${new Date().toISOString()}","data":"`;
  return Buffer.from(`${head}${'x'.repeat(Math.max(0, octets - head.length - 2))}"}`);
}

const server = https.createServer({
  cert: readFileSync(environment('TLS_CERT_FILE')),
  key: readFileSync(environment('TLS_KEY_FILE')),
  minVersion: 'TLSv1.3',
});
const webSockets = new WebSocketServer({
  server,
  perMessageDeflate: false,
  handleProtocols: () => 'countersign.v1',
});
webSockets.on('connection', (socket) => socket.on('error', () => socket.terminate()));
server.on('request', (_request, response) => {
  const frame = nextFrame();
  for (const socket of webSockets.clients) socket.send(frame, { binary: false });
  response.end();
});
server.listen(Number(environment('PORT')), '127.0.0.1');
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
