import smpp from 'smpp';

/** The baseline of inbound: the server of npm `smpp`, which answers every submit_sm at once and stores nothing. */
const server = smpp.createServer((session) => {
  session.on('error', () => session.close());
  session.on('bind_transceiver', (pdu) => session.send(pdu.response()));
  session.on('submit_sm', (pdu) => session.send(pdu.response({ message_id: '1' })));
});
server.listen(Number(process.env['PORT']), '127.0.0.1');
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
