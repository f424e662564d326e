import net from 'node:net';
import { once } from 'node:events';
import { STATUS, submitSm } from '@countersign/smpp/pdu';
import smpp from 'smpp';
import { meteredLink } from '../metered-link.js';
import type { Measure } from '../report.js';
import { COMMAND, frame } from './frames.js';
import { keepUnderWay } from './pace.js';
import { PlainEnd } from './plain-end.js';

/** Sends codes over one connection, `window` of them unanswered at a time. */
export interface ClientTask {
  readonly stack: 'ours' | 'npm' | 'plain';
  readonly port: number;
  readonly window: number;
  readonly seconds: number;
}

const TEXT = '042137 is your Acme code. Do not share it.';
const address = (value: string) => ({ ton: 1, npi: 1, value });

async function ours({ port, window, seconds }: ClientTask): Promise<Measure> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const link = meteredLink(socket, { role: 'esme', interfaceVersion: 0x34 }, window, {
    onMessage: () => ({ status: STATUS.ESME_ROK }),
  });
  await link.bind({ bindType: 'transceiver', systemId: 'bench', password: 'bench' });
  const fields = { sourceAddress: address('14155550100'), destinationAddress: address('14155552671') };
  const shortMessage = Buffer.from(TEXT);
  const measure = await keepUnderWay(window, seconds, (onAnswer) => {
    link.request(submitSm({ ...fields, shortMessage, registeredDelivery: 1 })).then(
      ({ status }) => onAnswer(status === STATUS.ESME_ROK),
      () => onAnswer(false),
    );
  });
  link.destroy('the run is over');
  return measure;
}

async function npm({ port, window, seconds }: ClientTask): Promise<Measure> {
  const session = smpp.connect({ port, host: '127.0.0.1' });
  session.on('error', () => session.destroy());
  await once(session, 'connect');
  await new Promise((resolve) => session.bind_transceiver({ system_id: 'bench', password: 'bench' }, resolve));
  const values = {
    source_addr_ton: 1,
    source_addr_npi: 1,
    source_addr: '14155550100',
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: '14155552671',
    registered_delivery: 1,
    data_coding: 0,
  };
  const short_message = Buffer.from(TEXT);
  const measure = await keepUnderWay(window, seconds, (onAnswer) => {
    session.submit_sm({ ...values, short_message }, ({ command_status }) => onAnswer(command_status === 0));
  });
  session.destroy();
  return measure;
}

/** Plain sockets: the upper bound of the machine and the carrier. */
async function plain({ port, window, seconds }: ClientTask): Promise<Measure> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const end = new PlainEnd(socket);
  let sequence = 1;
  const measure = await keepUnderWay(window, seconds, (onAnswer) => {
    sequence += 1;
    end.request(sequence, frame(COMMAND.submit, sequence, TEXT), onAnswer);
  });
  socket.destroy();
  return measure;
}

const CLIENTS = { ours, npm, plain };

process.once('message', (task: ClientTask) => {
  void CLIENTS[task.stack](task).then((measure) => process.send?.(measure, () => process.disconnect()));
});
