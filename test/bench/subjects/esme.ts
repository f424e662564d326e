import net from 'node:net';
import { STATUS } from '@countersign/smpp/pdu';
import smpp from 'smpp';
import { meteredLink } from '../metered-link.js';

/** A client that binds to PORT and answers every deliver_sm at once: the product's or npm `smpp`'s, by STACK. */
const port = Number(process.env['PORT']);
const account = { system_id: 'bench', password: 'bench' };

if (process.env['STACK'] === 'npm') {
  const session = smpp.connect({ port, host: '127.0.0.1' });
  session.on('error', () => session.destroy());
  session.on('deliver_sm', (pdu) => session.send(pdu.response()));
  session.on('connect', () => session.bind_transceiver(account, () => undefined));
} else {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  socket.once('connect', () => {
    const link = meteredLink(socket, { role: 'esme', interfaceVersion: 0x34 }, 10, {
      onMessage: () => ({ status: STATUS.ESME_ROK }),
    });
    void link.bind({ bindType: 'transceiver', systemId: account.system_id, password: account.password });
  });
}
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
