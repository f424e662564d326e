import net from 'node:net';
import { STATUS } from '@countersign/smpp/pdu';
import { meteredLink } from '../metered-link.js';

/** The server side as in the gateway, with metrics: it answers each submit_sm at once and stores nothing. */
const answer = { status: STATUS.ESME_ROK, messageId: '1' };

const server = net.createServer({ noDelay: true }, (socket) => {
  const authenticate = (): Promise<{ status: number }> => Promise.resolve({ status: STATUS.ESME_ROK });
  meteredLink(socket, { role: 'smsc', interfaceVersion: 0x34, systemId: 'bench', authenticate }, 10, {
    onMessage: () => answer,
  });
});
server.listen(Number(process.env['PORT']), '127.0.0.1');
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
