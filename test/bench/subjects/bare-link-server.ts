import net from 'node:net';
import { SmppLink } from '@countersign/smpp/link';
import { STATUS } from '@countersign/smpp/pdu';

/** The session layer alone, every check and timer on: it answers each submit_sm at once and stores nothing. */
const answer = Promise.resolve({ status: STATUS.ESME_ROK, messageId: '1' });

const server = net.createServer((socket) => {
  new SmppLink(socket, {
    endpoint: {
      role: 'smsc',
      interfaceVersion: 0x34,
      systemId: 'bench',
      authenticate: () => Promise.resolve({ status: STATUS.ESME_ROK }),
    },
    timers: {
      sessionInitMs: 10_000,
      pduReadMs: 10_000,
      enquireLinkMs: 30_000,
      responseMs: 10_000,
      inactivityMs: 300_000,
    },
    limits: { window: 10, maxInbound: 500 },
    handlers: { onMessage: () => answer },
  });
});
server.listen(Number(process.env['PORT']), '127.0.0.1');
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
